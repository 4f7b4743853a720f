"""Who may see and accept the work, by country, earlier work, and earlier participation.

The ids are those of Mechanical Turk's built-in qualifications, the same for all requesters:
https://docs.aws.amazon.com/AWSMechTurk/latest/AWSMturkAPI/ApiReference_QualificationRequirementDataStructureArticle.html
"""

from __future__ import annotations

from typing import Any

from parlai_empathy.rating.crowd.offer import Offer

COUNTRY = "00000000000000000071"
APPROVAL_RATE = "000000000000000000L0"
APPROVED_HITS = "00000000000000000040"

# Workers who do not qualify do not see the work at all, so that nobody is turned away after reading it.
_GUARDED = "DiscoverPreviewAndAccept"


def requirements(offer: Offer, taken_part: str | None) -> list[dict[str, Any]]:
    """The value of ``QualificationRequirements``.

    :param taken_part: the id of the qualification of workers who have taken part; None to admit them again.
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
