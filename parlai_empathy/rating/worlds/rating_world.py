"""What worlds with one rater have in common: consent, the introduction, and one item after another."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from parlai.core.opt import Opt
from parlai.core.worlds import World

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk import raters
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.earlier_answers import given
from parlai_empathy.rating.desk.outcomes import Assignment, Nothing
from parlai_empathy.rating.worlds.interview import Interview
from parlai_empathy.rating.worlds.plain_text import consent, introduction, item_text
from parlai_empathy.rating.worlds.talking import Command, ask, show


class RatingWorld(World):
    """A rater rates one item after another.

    :param opt: holds the rater's name as ``rater``.
    :param agents: the rater first.
    :param desk: assigns items and stores answers.
    :raises OptionError: if the study's kind is not this world's ``KIND``, or the name is empty or too long.
    """

    KIND = ""
    """The kind of study that the world is for."""

    def __init__(self, opt: Opt, agents: Sequence[Any], desk: Desk) -> None:
        super().__init__(Opt({"task": self.KIND, **opt}), list(agents))
        if desk.study.kind != self.KIND:
            raise OptionError(
                f"{desk.study.where}: kind is {desk.study.kind}: {type(self).__name__} is for {self.KIND}"
            )
        self.desk = desk
        self.name = raters.checked(opt["rater"])
        self._is_over = False
        self._has_begun = False
        self._found: Assignment | None = None
        self._interview: Interview | None = None
        self._shown_at = 0.0
        self._spent: dict[str, float] = {}  # seconds spent on each item so far
        self._earlier: int | None = None  # index of the answered item that is being answered again

    @property
    def rater(self) -> Any:
        """The rater's agent."""
        return self.agents[0]

    def epoch_done(self) -> bool:
        """Whether the rater has quit or has nothing more to do."""
        return self._is_over

    def parley(self) -> None:
        """Ask one question and take its answer."""
        self.total_parleys += 1
        if self._is_over:
            return
        if not self._has_begun:
            self._begin()
        elif self._found is None:
            self._take(self.desk.next_item(self.name))
        else:
            self._go_on(self._found)

    def _begin(self) -> None:
        """Ask for consent, then show the introduction. A returning rater is not asked for consent again."""
        known = self.desk.rater(self.name)
        if self.desk.study.consent and (known is None or known.consented is None):
            said = ask(self.rater, consent(self.desk.study))
            if said is Command.QUIT:
                self._quit()
                return
            if said is Command.BACK or said.casefold() not in ("yes", "y"):
                return  # ask again
        self.desk.enrol(self.name, consented=True)
        show(self.rater, introduction(self.desk.study))
        self._has_begun = True

    def _take(self, found: Assignment | Nothing) -> None:
        if isinstance(found, Nothing):
            show(self.rater, self._end(found))
            self._is_over = True
            return
        self._found = found
        self._open(found)

    def _open(self, found: Assignment) -> None:
        """Show an item for the first time."""
        show(self.rater, item_text(self.desk.study, found))
        self._question(found)

    def _question(self, found: Assignment) -> None:
        of = self.desk.progress(self.name).of
        self._interview = Interview(self.desk.study.page_questions, f"[{found.number} of {of}]")
        self._shown_at = time.monotonic()

    def _go_on(self, found: Assignment) -> None:
        """Ask the current question."""
        assert self._interview is not None
        said = ask(self.rater, self._interview.question)
        if said is Command.QUIT:
            self._quit()
        elif said is Command.BACK:
            if not self._interview.back():
                self._reopen_previous_item(found)
        elif wrong := self._interview.hear(said):
            show(self.rater, f"Please answer again: {wrong}.")
        elif self._interview.is_done:
            self._submit(found, self._interview.answers)

    def _submit(self, found: Assignment, answers: dict[str, object]) -> None:
        self._stop_clock(found)
        seconds = self._spent[found.id]
        outcome = self.desk.answer(found.id, self.name, answers, seconds, revise=self._earlier is not None)
        if not outcome.is_kept:
            show(self.rater, f"This answer is not kept. {outcome.value}")
        self._found = self._interview = self._earlier = None

    def _stop_clock(self, found: Assignment) -> None:
        self._spent[found.id] = self._spent.get(found.id, 0.0) + time.monotonic() - self._shown_at

    def _reopen_previous_item(self, left: Assignment) -> None:
        """Let the rater answer an earlier item again; the current one is shown again afterwards."""
        answered = self.desk.answered(self.name)
        place = len(answered) if self._earlier is None else self._earlier
        if place == 0:
            show(self.rater, "This is the first question.")
            return
        self._stop_clock(left)
        self._earlier = place - 1
        self._found = answered[self._earlier]
        stored = given(self.desk, self._found.id, self.name)
        self._spent.setdefault(self._found.id, (stored and stored.seconds) or 0.0)
        show(self.rater, item_text(self.desk.study, self._found))
        self._question(self._found)

    def _quit(self) -> None:
        show(self.rater, "Goodbye. What you have finished is kept; the same command resumes from here.")
        self._is_over = True

    def _end(self, why: Nothing) -> str:
        study = self.desk.study
        if why is Nothing.DONE:
            code = f"Your code: {study.completion_code}" if study.completion_code else ""
            return "\n".join(filter(None, [study.completion_text or "That was all. Thank you!", code]))
        return f"There is nothing for you to do now. {why.value}"
