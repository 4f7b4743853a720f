"""Questions as a form shows them, with what the rater has said so far, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parlai_empathy.rating.questions import Choice, FreeText, Likert, Preference, Question, problems

PREFIX = "q-"
"""Before a question's id it is the name of its field."""

LEFT, RIGHT = "left", "right"
_LONG_LABEL = 14  # characters: longer ones do not fit into a point of a scale
_MANY_POINTS = 7
_BYTES_A_CHARACTER = 12  # four bytes of UTF-8, each written as three characters in a form
_BESIDE_TEXTS = 64 * 1024


@dataclass(frozen=True)
class Option:
    """One answer of several.

    :param number: what stands large; empty if there is only the text.
    :param key: the key that chooses it; empty if none does.
    """

    value: str
    text: str
    number: str = ""
    key: str = ""


@dataclass(frozen=True)
class Field:
    """A question.

    :param name: of the form's field, and of its first control.
    :param options: empty of a free text.
    :param is_scale: whether the options are points of a scale, side by side.
    :param value: what the rater has said; empty if nothing.
    :param hint: what may be answered, where the options do not show it.
    :param most: characters of a free text.
    :param problem: what is wrong with ``value``; empty if nothing.
    """

    name: str
    text: str
    required: bool
    options: tuple[Option, ...]
    is_scale: bool
    value: str
    hint: str
    most: int
    problem: str

    @property
    def labelled(self) -> tuple[Option, ...]:
        """The points of a scale that have a meaning: phones have no room for it inside the points."""
        return tuple(option for option in self.options if option.text)

    @property
    def described_by(self) -> str:
        """The ids of what explains it, for screen readers."""
        parts = [f"{self.name}-hint"] * bool(self.hint) + [f"{self.name}-problem"] * bool(self.problem)
        return " ".join(parts)


def fields_of(
    questions: Sequence[Question], sides: tuple[str, str], said: Mapping[str, str], check: bool = False
) -> list[Field]:
    """The fields of a form.

    :param sides: what is compared, the left and the right one.
    :param said: by the questions' ids.
    :param check: whether to say what is wrong.
    """
    wrong = problems(questions, said) if check else {}
    return [_field(question, sides, said.get(question.id, ""), question.id in wrong) for question in questions]


def sent(questions: Sequence[Question], form: Mapping[str, str]) -> dict[str, str]:
    """What a form has said, by the questions' ids."""
    return {question.id: form.get(PREFIX + question.id, "") for question in questions}


def sent_alone(questions: Sequence[Question], form: Mapping[str, str]) -> dict[str, str]:
    """The same of a form that asks only some of the questions."""
    return sent([question for question in questions if PREFIX + question.id in form], form)


def _field(question: Question, sides: tuple[str, str], value: str, is_wrong: bool) -> Field:
    options = options_of(question, sides)
    return Field(
        PREFIX + question.id,
        question.text,
        question.required,
        options,
        _is_scale(question, options),
        value,
        _length(question) if isinstance(question, FreeText) else "",
        question.most if isinstance(question, FreeText) else 0,
        _advice(question, value.strip()) if is_wrong else "",
    )


def options_of(question: Question, sides: tuple[str, str]) -> tuple[Option, ...]:
    """The answers to choose from; none of a free text."""
    if isinstance(question, Likert):
        labels = dict(question.labels)
        return tuple(
            Option(str(point), labels.get(point, ""), str(point), _key(point))
            for point in range(1, question.points + 1)
        )
    if isinstance(question, Choice):
        return tuple(Option(text, text, key=_key(place)) for place, text in enumerate(question.choices, start=1))
    if isinstance(question, Preference):
        pair = (Option(LEFT, sides[0], key="1"), Option(RIGHT, sides[1], key="2"))
        return (*pair, Option("tie", "No difference", key="0")) if question.tie else pair
    return ()


def longest_form(*forms: Sequence[Question], text: int = 0) -> int:
    """How many bytes the longest form of a site can have.

    :param forms: the questions that each of its forms asks.
    :param text: characters of the longest text that another form takes.
    """
    asked = (sum(one.most for one in form if isinstance(one, FreeText)) for form in forms)
    return _BESIDE_TEXTS + _BYTES_A_CHARACTER * max([text, *asked])


def _length(question: FreeText) -> str:
    if question.least > 1:
        return f"{question.least:,} to {question.most:,} characters."
    return f"At most {question.most:,} characters."


def _key(place: int) -> str:
    return str(place) if place <= 9 else ""


def _is_scale(question: Question, options: Sequence[Option]) -> bool:
    is_short = all(len(option.text) <= _LONG_LABEL for option in options)
    return isinstance(question, Likert) and len(options) <= _MANY_POINTS and is_short


def _advice(question: Question, value: str) -> str:
    if not isinstance(question, FreeText):
        return "Choose one of the answers."
    if not value:
        return "Write an answer."
    if len(value) < question.least:
        return f"Write at least {question.least:,} characters; this is {len(value):,}."
    if len(value) > question.most:
        return f"Write at most {question.most:,} characters; this is {len(value):,}."
    return "This has a character that cannot be stored. Write it in other words."
