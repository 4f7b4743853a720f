"""Talking with a model and rating it: each of its turns, if the study asks for that, and the whole conversation."""

from __future__ import annotations

from typing import Any

from parlai.core.message import Message

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk.earlier_answers import is_marked
from parlai_empathy.rating.desk.messages import storable_reply
from parlai_empathy.rating.desk.outcomes import Assignment
from parlai_empathy.rating.study.study import RATER
from parlai_empathy.rating.wording import counted
from parlai_empathy.rating.worlds.interview import Interview
from parlai_empathy.rating.worlds.rating_world import RatingWorld
from parlai_empathy.rating.worlds.talking import Command, ask, show

DONE = "done"
LISTENER = "Listener"
"""The name under which models are shown: raters must not know which one they talk with."""


class ChatThenRateWorld(RatingWorld):
    """A rater talks with one model after another and rates each. An interrupted conversation is resumed.

    The agents after the rater are the study's models, in the study's order.
    """

    KIND = "chat"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [model.name for model in self.desk.study.models]
        if len(self.agents) != 1 + len(names):
            raise OptionError(f"{self.desk.study.where}: models are {', '.join(names)}: expected an agent for each")
        self._models = dict(zip(names, self.agents[1:], strict=True))
        self._turn = 0  # number of turns so far
        self._marks: Interview | None = None

    def _open(self, found: Assignment) -> None:
        study, model = self.desk.study, self._models[found.item.system]
        model.reset()
        self._interview = self._marks = None
        said = self.desk.messages(found.id, self.name)
        # If the last message was never answered, it is answered below.
        for asked, answered in zip(said[::2], said[1::2], strict=False):
            model.observe(_message(RATER, asked.text))
            model.self_observe(_message(LISTENER, answered.text))  # as if it had just given this answer
        self._turn = len(said)
        show(
            self.rater,
            f"Conversation {found.number} of {self.desk.progress(self.name).of}: {study.least_turns} to "
            f"{counted(study.most_turns, 'turn')}, yours and the Listener's. Type `{DONE}` when you want to end it.",
        )
        for one in said:
            show(self.rater, one.text, "You" if one.speaker == RATER else LISTENER)
        if self._turn % 2:
            self._answer(found, said[-1].text)
        elif said and not is_marked(self.desk, found.id, self._turn):
            self._ask_for_marks()

    def _go_on(self, found: Assignment) -> None:
        if self._interview is not None:
            super()._go_on(found)
        elif self._marks is not None:
            self._mark(found, self._marks)
        elif self._turn >= self.desk.study.most_turns:
            self._judge(found)
        else:
            self._talk(found)

    def _talk(self, found: Assignment) -> None:
        least = self.desk.study.least_turns
        said = ask(self.rater, "")
        if said is Command.QUIT:
            self._quit()
        elif said is Command.BACK:
            show(self.rater, "A message cannot be taken back.")
        elif said.casefold() == DONE:
            if self._turn >= least:
                self._judge(found)
            else:
                show(self.rater, f"Please continue: {counted(self._turn, 'turn')} so far, of at least {least}.")
        elif said:
            try:
                is_kept = self._say(found, RATER, said)
            except OptionError as error:
                show(self.rater, f"Please write it again: {error}.")
                return
            if is_kept:
                self._answer(found, said)

    def _say(self, found: Assignment, speaker: str, text: str) -> bool:
        """Store a message and return whether it was kept. If it was not, the next step asks the desk for an item."""
        outcome = self.desk.say(found.id, self.name, self._turn + 1, speaker, text)
        if outcome.is_kept:
            self._turn += 1
        else:
            show(self.rater, f"The last message was not kept. {outcome.value}")
            self._found = None
        return outcome.is_kept

    def _answer(self, found: Assignment, said: str) -> None:
        """Let the model reply to a message."""
        model = self._models[found.item.system]
        model.observe(_message(RATER, said))
        reply = storable_reply(str(model.act().get("text") or ""))
        if not self._say(found, found.item.system, reply):
            return
        show(self.rater, reply or "(says nothing)", LISTENER)
        self._ask_for_marks()

    def _ask_for_marks(self) -> None:
        if self.desk.study.turn_questions:
            self._marks = Interview(self.desk.study.turn_questions)

    def _mark(self, found: Assignment, marks: Interview) -> None:
        """Ask about the model's last turn."""
        said = ask(self.rater, marks.question)
        if said is Command.QUIT:
            self._quit()
        elif said is Command.BACK:
            marks.back()
        elif wrong := marks.hear(said):
            show(self.rater, f"Please answer again: {wrong}.")
        elif marks.is_done:
            self.desk.mark(found.id, self.name, self._turn, marks.answers)
            self._marks = None

    def _judge(self, found: Assignment) -> None:
        show(self.rater, "Thank you. Now judge this conversation as a whole.")
        self._question(found)

    def _reopen_previous_item(self, left: Assignment) -> None:
        show(self.rater, "This is the first question.")


def _message(speaker: str, text: str) -> Message:
    return Message({"id": speaker, "text": text, "episode_done": False})
