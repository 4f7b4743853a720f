"""The record of a RED post: the columns of its files, and their valid values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from parlai_empathy.errors import DataError, shown
from parlai_empathy.tasks.engagement.records import number, one_line, whole

CLASSES = ("not engaging", "engaging")
"""The two labels, in this order, so that a judge's second probability is that of an engaging post."""

DIMENSIONS = ("ee", "ae", "be", "re")
"""Emotional, attentional, behavioural and reply engagement (Xu et al. 2022, section 3)."""

FOLDS = ("train", "valid", "test")
REACTION = "reaction"
"""The source of posts that people reacted to; posts of any other source are negative samples (+NS)."""

TEXTS = ("post", "parent", "label", "fold", "subreddit", "source")
NUMBERS = (*(f"{dimension}_norm" for dimension in DIMENSIONS), "engagement")
COLUMNS = (*TEXTS, *NUMBERS)
"""The required columns; others are ignored."""


@dataclass(frozen=True)
class RedPost:
    """A post, its parent, and how engaging it is.

    :param text: on one line, like the parent.
    :param parent: the text that the post answers; empty if it is unknown.
    :param label: one of :data:`CLASSES`.
    :param fold: one of :data:`FOLDS`.
    :param source: :data:`REACTION`, or the kind of a negative sample.
    :param engagement: the aggregate of all dimensions, 0..1; None if the file does not have it.
    :param dimensions: the normalised scores, 0..1, of the dimensions that the file has.
    """

    text: str
    parent: str
    label: str
    fold: str
    source: str = REACTION
    subreddit: str = ""
    engagement: float | None = None
    dimensions: Mapping[str, float] = field(default_factory=dict)


def post_of(fields: Mapping[str, Any], where: str) -> RedPost:
    """Return the post of a row that has all :data:`COLUMNS`.

    Dimensions may be missing. A negative sample may have no scores and no text.

    :param where: file and row, for the beginning of error messages.
    :raises DataError: naming the column, if one is missing or has an invalid value.
    """
    check_columns(list(fields), where)
    texts = {name: _text(fields[name], f"{where}, column {name}") for name in TEXTS}
    for name, allowed in (("label", CLASSES), ("fold", FOLDS)):
        if texts[name] not in allowed:
            raise DataError(
                f"{where}, column {name}: {shown(texts[name])} is not one of {', '.join(allowed)}: make the file again"
            )
    made = texts["source"] != REACTION
    if not texts["source"] or (not texts["post"] and not made):
        column = "post" if texts["source"] else "source"
        raise DataError(f"{where}, column {column}: it is empty: make the file again")
    scores = {
        name: number(fields[name], f"{where}, column {name}", 0, 1)
        for name in NUMBERS
        if not _is_missing(fields[name]) or (name == "engagement" and not made)
    }
    return RedPost(
        texts["post"],
        texts["parent"],
        texts["label"],
        texts["fold"],
        texts["source"],
        texts["subreddit"],
        scores.get("engagement"),
        {name: scores[f"{name}_norm"] for name in DIMENSIONS if f"{name}_norm" in scores},
    )


def check_columns(found: list[str], where: str) -> None:
    """Check that a file has all :data:`COLUMNS`.

    :raises DataError: naming the first missing column, and the existing ones.
    """
    if missing := [name for name in COLUMNS if name not in found]:
        raise DataError(
            f"{where}: the column {missing[0]} is missing, found {shown(', '.join(found))}: make the file again "
            "with `parlai curate_red`"
        )


def _text(value: object, where: str) -> str:
    if value is not None and not isinstance(value, str):
        raise DataError(f"{where}: {shown(value)} is not a text: make the file again")
    return one_line(whole(value or "", where))


def _is_missing(value: object) -> bool:
    return value is None or value == "" or value != value  # only NaN differs from itself
