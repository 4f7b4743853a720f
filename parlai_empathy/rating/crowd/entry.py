"""What a crowd's link says: who comes, from where, and for which piece of work."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.framing import submit_url

MTURK, PROLIFIC, LINK = "mturk", "prolific", "link"
NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""The assignment's id while a worker of Mechanical Turk only looks at what is to be done."""

_ID = re.compile(r"[A-Za-z0-9_.@~-]{1,80}")
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
_TAKEN = frozenset({"assignmentId", "hitId", "workerId", "turkSubmitTo", "PROLIFIC_PID", "STUDY_ID", "SESSION_ID"})


@dataclass(frozen=True)
class Entry:
    """Somebody who comes by a crowd's link.

    :param crowd: :data:`MTURK`, :data:`PROLIFIC` or :data:`LINK`.
    :param rater: the name for the desk, the crowd's before it; empty of somebody who only looks.
    :param ticket: what the crowd gave for this piece of work, and nobody else knows: Mechanical Turk's assignment,
        Prolific's session; empty of other links.
    :param submit_to: where the last form goes; empty unless it is Mechanical Turk's.
    :param details: for ``desk.enrol``, so that whoever pays knows whom and for what.
    """

    crowd: str
    rater: str
    ticket: str = ""
    submit_to: str = ""
    details: dict[str, str] = field(default_factory=dict)

    @property
    def is_preview(self) -> bool:
        """Whether this person has accepted nothing yet: instructions alone are to be shown, and nothing is kept."""
        return not self.rater


def entry_of(query: Mapping[str, str], id_parameter: str | None = None) -> Entry | None:
    """Read the parameters of a link.

    :param query: the parameters, one of each name.
    :param id_parameter: the name of the one that names the rater in links of other marketplaces.
    :returns: None if it is no crowd's link.
    :raises OptionError: if it is one, and says what no such crowd would.
    """
    if "assignmentId" in query:
        return _of_mturk(query)
    if "PROLIFIC_PID" in query:
        return _of_prolific(query)
    if id_parameter and id_parameter in query:
        worker = _id(query, id_parameter)
        return Entry(LINK, f"{LINK}:{worker}", details={"crowd": LINK, "worker": worker})
    return None


def check_id_parameter(name: str) -> str:
    """The name of a parameter that names raters.

    :raises OptionError: if it cannot be one, or another crowd has it.
    """
    if not _PARAMETER.fullmatch(name) or name in _TAKEN:
        raise OptionError(f"--id-parameter {name}: expected a letter, then letters, digits, _, . or -: no crowd's own")
    return name


def may_enter(entry: Entry, known: Mapping[str, str] | None) -> bool:
    """Whether a link's bearer is the one who came under this name the first time.

    A worker's id is no secret: other workers and requesters see it. What was given for this piece of work is known to
    the worker alone, so that whoever brings another one is not let in. (Links of other marketplaces have none.)

    :param known: the ``details`` of the rater of that name; None if nobody of that name has come.
    """
    return not known or known.get("ticket", entry.ticket) == entry.ticket


def _of_mturk(query: Mapping[str, str]) -> Entry:
    assignment = _id(query, "assignmentId")
    if assignment == NOT_ACCEPTED:
        return Entry(MTURK, "")
    worker = _id(query, "workerId")
    target = submit_url(query.get("turkSubmitTo", ""))
    if target is None:
        raise OptionError("turkSubmitTo of this link is not Mechanical Turk: open the task from its own page")
    details = {"crowd": MTURK, "worker": worker, "ticket": assignment}
    if "hitId" in query:
        details["hit"] = _id(query, "hitId")
    return Entry(MTURK, f"{MTURK}:{worker}", assignment, target, details)


def _of_prolific(query: Mapping[str, str]) -> Entry:
    worker, session = _id(query, "PROLIFIC_PID"), _id(query, "SESSION_ID")
    details = {"crowd": PROLIFIC, "worker": worker, "ticket": session}
    if "STUDY_ID" in query:
        details["study"] = _id(query, "STUDY_ID")
    return Entry(PROLIFIC, f"{PROLIFIC}:{worker}", session, details=details)


def _id(query: Mapping[str, str], name: str) -> str:
    value = query.get(name, "").strip()
    if not _ID.fullmatch(value):
        # The message names no value: it may be somebody's id. A marker that was never filled in ends here too.
        raise OptionError(f"{name} of this link is missing or no id: open the task from the page of its marketplace")
    return value
