"""What a rater from a crowd is given at the end, so that the crowd pays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from parlai_empathy.rating.crowd.entry import MTURK, PROLIFIC
from parlai_empathy.rating.study import Study

PROLIFIC_COMPLETE = "https://app.prolific.com/submissions/complete?cc="
"""Where a rater of Prolific goes on, before the study's code."""


@dataclass(frozen=True)
class Completion:
    """The end of a crowd's piece of work.

    :param code: to be copied into the marketplace's page; empty if there is none.
    :param link: to be followed; empty if there is none.
    :param form: where a form is to be posted, with ``fields``; empty if there is none.
    :param fields: hidden fields of that form.
    """

    code: str = ""
    link: str = ""
    form: str = ""
    fields: dict[str, str] = field(default_factory=dict)


def completion(details: Mapping[str, str], study: Study, done: int = 0) -> Completion:
    """What to show behind the last item.

    Mechanical Turk gets a form with the assignment's id and, as it wants, one field more; Prolific's raters get the
    study's code and a link that has it; all others the code.

    :param details: what the desk has noted of the rater: ``Entry.details``, and ``submit_to``.
    :param done: how many items were judged.
    """
    crowd, target = details.get("crowd"), details.get("submit_to", "")
    if crowd == MTURK and target:
        return Completion(form=target, fields={"assignmentId": details.get("ticket", ""), "items": str(done)})
    code = study.completion_code
    return Completion(code, PROLIFIC_COMPLETE + quote(code, safe="") if crowd == PROLIFIC and code else "")
