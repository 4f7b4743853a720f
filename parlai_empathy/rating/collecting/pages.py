"""The participants' pages: one URL that shows their current stage, and the forms that they submit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

import parlai.utils.logging as logging

from parlai_empathy.rating.collecting.lobby import Lobby
from parlai_empathy.rating.collecting.notifications import Bells
from parlai_empathy.rating.collecting.place import Place, Stage
from parlai_empathy.rating.collecting.prompt_form import EMOTION, SITUATION, prompt_fields, prompt_sent
from parlai_empathy.rating.collecting.prompts import Prompt
from parlai_empathy.rating.collecting.settings import CollectSettings
from parlai_empathy.rating.collecting.text_rules import LONGEST
from parlai_empathy.rating.collecting.transcript import talk_shown
from parlai_empathy.rating.collecting.waiting import Listening
from parlai_empathy.rating.crowd.completion import Completion
from parlai_empathy.rating.desk.outcomes import Outcome
from parlai_empathy.rating.site.entry import farewell, rater_of
from parlai_empathy.rating.site.fields import fields_of, sent
from parlai_empathy.rating.site.parts import Parts
from parlai_empathy.rating.talking.distress import speaks_of_self_harm
from parlai_empathy.rating.talking.messages import DISTRESS, problem_of
from parlai_empathy.rating.web.error_pages import too_many
from parlai_empathy.rating.web.limits import Gate
from parlai_empathy.rating.web.threads import in_thread
from parlai_empathy.rating.web.visit import Visit
from parlai_empathy.rating.wording import counted

if TYPE_CHECKING:
    from starlette.responses import Response

_HERE = "/talk"
_TEMPLATES = {
    Stage.READY: "collect_wait.html",
    Stage.WAITING: "collect_wait.html",
    Stage.PAUSE: "collect_pause.html",
    Stage.TALK: "collect_talk.html",
    Stage.BROKEN: "collect_broken.html",
    Stage.DONE: "collect_end.html",
}


class CollectPages:
    """The participants' pages.

    :param lobby: of a study of kind ``collect``.
    """

    def __init__(self, lobby: Lobby, parts: Parts, settings: CollectSettings) -> None:
        self._lobby = lobby
        self._collection = lobby.collection
        self._desk = lobby.collection.desk
        self._parts = parts
        self._settings = settings
        self._bells = Bells()
        self._listening = Listening(lobby, self._bells)
        self._gate = Gate(settings.messages)

    # --- what is shown -----------------------------------------------------------------------------------------------

    async def show(self, visit: Visit) -> Response:
        """Show the visitor's current stage. If they are waiting, this may pair them with somebody."""
        rater = rater_of(visit.session)
        if rater is None:
            return visit.redirect("/")
        return await self._page(visit, rater, await self._listening.look(rater))

    async def events(self, visit: Visit) -> Response:
        """Stream changes to the visitor's page, as long as it waits for something."""
        from starlette.responses import StreamingResponse

        rater = rater_of(visit.session)
        if rater is None:
            return visit.redirect("/")
        if self._listening.has_enough(rater):
            raise too_many(60)
        headers = {"X-Accel-Buffering": "no"}  # tells proxies not to buffer events
        return StreamingResponse(self._told(visit, rater), headers=headers, media_type="text/event-stream")

    def _told(self, visit: Visit, rater: str) -> AsyncIterator[str]:
        return self._listening.events(rater, partial(self._live, visit, rater))

    # --- before a meeting --------------------------------------------------------------------------------------------

    async def prompt(self, visit: Visit) -> Response:
        """Store an emotion and a situation; the visitor then waits for somebody."""
        form = await visit.form()
        rater, place = await self._placed(visit)
        # The form names its prompt, so that a form that is sent twice is not applied to the next prompt.
        offered = await in_thread(self._collection.offered, form.id("prompt"), rater)
        if place.stage is not Stage.PROMPT or offered is None:
            return visit.redirect(_HERE)
        said = prompt_sent(offered, form)
        if any(field.problem for field in prompt_fields(offered, said, check=True)):
            return await self._prompt_page(visit, rater, place, offered, said, check=True)
        outcome = await in_thread(self._collection.choose, offered.id, rater, said[EMOTION], said[SITUATION])
        if outcome is Outcome.STORED and speaks_of_self_harm(said[SITUATION]):
            self._log_distress("a situation")
        return await self._waiting(visit, rater)

    async def wait(self, visit: Visit) -> Response:
        """Let the visitor into the waiting room."""
        await visit.form()
        rater, _ = await self._placed(visit)
        return await self._waiting(visit, rater)

    async def leave(self, visit: Visit) -> Response:
        """Let the visitor leave the waiting room, or the meeting that the form is about."""
        form = await visit.form()
        rater, place = await self._placed(visit)
        if form.text("place") == place.key:
            self._bells.ring(await in_thread(self._lobby.leave, rater))
        return visit.redirect(_HERE)

    async def again(self, visit: Visit) -> Response:
        """Let the visitor continue: in the waiting room if they have a situation left to tell, or with a new prompt."""
        await visit.form()
        rater, _ = await self._placed(visit)
        if not await in_thread(self._lobby.go_on, rater):
            return visit.redirect(_HERE)
        return await self._waiting(visit, rater)

    # --- in a meeting ------------------------------------------------------------------------------------------------

    async def say(self, visit: Visit) -> Response:
        """Store a message."""
        form = await visit.form()
        rater, place = await self._placed(visit)
        text = form.text("text").strip()
        if problem := problem_of(text, LONGEST):
            return await self._page(visit, rater, place, problem, text, status=422)
        if wait := self._gate.wait(visit.session.id):
            raise too_many(wait)
        outcome = Outcome.UNKNOWN
        if place.stage is not Stage.EXCLUDED:
            outcome = await in_thread(self._store, form.id("talk"), rater, form.number("turn"), text)
        if outcome.is_kept:
            self._notify_other(rater, place)
            return visit.redirect(f"{_HERE}#end")
        if place.stage is not Stage.TALK:
            return visit.redirect(_HERE)
        problem = "The conversation has continued meanwhile. Read it, then write again."
        return await self._page(visit, rater, place, problem, text, status=409)

    async def end(self, visit: Visit) -> Response:
        """End the conversation that the form is about, if it is long enough."""
        form = await visit.form()
        rater, place = await self._placed(visit)
        if place.stage is Stage.TALK:
            await in_thread(self._collection.end, form.id("talk"), rater)
            self._notify_other(rater, place)
        return visit.redirect(_HERE)

    async def judge(self, visit: Visit) -> Response:
        """Store the visitor's answers about their partner."""
        form = await visit.form()
        rater, place = await self._placed(visit)
        if place.stage is not Stage.JUDGE or place.talk is None or place.talk.id != form.id("talk"):
            return visit.redirect(_HERE)
        questions = self._desk.study.questions
        said = sent(questions, form)
        if any(field.problem for field in fields_of(questions, ("", ""), said, check=True)):
            return self._judge_page(visit, rater, place, said, check=True)
        await in_thread(self._collection.evaluate, place.talk.id, rater, said)
        self._notify_other(rater, place)
        return visit.redirect(_HERE)

    # --- inside ------------------------------------------------------------------------------------------------------

    async def _placed(self, visit: Visit) -> tuple[str, Place]:
        """Return the visitor's name and place; a visitor without a name is new."""
        rater = rater_of(visit.session)
        return (rater, await in_thread(self._lobby.place, rater)) if rater else ("", Place(Stage.NEW))

    async def _waiting(self, visit: Visit, rater: str) -> Response:
        if rater:
            self._bells.ring(await in_thread(self._lobby.wait, rater))
        return visit.redirect(_HERE)

    def _notify_other(self, rater: str, place: Place) -> None:
        self._bells.ring(place.meeting.other(rater) if place.meeting else None)

    def _store(self, talk: str, rater: str, turn: int, text: str) -> Outcome:
        in_distress = speaks_of_self_harm(text)
        outcome = self._collection.say(talk, rater, turn, text, {DISTRESS: True} if in_distress else {})
        if in_distress and outcome is Outcome.STORED:
            self._log_distress(f"conversation {talk[:8]}, turn {turn}")
        return outcome

    def _log_distress(self, where: str) -> None:
        shown = "the notice is shown" if self._settings.notice else "NO NOTICE is shown: --distress-notice is off"
        logging.warning("%s mentions self-harm: %s", where, shown)

    async def _page(
        self, visit: Visit, rater: str, place: Place, problem: str = "", text: str = "", status: int = 200
    ) -> Response:
        """Return the page for somebody's place.

        :param problem: what is wrong with the message ``text``.
        """
        if place.stage is Stage.NEW:
            return visit.redirect("/")
        if place.stage is Stage.EXCLUDED:
            return visit.page("excluded.html", status=403, done=True)
        if place.stage is Stage.PROMPT:
            offered = await in_thread(self._collection.offer, rater)
            return await self._prompt_page(visit, rater, place, offered, {})
        if place.stage is Stage.JUDGE:
            return self._judge_page(visit, rater, place, {})
        values = self._shown(rater, place)
        if place.stage not in (Stage.TALK, Stage.PAUSE):
            values["goodbye"] = await self._earned(rater, place)
        return visit.page(_TEMPLATES[place.stage], status, **values, problem=problem, text=text)

    async def _earned(self, rater: str, place: Place) -> Completion:
        """Return what somebody gets if they stop here; nothing if they have not earned it."""
        if not place.has_earned:
            return Completion()
        return await farewell(self._desk, rater, place.meeting.whole if place.meeting else 0)

    def _live(self, visit: Visit, rater: str, place: Place) -> str:
        """Return the part of a conversation's page that changes, as HTML; empty for all other pages."""
        if place.stage is not Stage.TALK:
            return ""
        return bytes(visit.page("collect_live.html", **self._shown(rater, place)).body).decode()

    def _shown(self, rater: str, place: Place) -> dict[str, Any]:
        talk = talk_shown(place.meeting, place.talk, rater) if place.meeting and place.talk else None
        return {
            **self._parts.texts,
            "place": place,
            "stage": place.stage.name,
            "talk": talk,
            "notice": self._settings.notice,
            "in_distress": _in_distress(place),
            "longest": LONGEST,
            "patience": counted(self._settings.patience / 60, "minute"),
            "reload": self._settings.reload,
            "last": None,  # no answers to look at again
        }

    async def _prompt_page(
        self, visit: Visit, rater: str, place: Place, offered: Prompt, said: dict[str, str], check: bool = False
    ) -> Response:
        values = {
            **self._parts.texts,
            "prompt": offered.id,
            "fields": prompt_fields(offered, said, check),
            "goodbye": await self._earned(rater, place),
        }
        return visit.page("collect_prompt.html", 422 if check else 200, **values)

    def _judge_page(
        self, visit: Visit, rater: str, place: Place, said: dict[str, str], check: bool = False
    ) -> Response:
        fields = fields_of(self._desk.study.questions, ("", ""), said, check)
        return visit.page("collect_judge.html", 422 if check else 200, **self._shown(rater, place), fields=fields)


def _in_distress(place: Place) -> bool:
    """Whether a page needs a notice beside those below its messages: somebody may meet a partner as soon as they have
    described a situation, and a conversation may end with the message that mentions self-harm.
    """
    ended = [talk for talk in place.meeting.talks if talk is not place.talk] if place.meeting else []
    last = ended[-1].messages[-1:] if ended else ()
    is_own = place.prompt is not None and speaks_of_self_harm(place.prompt.situation)
    return is_own or any(bool(said.details.get(DISTRESS)) for said in last)
