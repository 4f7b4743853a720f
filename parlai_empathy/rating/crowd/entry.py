"""Reading a crowd's link: who comes, from which marketplace, and for which task."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.framing import submit_url

MTURK, PROLIFIC, LINK = "mturk", "prolific", "link"
NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""The assignment id while a worker of Mechanical Turk previews a task."""

_ID = re.compile(r"[A-Za-z0-9_.@~-]{1,80}")
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
_TAKEN = frozenset({"assignmentId", "hitId", "workerId", "turkSubmitTo", "PROLIFIC_PID", "STUDY_ID", "SESSION_ID"})


@dataclass(frozen=True)
class Entry:
    """A visitor who follows a crowd's link.

    :param crowd: :data:`MTURK`, :data:`PROLIFIC` or :data:`LINK`.
    :param rater: the rater's name for the desk, prefixed with the crowd; empty in a preview.
    :param ticket: the crowd's id of this task, which only this worker knows: Mechanical Turk's assignment, Prolific's
        session; empty for other links.
    :param submit_to: the address of the last form; empty except for Mechanical Turk.
    :param details: for ``desk.enrol``: whom to pay, and for what.
    """

    crowd: str
    rater: str
    ticket: str = ""
    submit_to: str = ""
    details: dict[str, str] = field(default_factory=dict)

    @property
    def is_preview(self) -> bool:
        """Whether the task is not yet accepted: show only the instructions, and store nothing."""
        return not self.rater


def entry_of(query: Mapping[str, str], id_parameter: str | None = None) -> Entry | None:
    """Read the parameters of a link.

    :param query: the parameters, each name once.
    :param id_parameter: the parameter with the rater's id in links of other marketplaces.
    :returns: None if it is not a crowd's link.
    :raises OptionError: if it is a crowd's link with missing or invalid parameters.
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
    """Return the name of a parameter for raters' ids, if it is valid.

    :raises OptionError: if it is not, or a crowd uses it already.
    """
    if not _PARAMETER.fullmatch(name) or name in _TAKEN:
        raise OptionError(
            f"--id-parameter {name}: expected a letter, then letters, digits, _, . or -; crowds' own names are reserved"
        )
    return name


def may_enter(entry: Entry, known: Mapping[str, str] | None) -> bool:
    """Whether a visitor is the person who first came under this rater's name.

    A worker's id is not secret: other workers and requesters see it. But only the worker knows the ticket, so a visitor
    with a different one is refused. (Links of other marketplaces have no ticket.)

    :param known: the ``details`` of the rater of that name; None if the rater is new.
    """
    return not known or known.get("ticket", entry.ticket) == entry.ticket


def _of_mturk(query: Mapping[str, str]) -> Entry:
    assignment = _id(query, "assignmentId")
    if assignment == NOT_ACCEPTED:
        return Entry(MTURK, "")
    worker = _id(query, "workerId")
    target = submit_url(query.get("turkSubmitTo", ""))
    if target is None:
        raise OptionError("turkSubmitTo of this link is not an address of Mechanical Turk: open the task on its site")
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
        # The message does not quote the value, which may be a person's id. Unfilled markers end up here too.
        raise OptionError(f"{name} of this link is missing or invalid: open the task on the website of its marketplace")
    return value
