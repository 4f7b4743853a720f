"""The questions that raters answer: four kinds, each of which validates its answers.

============== ================================================= ==================================================
kind           what a rater sends                                what is stored
============== ================================================= ==================================================
``likert``     a point, 1 to ``points``                          the point as ``rating``
``choice``     one of ``choices``, or its position from 1        its position as ``rating``, its text as ``text``
``text``       a text                                            the text as ``text``
``preference`` ``left``, ``right`` or ``tie`` (or 1, 2 and 0)    1, -1 or 0 as ``rating``: 1 if the left one is better
============== ================================================= ==================================================
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from parlai_empathy.errors import OptionError
from parlai_empathy.files.text_file import has_half_characters
from parlai_empathy.rating.wording import counted

LONGEST = 2000
"""The default maximum length of a free text, in characters."""

_NUMBER = re.compile("[0-9]{1,3}")
_SIDES = {"left": 1, "1": 1, "right": -1, "2": -1, "tie": 0, "0": 0}


class Answer(NamedTuple):
    """An answer as it is stored: a number, a text or both."""

    rating: float | None = None
    text: str | None = None


@dataclass(frozen=True)
class Question:
    """The base class of all kinds of questions.

    :param id: its name in files of ratings.
    :param text: the wording that raters read.
    :param required: whether an item can only be submitted with an answer to it.
    :param per_turn: in a chat, whether it is asked about each of the model's turns instead of the whole chat.
    """

    id: str
    text: str
    required: bool = True
    per_turn: bool = False
    kind: str = field(default="", init=False)

    @property
    def hint(self) -> str:
        """The valid answers, in words."""
        raise NotImplementedError

    def read(self, raw: object) -> Answer | None:
        """Return what to store for ``raw``; None for an empty answer to an optional question.

        :raises OptionError: if the answer is invalid, with what was expected.
        """
        text = clean(raw, f"question {self.id}")
        if not text:
            if self.required:
                raise OptionError(f"question {self.id} has no answer: expected {self.hint}")
            return None
        return self._of(text)

    def _of(self, text: str) -> Answer:
        raise NotImplementedError

    def _wrong(self, text: str) -> OptionError:
        return OptionError(f"question {self.id}: {reprlib.repr(text)} is not a valid answer: expected {self.hint}")


@dataclass(frozen=True)
class Likert(Question):
    """A rating on a scale.

    :param points: the number of points of the scale, at least 2.
    :param labels: points with their meanings; usually at least the two ends.
    """

    points: int = 5
    labels: tuple[tuple[int, str], ...] = ()
    kind: str = field(default="likert", init=False)

    @property
    def hint(self) -> str:
        """The range, with the meanings of labelled points."""
        meanings = ", ".join(f"{point} = {label}" for point, label in self.labels)
        return f"a number from 1 to {self.points}" + (f" ({meanings})" if meanings else "")

    def _of(self, text: str) -> Answer:
        if not _NUMBER.fullmatch(text) or not 1 <= int(text) <= self.points:
            raise self._wrong(text)
        return Answer(float(int(text)))


@dataclass(frozen=True)
class Choice(Question):
    """One of several options.

    :param choices: at least two different texts.
    """

    choices: tuple[str, ...] = ()
    kind: str = field(default="choice", init=False)

    @property
    def hint(self) -> str:
        """The choices with their positions."""
        return "one of " + ", ".join(f"{place} = {choice}" for place, choice in enumerate(self.choices, start=1))

    def _of(self, text: str) -> Answer:
        by_text = {choice.casefold(): place for place, choice in enumerate(self.choices, start=1)}
        place = by_text.get(text.casefold(), int(text) if _NUMBER.fullmatch(text) else 0)
        if not 1 <= place <= len(self.choices):
            raise self._wrong(text)
        return Answer(float(place), self.choices[place - 1])


@dataclass(frozen=True)
class FreeText(Question):
    """An answer in the rater's own words.

    :param least: the minimum length in characters, without blanks at the ends.
    :param most: the maximum length, likewise.
    """

    least: int = 1
    most: int = LONGEST
    kind: str = field(default="text", init=False)

    @property
    def hint(self) -> str:
        """The allowed length."""
        return f"a text of {self.least} to {self.most:,} characters"

    def _of(self, text: str) -> Answer:
        if not self.least <= len(text) <= self.most:
            raise OptionError(
                f"question {self.id}: the text has {counted(len(text), 'character')}: expected {self.hint}"
            )
        return Answer(None, text)


@dataclass(frozen=True)
class Preference(Question):
    """Which of two is better.

    :param tie: whether a tie is a valid answer.
    """

    tie: bool = True
    kind: str = field(default="preference", init=False)

    @property
    def hint(self) -> str:
        """The sides, with the numbers that stand for them."""
        return "1 = the first (left), 2 = the second (right)" + (", 0 = tie" if self.tie else "")

    def _of(self, text: str) -> Answer:
        side = _SIDES.get(text.casefold())
        if side is None or (side == 0 and not self.tie):
            raise self._wrong(text)
        return Answer(float(side))


def read_answers(questions: Sequence[Question], raw: Mapping[str, object]) -> dict[str, Answer]:
    """Return what to store for a page of answers, by question id; unanswered questions are left out.

    :raises OptionError: for the first invalid answer, or an answer to a question that was not asked.
    """
    if wrong := problems(questions, raw):
        raise OptionError(next(iter(wrong.values())))
    answers = {question.id: question.read(raw.get(question.id)) for question in questions}
    return {name: answer for name, answer in answers.items() if answer is not None}


def problems(questions: Sequence[Question], raw: Mapping[str, object]) -> dict[str, str]:
    """One line for each question with an invalid answer, by question id, in the questions' order."""
    wrong: dict[str, str] = {}
    for question in questions:
        try:
            question.read(raw.get(question.id))
        except OptionError as error:
            wrong[question.id] = str(error)
    asked = [question.id for question in questions]
    for name in raw:
        if name not in asked:
            wrong[name] = f"question {reprlib.repr(name)} was not asked: the questions are {', '.join(asked) or 'none'}"
    return wrong


def clean(raw: object, where: str) -> str:
    """``raw`` as a text that every store and file can hold, without blanks at its ends.

    :raises OptionError: if it is neither a text nor a number, or contains characters that cannot be stored.
    """
    if raw is None:
        return ""
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise OptionError(f"{where}: {reprlib.repr(raw)} is neither a text nor a number")
    is_whole = isinstance(raw, float) and raw.is_integer()  # JSON from a page may write 4 as 4.0
    text = without_carriage_returns(str(int(raw) if is_whole else raw)).strip()
    if has_half_characters(text):
        raise OptionError(f"{where}: {reprlib.repr(text)} contains half a character (a lone surrogate)")
    if "\0" in text:
        raise OptionError(f"{where}: {reprlib.repr(text)} contains a null character, which cannot be stored")
    return text


def without_carriage_returns(text: str) -> str:
    """The text with its line endings normalised: the CSV writer does not quote a lone carriage return, which would end
    the row.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")
