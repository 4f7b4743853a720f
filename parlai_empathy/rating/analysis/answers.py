"""Sorting answers by type: ratings of replies, comparisons of two, choices, texts, gold checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.rating.rating import Rating
from parlai_empathy.statistics.bootstrap import Floats, Places

A_OR_B = "A or B"
"""What comparisons of two replies are called in reports."""


@dataclass(frozen=True)
class Answers:
    """The answers of a file by type.

    :param scores: ratings of single replies. Two replies that were rated together count as one system, ``A with B``.
    :param preferences: comparisons of two systems, each with its systems in alphabetical order.
    :param choices: answers to questions whose numbers stand for texts and have no order; of two replies, likewise.
    :param texts: answers in the rater's own words.
    :param checks: ratings whose right value is known. Other answers about the same items are in no list, since these
        items were made up.
    """

    scores: tuple[Rating, ...]
    preferences: tuple[Rating, ...]
    choices: tuple[Rating, ...]
    texts: tuple[Rating, ...]
    checks: tuple[Rating, ...]

    @property
    def rated(self) -> tuple[Rating, ...]:
        """The numerical answers about systems: scores and preferences."""
        return self.scores + self.preferences

    def title(self, question: str, is_comparison: bool, nameless: str) -> str:
        """A question's name; its comparisons are marked if it was also asked about single replies.

        :param nameless: what to call a question without a name.
        """
        both = is_comparison and any(one.question == question for one in self.scores)
        return f"{question or nameless} ({A_OR_B})" if both else question or nameless


def sort_answers(ratings: Sequence[Rating]) -> Answers:
    """Sort the answers of a file by type."""
    made_up = {one.unit for one in ratings if one.check is not None}
    real = [one for one in ratings if one.unit not in made_up]
    chosen = _choices(real)
    choices = [_as_one(one) for one in real if is_choice(one, chosen)]
    others = [one for one in real if not is_choice(one, chosen)]
    numbers = [one for one in others if one.rating is not None]
    return Answers(
        scores=tuple(_as_one(one) for one in numbers if not one.is_preference),
        preferences=tuple(one.oriented() for one in numbers if one.is_preference),
        choices=tuple(choices),
        texts=tuple(one for one in others if one.rating is None),
        checks=tuple(one for one in ratings if one.check is not None and one.rating is not None),
    )


def is_choice(rating: Rating, questions: Container[str]) -> bool:
    """Whether an answer is a choice. The file's word counts: a study's new version may ask a question in another way.

    :param questions: those whose answers are choices unless the file says otherwise.
    """
    return rating.kind == "choice" or (not rating.kind and rating.question in questions)


def _choices(ratings: Sequence[Rating]) -> set[str]:
    """The questions that are choices: declared so, or with a one-to-one mapping between numbers and texts."""
    found = {one.question for one in ratings if one.kind == "choice"}
    texts: dict[str, dict[float | None, set[str]]] = {}
    for one in ratings:
        if not one.kind and not one.other:
            texts.setdefault(one.question, {}).setdefault(one.rating, set()).add(one.text)
    counts = Counter(one.question for one in ratings)
    for question, pairs in texts.items():
        said = [text for some in pairs.values() for text in some]
        named = None not in pairs and all(said) and len(set(said)) == len(said) == len(pairs)
        if named and len(pairs) < counts[question]:  # if every number occurs once, it may be chance
            found.add(question)
    return found


def _as_one(rating: Rating) -> Rating:
    """A rating of two replies together, as one of a single system."""
    if not rating.other:
        return rating
    turned = rating.oriented()
    return replace(turned, system=f"{turned.system} with {turned.other}", other="", side="")


@dataclass(frozen=True)
class Columns:
    """Ratings as arrays ``(n,)``: their values, and the indices of their items and raters, from 0."""

    values: Floats
    items: Places
    raters: Places

    def some(self, chosen: NDArray[np.bool_]) -> Columns:
        """A subset of the ratings, with items and raters renumbered."""
        return Columns(self.values[chosen], _numbered(self.items[chosen]), _numbered(self.raters[chosen]))


def columns_of(ratings: Sequence[Rating]) -> Columns:
    """Ratings as arrays. An item is the same for all systems, but a different one in each study and version.

    A conversation is one item with all its turns.
    """
    items = {one: place for place, one in enumerate(dict.fromkeys(one.place for one in ratings))}
    raters = {one: place for place, one in enumerate(dict.fromkeys(one.rater for one in ratings))}
    return Columns(
        np.array([np.nan if one.rating is None else one.rating for one in ratings], dtype=np.float64),
        np.array([items[one.place] for one in ratings], dtype=np.intp),
        np.array([raters[one.rater] for one in ratings], dtype=np.intp),
    )


def _numbered(numbers: Places) -> Places:
    return np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.intp)


def named(name: str, what: str) -> str:
    """The name of a system or question, or a placeholder for tables if it is empty."""
    return name or f"(no {what})"
