"""The pages of the chat: the welcome, the conversation and its messages, marks, and the end."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import parlai.utils.logging as logging

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.chat.replies import Replies, Reply
from parlai_empathy.rating.chat.settings import ChatSettings
from parlai_empathy.rating.chat.talk import Talk, records_of, talk_of
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.earlier_answers import given
from parlai_empathy.rating.desk.outcomes import Assignment, Nothing, Outcome
from parlai_empathy.rating.site.entry import arrive, farewell, new_rater, rater_of
from parlai_empathy.rating.site.fields import fields_of, sent, sent_partially
from parlai_empathy.rating.site.parts import Parts
from parlai_empathy.rating.study.study import RATER
from parlai_empathy.rating.talking.distress import speaks_of_self_harm
from parlai_empathy.rating.talking.messages import DISTRESS, problem_of
from parlai_empathy.rating.web.error_pages import Refusal, too_many
from parlai_empathy.rating.web.events import REST, event
from parlai_empathy.rating.web.limits import Gate
from parlai_empathy.rating.web.threads import in_thread
from parlai_empathy.rating.web.visit import Visit
from parlai_empathy.rating.wording import counted

if TYPE_CHECKING:
    from starlette.responses import Response

_EVENTS = "text/event-stream"
_WAIT = "Wait for the answer first."
_NOTHING = {
    Nothing.EXCLUDED: ("excluded.html", 403),
    Nothing.DONE: ("end.html", 200),
    Nothing.LATER: ("later.html", 200),
    Nothing.COMPLETE: ("full.html", 200),
}


class ChatPages:
    """The pages of the chat.

    :param desk: of a study of kind ``chat``.
    :param replies: starts the models' replies.
    """

    def __init__(self, desk: Desk, replies: Replies, settings: ChatSettings) -> None:
        self._desk = desk
        self._replies = replies
        self._settings = settings
        self._parts = Parts(desk)
        self._gate = Gate(settings.messages)

    # --- before and after --------------------------------------------------------------------------------------------

    async def begin(self, visit: Visit) -> Response:
        """Read a marketplace's link, or show the conversation, or the welcome page to whoever has not consented yet."""
        arrived = await arrive(visit, self._parts, self._settings.id_parameter)
        if arrived is not None:
            return arrived
        found = await self._found(visit)
        if not isinstance(found, Assignment):
            return await self._without_talk(visit, found)
        return self._talk_page(visit, await self._resumed(found))

    async def consent(self, visit: Visit) -> Response:
        """Record a visitor's consent."""
        form = await visit.form()
        if self._desk.study.consent and form.text("agree") != "yes":
            return visit.page("chat_welcome.html", status=422, problem=True, **self._parts.texts)
        await in_thread(self._desk.enrol, new_rater(visit.session), consented=True)
        return visit.redirect("/")

    async def new(self, visit: Visit) -> Response:
        """End the conversation, once it is long enough and has all required marks: at once, or after the study's
        questions.

        If a reply failed before it was long enough, it is given back without a rating: the model may never reply, and
        the visitor should talk with another one.
        """
        form = await visit.form()
        found = await self._own_or_none(visit, form.id("talk"))
        if found is None:  # it has ended: a second click, or another tab
            return visit.redirect("/")
        talk = await self._resumed(found)
        if not talk.turns and not self._must_judge:
            return visit.redirect("/")
        if not talk.is_long_enough and talk.has_failed:
            await in_thread(self._desk.give_back, found.id, found.rater)
            return visit.redirect("/")
        if not self._may_end(talk):
            return self._not_yet(visit, talk)
        if self._must_judge:
            return visit.redirect("/judge")
        await in_thread(self._desk.answer, found.id, found.rater, {})
        return visit.redirect("/")

    def _may_end(self, talk: Talk) -> bool:
        """Whether a conversation can be judged; or if there is nothing to judge, left, even during a reply."""
        return (talk.can_end if self._must_judge else talk.is_long_enough) and talk.unmarked is None

    async def judge(self, visit: Visit) -> Response:
        """Show the questions about the conversation as a whole."""
        found = await self._found(visit)
        if not isinstance(found, Assignment):
            return visit.redirect("/")
        talk = await self._talk(found)
        return self._judge_page(visit, talk, {}) if self._may_end(talk) else visit.redirect("/")

    async def judged(self, visit: Visit) -> Response:
        """Store the answers to these questions and begin a new conversation."""
        form = await visit.form()
        found = await self._own_or_none(visit, form.id("talk"))
        said = sent(self._desk.study.page_questions, form)
        if found is None:
            if not await in_thread(self._was_judged, form.id("talk"), rater_of(visit.session) or "", said):
                raise _gone()
            return visit.redirect("/")
        talk = await self._talk(found)
        if not self._may_end(talk):
            return visit.redirect("/")
        if any(field.problem for field in fields_of(self._desk.study.page_questions, ("", ""), said, check=True)):
            return self._judge_page(visit, talk, said, check=True)
        await in_thread(self._desk.answer, found.id, found.rater, said)
        return visit.redirect("/")

    # --- talking -----------------------------------------------------------------------------------------------------

    async def say(self, visit: Visit) -> Response:
        """Store a message. The model starts to reply at once, even if nobody waits for the reply."""
        form = await visit.form()
        found = await self._own(visit, form.id("talk"))
        text = form.text("text").strip()
        if problem := problem_of(text, self._settings.longest):
            return self._talk_page(visit, await self._talk(found), problem, text, status=422)
        if wait := self._gate.wait(visit.session.id):
            raise too_many(wait)
        if not await in_thread(self._store, found, form.number("turn"), text):
            talk = await self._talk(found)
            return self._talk_page(visit, talk, _not_next(talk), text, status=409)
        reply = self._replies.start(found)
        if _EVENTS in visit.request.headers.get("accept", ""):
            return self._stream(visit, found, reply)
        return visit.redirect("/#end")

    async def events(self, visit: Visit) -> Response:
        """Stream the reply to the last message; start it if it is not in progress."""
        found = await self._found(visit)
        if not isinstance(found, Assignment):
            return visit.redirect("/")
        talk = await self._talk(found)
        return self._stream(visit, found, self._replies.start(found) if talk.is_waiting else None)

    async def retry(self, visit: Visit) -> Response:
        """Retry a failed reply. (This is for pages without JavaScript; scripts request the events instead.)"""
        form = await visit.form()
        found = await self._own(visit, form.id("talk"))
        talk = await self._talk(found)
        if talk.is_waiting:
            self._replies.start(found)
        return visit.redirect("/#end")

    async def mark(self, visit: Visit) -> Response:
        """Store the visitor's marks of one of the model's turns."""
        form = await visit.form()
        found = await self._own(visit, form.id("talk"))
        said = sent_partially(self._desk.study.turn_questions, form)
        if not any(text.strip() for text in said.values()):
            raise Refusal(422, "There is nothing to store", "Go back and choose or write something.")
        try:
            outcome = await in_thread(self._mark, found, form.number("turn"), said)
        except OptionError as error:
            raise Refusal(422, "This cannot be stored", f"{error}. Go back and change it.") from error
        if not outcome.is_kept:
            raise _gone()
        return visit.redirect(f"/#turn-{form.number('turn')}")

    async def export(self, visit: Visit) -> Response:
        """Return all of the visitor's own conversations as a file."""
        from starlette.responses import Response as Plain

        rater, suffix = rater_of(visit.session), visit.part("suffix")
        if rater is None or suffix not in ("json", "txt"):
            return visit.redirect("/")
        records = await in_thread(records_of, self._desk, rater)
        text = _as_text(records) if suffix == "txt" else json.dumps(records, ensure_ascii=False, indent=1)
        kind = "text/plain" if suffix == "txt" else "application/json"
        headers = {"Content-Disposition": f'attachment; filename="conversation.{suffix}"'}
        return Plain(text, headers=headers, media_type=f"{kind}; charset=utf-8")

    # --- inside ------------------------------------------------------------------------------------------------------

    async def _found(self, visit: Visit) -> Assignment | Nothing:
        """Return the visitor's conversation, or the reason why there is none."""
        rater = rater_of(visit.session)
        if rater is None or (known := await in_thread(self._desk.rater, rater)) is None or known.consented is None:
            return Nothing.CONSENT
        return await in_thread(self._desk.next_item, rater)

    async def _talk(self, found: Assignment) -> Talk:
        is_under_way = self._replies.is_under_way(found.id)  # first: a reply that ends now is one of the turns
        return await in_thread(talk_of, self._desk, found, is_under_way)

    async def _resumed(self, found: Assignment) -> Talk:
        """Return a conversation, after starting the reply to its last message if the server stopped before it."""
        talk = await self._talk(found)
        if talk.has_failed and not self._replies.has_failed(found.id):
            self._replies.start(found)
            talk = replace(talk, is_under_way=True)
        return talk

    @property
    def _must_judge(self) -> bool:
        return any(question.required for question in self._desk.study.page_questions)

    async def _own(self, visit: Visit, id: str) -> Assignment:
        """Return the conversation that a form is about, which must be the visitor's current one."""
        found = await self._found(visit)
        if not isinstance(found, Assignment) or found.id != id:
            raise _gone()
        return found

    async def _own_or_none(self, visit: Visit, id: str) -> Assignment | None:
        """The same, but return None if the conversation was the visitor's and has ended."""
        found, rater = await self._found(visit), rater_of(visit.session)
        if isinstance(found, Assignment) and found.id == id:
            return found
        if rater is None or await in_thread(self._desk.assigned, id, rater) is None:
            raise _gone()
        return None

    def _was_judged(self, id: str, rater: str, said: dict[str, str]) -> bool:
        """Whether an ended conversation was judged with exactly these answers, so that its form was sent twice."""
        before = given(self._desk, id, rater)
        answers = {name: text.strip() for name, text in said.items() if text.strip()}
        return before is not None and before.is_done and before.answers == answers

    async def _without_talk(self, visit: Visit, why: Nothing) -> Response:
        if why is Nothing.CONSENT:
            return visit.page("chat_welcome.html", problem=False, **self._parts.texts)
        kind, status = _NOTHING[why]
        goodbye = await farewell(self._desk, rater_of(visit.session) or "", 0)
        return visit.page(
            "chat_end.html", status, kind=kind, study=self._desk.study, goodbye=goodbye, done=True, last=None
        )

    def _store(self, found: Assignment, number: int, text: str) -> bool:
        """Store a message; return whether it is the next one or was already stored."""
        said = self._desk.messages(found.id, found.rater)
        is_next = number == len(said) + 1 and not (said and said[-1].speaker == RATER)
        is_again = 0 < number <= len(said) and said[number - 1].speaker == RATER and said[number - 1].text == text
        if not (is_next or is_again) or number > self._desk.study.most_turns:
            return False
        in_distress = is_next and speaks_of_self_harm(text)
        details = {DISTRESS: True} if in_distress else {}
        outcome = self._desk.say(found.id, found.rater, number, RATER, text, details)
        if in_distress and outcome is Outcome.STORED:
            shown = "the notice is shown" if self._settings.notice else "NO NOTICE is shown: --distress-notice is off"
            logging.warning("conversation %s, turn %s mentions self-harm: %s", found.id[:8], number, shown)
        return outcome.is_kept

    def _mark(self, found: Assignment, number: int, said: dict[str, str]) -> Outcome:
        messages = self._desk.messages(found.id, found.rater)
        if not 1 <= number <= len(messages) or messages[number - 1].speaker == RATER:
            return Outcome.UNKNOWN
        return self._desk.mark(found.id, found.rater, number, said)

    def _talk_page(self, visit: Visit, talk: Talk, problem: str = "", text: str = "", status: int = 200) -> Response:
        return visit.page("chat.html", status, **self._shown(talk), problem=problem, text=text, anew=_anew(visit))

    def _not_yet(self, visit: Visit, talk: Talk) -> Response:
        """Return the conversation's page, with the reason why it cannot end yet."""
        if talk.is_long_enough and talk.unmarked is not None:
            problem = f"Answer {talk.unmarked} has no mark yet. Please say first what you think of it."
        elif talk.is_under_way and self._must_judge:
            problem = _WAIT
        else:
            then = "you can judge it" if self._must_judge else "it can end"
            least = counted(talk.least, "message")
            problem = f"This conversation needs {least}, counting the program's, before {then}. Please continue."
        return self._talk_page(visit, talk, problem, status=422)

    def _shown(self, talk: Talk) -> dict[str, Any]:
        return {
            **self._parts.texts,
            "talk": talk,
            "notice": self._settings.notice,
            "longest": self._settings.longest,
            "must_judge": self._must_judge,
        }

    def _judge_page(self, visit: Visit, talk: Talk, said: dict[str, str], check: bool = False) -> Response:
        fields = fields_of(self._desk.study.page_questions, ("", ""), said, check)
        return visit.page("chat_judge.html", 422 if check else 200, **self._shown(talk), fields=fields)

    def _stream(self, visit: Visit, found: Assignment, reply: Reply | None) -> Response:
        from starlette.responses import StreamingResponse

        headers = {"X-Accel-Buffering": "no"}  # tells proxies not to buffer events
        return StreamingResponse(self._events(visit, found, reply), headers=headers, media_type=_EVENTS)

    async def _events(self, visit: Visit, found: Assignment, reply: Reply | None) -> AsyncIterator[str]:
        """Yield the events for a page: the turns up to the message, the reply so far, and all turns at the end.

        However fast the model is, the message comes first, with its help lines if it needs them.
        """
        yield event("turns", await self._turns(visit, found, up_to_message=reply is not None))
        if reply is not None:
            said = ""
            async for text in reply.follow():
                yield event("part", text) if text != said else REST
                said = text
            yield event("turns", await self._turns(visit, found))
        yield event("end", bool(reply and reply.has_failed))

    async def _turns(self, visit: Visit, found: Assignment, up_to_message: bool = False) -> str:
        """Return the turns as the HTML that the page shows."""
        talk = await self._talk(found)
        if up_to_message and talk.turns and not talk.turns[-1].is_own:
            talk = replace(talk, turns=talk.turns[:-1])
        return bytes(visit.page("chat_turns.html", **self._shown(talk)).body).decode()


def _anew(visit: Visit) -> str:
    """Return the URL that a page without scripts reloads to see whether there is a reply.

    It differs from the page's current URL: redirected to ``#end`` of the same URL, a browser would only scroll.
    """
    return "/#end" if "again" in visit.query else "/?again#end"


def _not_next(talk: Talk) -> str:
    """Return why a message was not accepted as the next one."""
    if talk.is_under_way:
        return _WAIT
    if talk.has_failed:
        return "Your last message has no answer yet. Choose “Ask again” first."
    return "This conversation has continued meanwhile, perhaps in another tab. Read it, then write again."


def _gone() -> Refusal:
    return Refusal(
        409,
        "This conversation has ended",
        "Perhaps you have begun another one in another tab, or the study has changed meanwhile. What was said is kept. "
        "Go to the beginning.",
    )


def _as_text(records: list[dict[str, Any]]) -> str:
    talks = ["\n".join(f"{turn['speaker']}: {turn['text']}" for turn in record["turns"]) for record in records]
    return "\n\n---\n\n".join(talks) + "\n"
