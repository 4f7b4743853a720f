"""A post of RED as it is kept in files: its columns, and what they have to hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from parlai_empathy.errors import DataError, shown
from parlai_empathy.tasks.engagement.reader import number, one_line, whole

CLASSES = ("not engaging", "engaging")
"""In this order, so that a judge's second probability is that of an engaging post."""

DIMENSIONS = ("ee", "ae", "be", "re")
"""Emotional, attentional, behavioural and reply engagement (Xu et al. 2022, section 3)."""

FOLDS = ("train", "valid", "test")
REACTION = "reaction"
"""The source of posts that people reacted to; those of any other source are made to be not engaging (+NS)."""

TEXTS = ("post", "parent", "label", "fold", "subreddit", "source")
NUMBERS = (*(f"{dimension}_norm" for dimension in DIMENSIONS), "engagement")
COLUMNS = (*TEXTS, *NUMBERS)
"""The columns that have to be there; others are left aside."""


@dataclass(frozen=True)
class RedPost:
    """A post, what it answers, and how engaging it is.

    :param text: in one line, as the parent is.
    :param parent: what the post answers; empty if that is not known.
    :param label: one of :data:`CLASSES`.
    :param fold: one of :data:`FOLDS`.
    :param source: :data:`REACTION`, or how a negative sample was made.
    :param engagement: the aggregate of all dimensions, 0..1; None if the file does not tell it.
    :param dimensions: the normalised scores, 0..1, of the dimensions that the file tells.
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
    """A row of a file that has all :data:`COLUMNS`.

    A dimension need not have been measured. A negative sample may have no score at all, and no text either.

    :param where: file and row, as an error begins with them.
    :raises DataError: naming the column, if one is missing or holds something else than it should.
    """
    check_columns(list(fields), where)
    texts = {name: _text(fields[name], f"{where}, column {name}") for name in TEXTS}
    for name, allowed in (("label", CLASSES), ("fold", FOLDS)):
        if texts[name] not in allowed:
            raise DataError(
                f"{where}, column {name}: {shown(texts[name])} is none of {', '.join(allowed)}: make the file anew"
            )
    made = texts["source"] != REACTION
    if not texts["source"] or (not texts["post"] and not made):
        column = "post" if texts["source"] else "source"
        raise DataError(f"{where}, column {column}: it is empty: make the file anew")
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
    """See that a file has all :data:`COLUMNS`.

    :raises DataError: naming the first that is missing, and those that are there.
    """
    if missing := [name for name in COLUMNS if name not in found]:
        raise DataError(
            f"{where}: the column {missing[0]} is missing, found {shown(', '.join(found))}: make the file anew "
            "with `parlai curate_red`"
        )


def _text(value: object, where: str) -> str:
    if value is not None and not isinstance(value, str):
        raise DataError(f"{where}: {shown(value)} is no text: make the file anew")
    return one_line(whole(value or "", where))


def _is_missing(value: object) -> bool:
    return value is None or value == "" or value != value  # NaN alone is not what it is
