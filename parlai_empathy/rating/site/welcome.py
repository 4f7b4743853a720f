"""The pages before the first item: marketplace links, consent and instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai_empathy.rating.site.entry import enter, new_rater, rater_of, read_link
from parlai_empathy.rating.site.parts import Parts
from parlai_empathy.rating.web.threads import in_thread
from parlai_empathy.rating.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

AGREED = "agreed"
"""Session key, set when the rater has seen the first page and agreed to what it says."""


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
        desk, session = self._parts.desk, visit.session
        entry = read_link(visit.query, self._id_parameter)
        if entry is not None:
            if entry.is_preview:
                return visit.page("preview.html", **self._parts.texts)
            if rater_of(session) != entry.rater:
                session.forget(AGREED)
            await enter(desk, session, entry)
            return visit.redirect("/")  # removes the link's parameters from the address bar
        rater = rater_of(session)
        if rater and session.get(AGREED):
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
        visit.session.put(AGREED, "yes")
        return visit.redirect("/instructions")

    async def instructions(self, visit: Visit) -> Response:
        """Show what to do, with examples."""
        if not visit.session.get(AGREED):
            return visit.redirect("/")
        return visit.page("instructions.html", **self._parts.texts)
