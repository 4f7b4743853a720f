"""How raters come to the site and how they leave it: the seam at which a crowd's marketplace is joined to it.

What a marketplace's link says, and what a rater gets at the end, is the business of
:mod:`parlai_empathy.rating.crowd`. Here it is decided who the visitor is: the rater whom the browser's session names,
the one whom a link names, or somebody new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.completion import Completion, completion
from parlai_empathy.rating.crowd.entry import Entry, entry_of, may_enter
from parlai_empathy.rating.desk import Desk
from parlai_empathy.rating.web.refusals import Refusal
from parlai_empathy.rating.web.session import Session
from parlai_empathy.rating.web.threads import in_thread

_RATER = "rater"


def rater_of(session: Session) -> str | None:
    """The rater whom a session names; None if it names nobody yet."""
    return session.get(_RATER)


def new_rater(session: Session) -> str:
    """The rater whom a session names; somebody new if it names nobody.

    Their name follows from the session's random id: who sends the first form twice at once is one rater, not two.
    """
    rater = rater_of(session) or f"web-{hashlib.sha256(session.id.encode()).hexdigest()[:16]}"
    session.put(_RATER, rater)
    return rater


def read_link(query: Mapping[str, str], id_parameter: str | None) -> Entry | None:
    """Who comes by a crowd's link; None if it is none.

    :raises Refusal: if it says what no crowd would.
    """
    try:
        return entry_of(query, id_parameter)
    except OptionError as error:
        raise Refusal(400, "This link does not work", f"{str(error)[:1].upper()}{str(error)[1:]}.") from error


async def enter(desk: Desk, session: Session, entry: Entry) -> None:
    """Make the session that of a crowd's rater.

    A name alone proves nothing, for others may know it: who comes with one that is known must have the ticket that it
    came with first, or the cookie of the browser in which it came.

    :raises Refusal: for somebody who has neither.
    """
    known = await in_thread(desk.rater, entry.rater)
    is_same_browser = rater_of(session) == entry.rater
    if known and not is_same_browser and not may_enter(entry, known.details):
        raise Refusal(
            403,
            "Somebody has begun under this name",
            "If it was you, go on in the browser in which you began, or with the link that you came by at first. What "
            "you have answered there is kept.",
        )
    await in_thread(desk.enrol, entry.rater, details={**entry.details, "submit_to": entry.submit_to})
    session.put(_RATER, entry.rater)


async def farewell(desk: Desk, rater: str, done: int) -> Completion:
    """What a rater gets who has finished: a code, a link or a form.

    :param done: how many items were judged.
    """
    known = await in_thread(desk.rater, rater)
    return completion(known.details if known else {}, desk.study, done)
