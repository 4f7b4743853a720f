"""Predictive Engagement's tables: pairs of a query and a reply, with a label 0 or 1 (Ghazarian et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.convai import LABELS, Labelled
from parlai_empathy.tasks.engagement.records import one_line
from parlai_empathy.tasks.engagement.tables import read_table


def read_labelled(path: str | Path) -> Iterator[Labelled]:
    """Read a CSV file with the columns ``query``, ``reply`` and ``label``, in file order; other columns are ignored.

    Texts may be empty, as some are in the table that people labelled.

    :raises DataError: naming file and line, for a label that is not 0 or 1.
    """
    for row in read_table(path):
        label = row.text("label")
        if label not in LABELS:
            raise DataError(f"{row.where}, column label: {label[:40]!r} is neither 0 nor 1: use the published file")
        yield Labelled(one_line(row.text("query")), one_line(row.text("reply")), label)
