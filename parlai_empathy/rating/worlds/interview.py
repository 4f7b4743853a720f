"""One question after another, forwards and backwards."""

from __future__ import annotations

from collections.abc import Sequence

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.questions import Choice, Likert, Preference, Question


class Interview:
    """Asks a page of questions.

    :param questions: in their order; at least one.
    :param progress: what stands before each question.
    """

    def __init__(self, questions: Sequence[Question], progress: str = "") -> None:
        self._questions = questions
        self._progress = progress
        self.answers: dict[str, object] = {}
        self._place = 0

    @property
    def is_done(self) -> bool:
        """Whether all are answered."""
        return self._place >= len(self._questions)

    @property
    def question(self) -> str:
        """The present question, as a text to be shown."""
        question = self._questions[self._place]
        optional = "" if question.required else " (You may leave this open.)"
        return "\n".join(filter(None, [self._progress, question.text + optional, *choices(question)]))

    def hear(self, text: str) -> str:
        """Take an answer; returns what is wrong with it, in one line, or nothing."""
        question = self._questions[self._place]
        try:
            question.read(text)
        except OptionError as error:
            return str(error).removeprefix(f"question {question.id}: ").removeprefix(f"question {question.id} ")
        self.answers[question.id] = text
        self._place += 1
        return ""

    def back(self) -> bool:
        """Return to the question before; whether there is one."""
        self._place -= 1 if self._place else 0
        has_left_one = self._questions[self._place].id in self.answers
        self.answers.pop(self._questions[self._place].id, None)
        return has_left_one


def choices(question: Question) -> list[str]:
    """A line for each answer that has a number."""
    if isinstance(question, Likert):
        labels = dict(question.labels)
        if 1 in labels and question.points in labels and len(labels) < question.points:
            return [f"   1 to {question.points}: " + ", ".join(f"{point} = {text}" for point, text in question.labels)]
        return [f"   {point}  {labels.get(point, '')}".rstrip() for point in range(1, question.points + 1)]
    if isinstance(question, Choice):
        return [f"   {place}  {choice}" for place, choice in enumerate(question.choices, start=1)]
    if isinstance(question, Preference):
        return ["   1  the first", "   2  the second", *(["   0  no difference"] if question.tie else [])]
    return []
