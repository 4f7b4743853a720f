"""Questions as form fields, with the rater's answers so far and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parlai_empathy.rating.study.questions import Choice, FreeText, Likert, Preference, Question, problems

PREFIX = "q-"
"""Prefix of field names; the question's id follows it."""

LEFT, RIGHT = "left", "right"
_LONG_LABEL = 14  # characters; longer labels do not fit into a point of a scale
_MANY_POINTS = 7
_BYTES_A_CHARACTER = 12  # four bytes of UTF-8, each percent-encoded as three
_BESIDE_TEXTS = 64 * 1024


@dataclass(frozen=True)
class Option:
    """One of the answers to choose from.

    :param number: shown large; empty if there is only the text.
    :param key: the key that selects it; empty if none does.
    """

    value: str
    text: str
    number: str = ""
    key: str = ""


@dataclass(frozen=True)
class Field:
    """A question as a form field.

    :param name: of the form's field, and the id of its first control.
    :param options: empty for free text.
    :param is_scale: whether the options are points of a scale, side by side.
    :param value: the rater's answer; empty if there is none.
    :param hint: what may be answered, if the options do not show it.
    :param most: maximum length of a free text, in characters.
    :param problem: what is wrong with ``value``; empty if nothing is.
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
        """The points of a scale that have a label. On phones, labels are shown below the scale, for lack of room."""
        return tuple(option for option in self.options if option.text)

    @property
    def described_by(self) -> str:
        """The ids of the elements that explain it, for screen readers."""
        parts = [f"{self.name}-hint"] * bool(self.hint) + [f"{self.name}-problem"] * bool(self.problem)
        return " ".join(parts)


def fields_of(
    questions: Sequence[Question], sides: tuple[str, str], said: Mapping[str, str], check: bool = False
) -> list[Field]:
    """Return the fields of a form.

    :param sides: the names of the left and the right thing that are compared.
    :param said: the answers, by the questions' ids.
    :param check: whether to report what is wrong with them.
    """
    wrong = problems(questions, said) if check else {}
    return [_field(question, sides, said.get(question.id, ""), question.id in wrong) for question in questions]


def sent(questions: Sequence[Question], form: Mapping[str, str]) -> dict[str, str]:
    """Return the submitted answers by the questions' ids."""
    return {question.id: form.get(PREFIX + question.id, "") for question in questions}


def sent_partially(questions: Sequence[Question], form: Mapping[str, str]) -> dict[str, str]:
    """The same for a form that contains only some of the questions."""
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
    """Return the answers to choose from; none for free text."""
    if isinstance(question, Likert):
        labels = dict(question.labels)
        return tuple(
            Option(str(point), labels.get(point, ""), str(point), _key(point))
            for point in range(1, question.points + 1)
        )
    if isinstance(question, Choice):
        return tuple(
            Option(text, text, key=_choice_key(question, place)) for place, text in enumerate(question.choices, start=1)
        )
    if isinstance(question, Preference):
        pair = (Option(LEFT, sides[0], key="1"), Option(RIGHT, sides[1], key="2"))
        return (*pair, Option("tie", "No difference", key="0")) if question.tie else pair
    return ()


def longest_form(*forms: Sequence[Question], text: int = 0) -> int:
    """Return the maximum size in bytes of a site's forms.

    :param forms: the questions in each of its forms.
    :param text: maximum length of the texts in other forms, in characters.
    """
    asked = (sum(one.most for one in form if isinstance(one, FreeText)) for form in forms)
    return _BESIDE_TEXTS + _BYTES_A_CHARACTER * max([text, *asked])


def _length(question: FreeText) -> str:
    if question.least > 1:
        return f"{question.least:,} to {question.most:,} characters."
    return f"At most {question.most:,} characters."


def _key(place: int) -> str:
    return str(place) if place <= 9 else ""


def _choice_key(question: Choice, place: int) -> str:
    """Return the digit that stands for a choice: itself if it is one, otherwise its place unless a choice is that."""
    text = question.choices[place - 1]
    if text.isdecimal() and len(text) == 1:
        return text
    return "" if str(place) in question.choices else _key(place)


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
    return "This contains a character that cannot be stored. Write it without that character."
