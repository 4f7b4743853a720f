"""Reading the lists of a study file: questions, examples and gold checks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.study.questions import LONGEST, Answer, Choice, FreeText, Likert, Preference, Question
from parlai_empathy.rating.study.study import Check, Example
from parlai_empathy.rating.study.values import Values, shown

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_COMMON = ("id", "text", "kind", "required", "per_turn")
_OF_KIND = {
    "likert": ("points", "labels"),
    "choice": ("choices",),
    "text": ("least", "most"),
    "preference": ("tie",),
}


def question_of(where: str, raw: object, study_kind: str) -> Question:
    """Read a question.

    :param where: the file and the position in the list, for error messages.
    :param study_kind: preferences are only valid in pairwise studies, and questions per turn only in chat studies.
    :raises OptionError: if ``raw`` is not a valid question.
    """
    every = (*_COMMON, *(key for keys in _OF_KIND.values() for key in keys))
    kind = Values(where, raw, every).one_of("kind", list(_OF_KIND))
    values = Values(where, raw, (*_COMMON, *_OF_KIND[kind]))
    name = values.text("id")
    if not _ID.fullmatch(name):
        raise OptionError(f"{where}: id is {shown(name)}, expected a letter, then up to 39 letters, digits, _ or -")
    if kind == "preference" and study_kind != "pairwise":
        raise OptionError(f"{where}: kind preference is for pairwise studies, but this one is {study_kind}")
    if values.flag("per_turn", False) and study_kind != "chat":
        raise OptionError(f"{where}: per_turn is for chats, but this study is {study_kind}")
    text, required, per_turn = values.text("text"), values.flag("required", True), values.flag("per_turn", False)
    if kind == "likert":
        points = values.count("points", 5, 2, 100)
        return Likert(name, text, required, per_turn, points, _labels(where, values, points))
    if kind == "choice":
        return Choice(name, text, required, per_turn, _choices(where, values))
    if kind == "text":
        least = values.count("least", 1, 1)
        return FreeText(name, text, required, per_turn, least, values.count("most", max(LONGEST, least), least))
    return Preference(name, text, required, per_turn, values.flag("tie", True))


def _labels(where: str, values: Values, points: int) -> tuple[tuple[int, str], ...]:
    labels = values.named("labels")
    for point, label in labels.items():
        if isinstance(point, bool) or not isinstance(point, int) or not 1 <= point <= points:
            raise OptionError(
                f"{where}: labels: {shown(point)} is not on the scale, expected a whole number from 1 to {points}"
            )
        if not isinstance(label, str) or not label.strip():
            raise OptionError(f"{where}: labels: {point} is {shown(label)}, expected a text, in quotes")
    return tuple(sorted((point, label.strip()) for point, label in labels.items()))


def _choices(where: str, values: Values) -> tuple[str, ...]:
    choices = values.texts("choices")
    if len({choice.casefold() for choice in choices}) < max(2, len(choices)):
        raise OptionError(f"{where}: choices is {shown(list(choices))}, expected at least two different texts")
    return choices


def example_of(where: str, raw: object, questions: Sequence[Question]) -> Example:
    """Read an example.

    :raises OptionError: if ``raw`` is not a valid example, or has an answer that is invalid for its question.
    """
    values = Values(where, raw, ("context", "reply", "other_reply", "answers", "why"))
    answers = values.named("answers")
    for name, answer in answers.items():
        _read(f"{where}: answers", _question(where, "answers", name, questions), answer)
    return Example(
        values.texts("context", ()),
        values.text("reply"),
        values.text("other_reply", ""),
        tuple((name, str(answer)) for name, answer in answers.items()),
        values.text("why", ""),
    )


def check_of(where: str, raw: object, study_kind: str, questions: Sequence[Question]) -> Check:
    """Read a gold check.

    :raises OptionError: if ``raw`` is not a valid check, or expects an answer that is invalid for its question.
    """
    values = Values(where, raw, ("context", "reply", "other_reply", "expected"))
    expected = {
        name: _rating(where, _question(where, "expected", name, questions), rating)
        for name, rating in values.named("expected").items()
    }
    if not expected:
        raise OptionError(f"{where}: expected is missing, expected `question: rating` for at least one question")
    if values.has("other_reply") != (study_kind == "pairwise"):
        raise OptionError(
            f"{where}: other_reply is required in pairwise studies and not allowed in others: this one is {study_kind}"
        )
    return Check(
        values.texts("context", ()), values.text("reply"), tuple(expected.items()), values.text("other_reply", "")
    )


def _question(where: str, key: str, name: object, questions: Sequence[Question]) -> Question:
    found: Mapping[str, Question] = {question.id: question for question in questions}
    if not isinstance(name, str) or name not in found:
        raise OptionError(
            f"{where}: {key}: there is no question {shown(name)}; the questions are {', '.join(found) or 'none'}"
        )
    return found[name]


def _rating(where: str, question: Question, rating: object) -> float:
    """The stored value of an expected rating, written as 1, 0 or -1 for a preference, else as a rater sends it."""
    if isinstance(question, Preference):
        allowed = (1, 0, -1) if question.tie else (1, -1)
        if isinstance(rating, bool) or not isinstance(rating, int) or rating not in allowed:
            raise OptionError(
                f"{where}: expected: {question.id} is {shown(rating)}, expected one of {', '.join(map(str, allowed))}: "
                "1 if reply is better than other_reply"
            )
        return float(rating)
    answer = _read(f"{where}: expected", question, rating)
    if answer is None or answer.rating is None:
        raise OptionError(f"{where}: expected: {question.id} is a free text: use a question with ratings")
    return answer.rating


def _read(where: str, question: Question, raw: object) -> Answer | None:
    try:
        return question.read(raw)
    except OptionError as error:
        raise OptionError(f"{where}: {error}") from error
