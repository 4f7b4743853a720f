"""How raters enter and leave the site: its interface to crowdsourcing marketplaces.

:mod:`parlai_empathy.rating.crowd` reads marketplaces' links and determines what a rater gets at the end. This module
decides who the visitor is: the rater named by the browser's session, the one named by a link, or a new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.completion import Completion, completion
from parlai_empathy.rating.crowd.entry import Entry, entry_of, may_enter
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.site.parts import Parts
from parlai_empathy.rating.web.error_pages import Refusal
from parlai_empathy.rating.web.session import Session
from parlai_empathy.rating.web.threads import in_thread
from parlai_empathy.rating.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_RATER = "rater"


def rater_of(session: Session) -> str | None:
    """Return the rater that a session names; None if it does not name one yet."""
    return session.get(_RATER)


def new_rater(session: Session) -> str:
    """Return the rater that a session names, after naming a new one if there is none.

    A new name is derived from the session's random id, so that somebody who sends the first form twice is one rater.
    """
    rater = rater_of(session) or f"web-{hashlib.sha256(session.id.encode()).hexdigest()[:16]}"
    session.put(_RATER, rater)
    return rater


async def arrive(visit: Visit, parts: Parts, id_parameter: str | None) -> Response | None:
    """Let in a visitor who comes by a marketplace's link; return None for all others.

    :param id_parameter: the query parameter that names raters in links of other marketplaces.
    :raises Refusal: if the link's parameters are invalid, or the visitor is not the rater that it names.
    """
    entry = _read_link(visit.query, id_parameter)
    if entry is None:
        return None
    if entry.is_preview:
        return visit.page("preview.html", **parts.texts)
    await _enter(parts.desk, visit.session, entry)
    return visit.redirect("/")  # removes the link's parameters from the address bar


def _read_link(query: Mapping[str, str], id_parameter: str | None) -> Entry | None:
    try:
        return entry_of(query, id_parameter)
    except OptionError as error:
        # From the beginning they would go on as somebody else, whom the marketplace does not know.
        raise Refusal(
            400, "This link does not work", f"{str(error)[:1].upper()}{str(error)[1:]}.", starts_over=False
        ) from error


async def _enter(desk: Desk, session: Session, entry: Entry) -> None:
    """Make the rater of a marketplace's link the session's rater.

    A name alone proves nothing, since others may know it. If the store already knows the name, the visitor needs the
    ticket that it first came with, or the session of the browser in which it came.

    :raises Refusal: if they have neither.
    """
    known = await in_thread(desk.rater, entry.rater)
    is_same_browser = rater_of(session) == entry.rater
    if known and not is_same_browser and not may_enter(entry, known.details):
        raise Refusal(
            403,
            "Somebody has already begun under this name",
            "If it was you, continue in the browser in which you began, or with the link that you used then. Your "
            "answers are kept there.",
            starts_over=False,
        )
    await in_thread(desk.enrol, entry.rater, details={**entry.details, "submit_to": entry.submit_to})
    session.put(_RATER, entry.rater)


async def farewell(desk: Desk, rater: str, done: int) -> Completion:
    """Return what a rater gets at the end: a code, a link or a form.

    :param done: number of items that they judged.
    """
    known = await in_thread(desk.rater, rater)
    return completion(known.details if known else {}, desk.study, done)
