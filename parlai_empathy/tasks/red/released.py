"""Read RED as its authors release it: tables of a text and a label, 1 for engaging and 0 for not.

Their layout is not documented, so several names are accepted for each column.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.records import one_line
from parlai_empathy.tasks.engagement.tables import Row, read_table
from parlai_empathy.tasks.red.records import CLASSES, DIMENSIONS, TEXTS, RedPost, post_of

POSTS = ("text", "post", "sentence")
PARENTS = ("parent", "context")
SEED = "red 1"
_OWN = {f"{dimension}_norm" for dimension in DIMENSIONS}
"""Columns that only the files of ``parlai curate_red`` have."""
VALID = 20  # percent of the posts, as in the paper

_LABELS = {"0": CLASSES[0], "0.0": CLASSES[0], "1": CLASSES[1], "1.0": CLASSES[1]} | {name: name for name in CLASSES}
_FOLDS = {"train": "train", "valid": "valid", "validation": "valid", "val": "valid", "dev": "valid", "test": "test"}


def read_tables(path: str | Path, fold: str | None = None) -> Iterator[RedPost]:
    """Read a ``.csv``, ``.tsv`` or ``.jsonl`` file: with our own columns if it has one of the normalised scores, or
    with the authors'.

    :param fold: the fold of all posts in the file; None takes it from the column ``fold`` or ``split``, or else from a
        hash of the text, which puts one of five into ``valid``.
    :raises DataError: naming file, line and column, for a missing column or an invalid value.
    """
    for row in read_table(path):
        is_own = _OWN & row.fields.keys() or row.fields.keys() >= set(TEXTS)  # some writers of JSON leave out nulls
        yield post_of(row.fields, row.where) if is_own else _released(row, fold)


def fold_in_name(path: Path) -> str | None:
    """Return the fold that is a word of the file's name, as in ``RED_train.csv``; None if there is none."""
    words = path.stem.lower().replace("-", "_").replace(".", "_").split("_")
    return next((_FOLDS[word] for word in words if word in _FOLDS), None)


def _released(row: Row, fold: str | None) -> RedPost:
    text = one_line(row.text(*POSTS))
    if not text:
        raise DataError(f"{row.where}, column {row.column(POSTS)}: it is empty: use the file as it was released")
    label = row.text("label").lower()
    if label not in _LABELS:
        raise DataError(
            f"{row.where}, column label: {label[:40]!r} is neither 0 nor 1: use the file as it was released"
        )
    parent = one_line(row.text(*PARENTS)) if any(name in row.fields for name in PARENTS) else ""
    return RedPost(text, parent, _LABELS[label], fold or _fold_of(row, text))


def _fold_of(row: Row, text: str) -> str:
    if "fold" not in row.fields and "split" not in row.fields:
        digest = hashlib.sha256(f"{SEED}\n{text}".encode()).digest()
        return "valid" if int.from_bytes(digest[:8], "big") % 100 < VALID else "train"
    name = row.text("fold", "split").lower()
    if name not in _FOLDS:
        raise DataError(
            f"{row.where}, column {row.column(('fold', 'split'))}: {name[:40]!r} is not a fold (train, valid or test)"
        )
    return _FOLDS[name]
