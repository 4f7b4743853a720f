"""The pages before the first item: marketplace links, consent and instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai_empathy.rating.site.entry import arrive, new_rater, rater_of
from parlai_empathy.rating.site.parts import Parts
from parlai_empathy.rating.web.session import Session
from parlai_empathy.rating.web.threads import in_thread
from parlai_empathy.rating.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

AGREED = "agreed"
"""Session key: the rater who has seen the first page and agreed to what it says."""


class WelcomePages:
    """``/`` and ``/instructions``.

    :param parts: what all pages for raters share.
    :param id_parameter: the query parameter that names raters in links of other marketplaces.
    """

    def __init__(self, parts: Parts, id_parameter: str | None = None) -> None:
        self._parts = parts
        self._id_parameter = id_parameter

    async def begin(self, visit: Visit) -> Response:
        """Read a marketplace's link, or show the consent form. Raters who have agreed continue where they were."""
        arrived = await arrive(visit, self._parts, self._id_parameter)
        if arrived is not None:
            return arrived
        desk, rater = self._parts.desk, _agreed(visit.session)
        if rater:
            known = await in_thread(desk.rater, rater)
            if known and (known.consented or not desk.study.consent):
                return visit.redirect("/rate")
        return visit.page("consent.html", problem=False, **self._parts.texts)

    async def consent(self, visit: Visit) -> Response:
        """Record a rater's consent."""
        form = await visit.form()
        if self._parts.desk.study.consent and form.text("agree") != "yes":
            return visit.page("consent.html", status=422, problem=True, **self._parts.texts)
        rater = new_rater(visit.session)
        await in_thread(self._parts.desk.enrol, rater, consented=True)
        visit.session.put(AGREED, rater)
        return visit.redirect("/instructions")

    async def instructions(self, visit: Visit) -> Response:
        """Show what to do, with examples."""
        if not _agreed(visit.session):
            return visit.redirect("/")
        return visit.page("instructions.html", **self._parts.texts)


def _agreed(session: Session) -> str | None:
    """Return the session's rater if they have agreed; a link may have named another one since."""
    rater = rater_of(session)
    return rater if rater and session.get(AGREED) == rater else None
