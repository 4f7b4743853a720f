"""Asking one question after another, with a way back."""

from __future__ import annotations

from collections.abc import Sequence

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.study.questions import Choice, Likert, Preference, Question


class Interview:
    """Asks a page of questions, one at a time.

    :param questions: at least one, in order.
    :param progress: text shown before each question.
    """

    def __init__(self, questions: Sequence[Question], progress: str = "") -> None:
        self._questions = questions
        self._progress = progress
        self.answers: dict[str, object] = {}
        self._place = 0

    @property
    def is_done(self) -> bool:
        """Whether all questions are answered."""
        return self._place >= len(self._questions)

    @property
    def question(self) -> str:
        """The current question, as text to show."""
        question = self._questions[self._place]
        optional = "" if question.required else " (You may leave this open.)"
        return "\n".join(filter(None, [self._progress, question.text + optional, *choices(question)]))

    def hear(self, text: str) -> str:
        """Take an answer; return what is wrong with it, in one line, or an empty text if it was accepted."""
        question = self._questions[self._place]
        if isinstance(question, Choice):  # the numbers shown count, even if a choice is itself called by a number
            text = {str(place): choice for place, choice in enumerate(question.choices, start=1)}.get(text, text)
        try:
            question.read(text)
        except OptionError as error:
            return str(error).removeprefix(f"question {question.id}: ").removeprefix(f"question {question.id} ")
        self.answers[question.id] = text
        self._place += 1
        return ""

    def back(self) -> bool:
        """Go back to the previous question; return whether there was one."""
        self._place -= 1 if self._place else 0
        has_left_one = self._questions[self._place].id in self.answers
        self.answers.pop(self._questions[self._place].id, None)
        return has_left_one


def choices(question: Question) -> list[str]:
    """Return the numbered answers of a question as lines of text."""
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
