"""PREDENG-600 (Ghazarian et al. 2020): a CSV file with one row per rater of a query and its response."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.records import RatedReply, number, one_line
from parlai_empathy.tasks.engagement.tables import read_table

SCALE = (1, 2, 3, 4, 5)


def read_predeng(path: str | Path) -> Iterator[RatedReply]:
    """Read the pairs in the order of their first rows.

    The three rows of a pair are not consecutive; rows with the same two texts belong together.

    :raises DataError: naming file and line, for a row without a response or with a score that is not 1 to 5.
    """
    pairs: dict[tuple[str, str], list[float]] = {}
    for row in read_table(path):
        query, response = one_line(row.text("query")), one_line(row.text("response"))
        if not response:
            raise DataError(f"{row.where}, column response: it is empty: use the file as its authors published it")
        rating = number(row.text("human_score"), f"{row.where}, column human_score", SCALE[0], SCALE[-1])
        pairs.setdefault((query, response), []).append(rating)
    for place, ((query, response), ratings) in enumerate(pairs.items()):
        yield RatedReply(str(place), (query,) if query else (), response, tuple(ratings))
