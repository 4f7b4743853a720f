"""What a rater from a crowd gets at the end, to be paid: a code, a link or a form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from parlai_empathy.rating.crowd.entry import MTURK, PROLIFIC
from parlai_empathy.rating.study.study import Study

PROLIFIC_COMPLETE = "https://app.prolific.com/submissions/complete?cc="
"""The address that completes a submission on Prolific; the study's code is appended."""


@dataclass(frozen=True)
class Completion:
    """What the last page shows to a rater from a crowd.

    :param code: to be copied into the marketplace's page; empty if there is none.
    :param link: to be followed; empty if there is none.
    :param form: the address to which a form with ``fields`` is posted; empty if there is none.
    :param fields: hidden fields of that form.
    """

    code: str = ""
    link: str = ""
    form: str = ""
    fields: dict[str, str] = field(default_factory=dict)


def completion(details: Mapping[str, str], study: Study, done: int = 0) -> Completion:
    """What to show after the last item.

    Workers of Mechanical Turk get a form with the assignment's id and one more field, which Mechanical Turk requires.
    Raters from Prolific get the study's code and a link that contains it, all others only the code.

    :param details: the rater's details in the store: ``Entry.details``, and ``submit_to``.
    :param done: the number of items judged.
    """
    crowd, target = details.get("crowd"), details.get("submit_to", "")
    if crowd == MTURK and target:
        return Completion(form=target, fields={"assignmentId": details.get("ticket", ""), "items": str(done)})
    code = study.completion_code
    return Completion(code, PROLIFIC_COMPLETE + quote(code, safe="") if crowd == PROLIFIC and code else "")
