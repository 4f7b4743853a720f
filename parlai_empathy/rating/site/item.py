"""The pages of items: the next one, showing it, storing its answers, and the end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.earlier_answers import Given, given
from parlai_empathy.rating.desk.outcomes import Assignment, Nothing, Outcome
from parlai_empathy.rating.site.entry import farewell, rater_of
from parlai_empathy.rating.site.fields import fields_of, sent
from parlai_empathy.rating.site.parts import Parts
from parlai_empathy.rating.site.template_values import item_shown, sides_of
from parlai_empathy.rating.study.questions import problems
from parlai_empathy.rating.web.error_pages import KEPT, Refusal, not_found
from parlai_empathy.rating.web.form import Form
from parlai_empathy.rating.web.threads import in_thread
from parlai_empathy.rating.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_NOTHING = {
    Nothing.EXCLUDED: ("excluded.html", 403),
    Nothing.LATER: ("later.html", 200),
    Nothing.COMPLETE: ("full.html", 200),
}
_SHOWN = "shown"


class ItemPages:
    """``/rate`` and ``/item/{id}``.

    :param parts: what all pages for raters share.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._desk = parts.desk

    async def next(self, visit: Visit) -> Response:
        """Redirect the rater to the next item, or show why there is none."""
        rater = rater_of(visit.session)
        if rater is None:
            return visit.redirect("/")
        return await self._next(visit, rater, await in_thread(self._desk.next_item, rater))

    async def show(self, visit: Visit) -> Response:
        """Show an item, with its answers if it has any."""
        rater = rater_of(visit.session)
        if rater is None:
            return visit.redirect("/")
        id = visit.part("id")
        item = await self._item(id, rater)
        if not (item.is_open or item.is_done):
            found = await in_thread(self._desk.next_item, rater)
            if found is Nothing.EXCLUDED:
                return await self._next(visit, rater, found)
            if not isinstance(found, Assignment) or found.id != id:
                raise _gone()
            item = await self._item(id, rater)  # it had timed out, and is now assigned to them again
        return self._page(visit, item, item.answers, revises=item.is_done)

    async def take(self, visit: Visit) -> Response:
        """Store the answers to an item and continue with the next one."""
        form = await visit.form()
        rater = rater_of(visit.session)
        if rater is None:
            return visit.redirect("/")
        id, study = visit.part("id"), self._desk.study
        said, revises = sent(study.page_questions, form), form.text("revise") == "yes"
        if problems(study.page_questions, said):
            item = await self._item(id, rater)
            return self._page(visit, item, said, revises, check=True, shown=form.text(_SHOWN), status=422)
        seconds = self._seconds(visit, form, id)
        outcome, found = await in_thread(_submit, self._desk, id, rater, said, seconds, revises)
        if outcome is Outcome.ALREADY:
            item = await self._item(id, rater)
            return self._page(visit, item, said, revises=True, notice="already", status=409)
        if outcome is Outcome.TOO_LATE:
            raise _gone()
        if found is None:
            raise await self._missing(id, rater)
        return await self._next(visit, rater, found)

    async def _item(self, id: str, rater: str) -> Given:
        item = await in_thread(given, self._desk, id, rater)
        if item is None:
            raise await self._missing(id, rater)
        return item

    async def _missing(self, id: str, rater: str) -> Refusal:
        """Return why there is no such item: it is of another version of the study, or not this rater's."""
        return not_found() if await in_thread(self._desk.assigned, id, rater) is None else _gone()

    async def _next(self, visit: Visit, rater: str, found: Assignment | Nothing) -> Response:
        if isinstance(found, Assignment):
            return visit.redirect(f"/item/{found.id}")
        if found is Nothing.CONSENT:
            return visit.redirect("/")
        if visit.request.method == "POST":
            return visit.redirect("/rate")
        answered = await in_thread(self._desk.answered, rater)
        last = answered[-1].id if answered else None  # answers to an earlier version cannot be looked at, but count
        done = (await in_thread(self._desk.progress, rater)).done
        if found is Nothing.DONE:
            goodbye = await farewell(self._desk, rater, done)
            return visit.page("end.html", last=last, goodbye=goodbye, study=self._desk.study)
        template, status = _NOTHING[found]
        return visit.page(template, status, last=last, done=done)

    def _page(
        self,
        visit: Visit,
        item: Given,
        said: dict[str, str],
        revises: bool,
        check: bool = False,
        notice: str = "",
        shown: str = "",
        status: int = 200,
    ) -> Response:
        """Return the page of an item.

        :param said: the answers in its form.
        :param revises: whether they replace earlier answers.
        :param check: whether to report what is wrong with them.
        :param shown: the form's token with the time when it was first shown; empty for now.
        """
        study = self._desk.study
        return visit.page(
            "item.html",
            status,
            **self._parts.texts,
            number=item.found.number,
            progress=item.progress,
            shown=item_shown(study, item.found),
            fields=fields_of(study.page_questions, sides_of(study), said, check),
            id=item.found.id,
            given=item,
            revises=revises,
            notice=notice,
            since=shown or visit.site.signer.token(_SHOWN, f"{item.found.id} {time.time():.3f}"),
        )

    def _seconds(self, visit: Visit, form: Form, id: str) -> float | None:
        """Return the seconds since the page was shown to the rater; None if the form has no valid token for it."""
        text = visit.site.signer.read(_SHOWN, form.text(_SHOWN)) or ""
        shown_id, _, since = text.partition(" ")
        return max(0.0, time.time() - float(since)) if shown_id == id else None


def _gone() -> Refusal:
    return Refusal(
        409,
        "This one is no longer open",
        "It took so long that somebody else was asked, or the study has changed meanwhile. Answers to it are no longer "
        f"needed. {KEPT} Go to the beginning to continue.",
    )


def _submit(
    desk: Desk, id: str, rater: str, said: dict[str, str], seconds: float | None, revises: bool
) -> tuple[Outcome, Assignment | Nothing | None]:
    """Store answers; return the outcome and, if the answers were kept, the next item.

    A form that is sent twice needs no special care, since the desk stores the same answers once. The time that a
    revision took is added to the item's earlier time.
    """
    if revises:
        before = given(desk, id, rater)
        if before is None:
            return Outcome.UNKNOWN, None
        seconds = None if seconds is None else seconds + (before.seconds or 0.0)
    return desk.answer_and_next(id, rater, said, seconds, revise=revises)
