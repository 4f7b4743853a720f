"""Who may see and take the work: what Mechanical Turk knows of its workers, and who has taken part before.

The ids are Mechanical Turk's own, the same for everybody:
https://docs.aws.amazon.com/AWSMechTurk/latest/AWSMturkAPI/ApiReference_QualificationRequirementDataStructureArticle.html
"""

from __future__ import annotations

from typing import Any

from parlai_empathy.rating.crowd.offer import Offer

COUNTRY = "00000000000000000071"
APPROVAL_RATE = "000000000000000000L0"
APPROVED_HITS = "00000000000000000040"

# Who does not qualify does not even see that there is work: nobody is sent away after having read it.
_GUARDED = "DiscoverPreviewAndAccept"


def requirements(offer: Offer, taken_part: str | None) -> list[dict[str, Any]]:
    """What ``QualificationRequirements`` takes.

    :param taken_part: the id of the qualification that those who have taken part are given; None to let them again.
    """
    wanted: list[dict[str, Any]] = []
    if offer.countries:
        locales = [{"Country": country} for country in offer.countries]
        wanted.append({"QualificationTypeId": COUNTRY, "Comparator": "In", "LocaleValues": locales})
    if offer.approval_rate:
        wanted.append(_number(APPROVAL_RATE, "GreaterThan", offer.approval_rate))
    if offer.approved_hits:
        wanted.append(_number(APPROVED_HITS, "GreaterThanOrEqualTo", offer.approved_hits))
    if taken_part:
        wanted.append({"QualificationTypeId": taken_part, "Comparator": "DoesNotExist"})
    return [{**one, "ActionsGuarded": _GUARDED} for one in wanted]


def _number(qualification: str, comparator: str, value: int) -> dict[str, Any]:
    return {"QualificationTypeId": qualification, "Comparator": comparator, "IntegerValues": [value]}
