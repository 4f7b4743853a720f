"""Tables of replies and scores whose published layout is unknown: several names are accepted for each column.

Two sets are read in this way. BETTER (Ghazarian et al. 2019) has 300 queries of DailyDialog with a system's responses;
it may look like PREDENG-600 by the same authors, with ``query``, ``response`` and ``human_score``. RED-Test (Xu et al.
2022) has Reddit posts, perhaps with their parents, that three people scored for how engaging they are.

The scores are either in numbered columns, one per rater (``annotator_1``, ``rater2``, ``score3``), or in one column. In
the latter case, rows with the same texts and the same system are ratings of one reply. Of ``worker_1`` and ``score_1``,
the score is the latter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.records import RatedReply, number, one_line
from parlai_empathy.tasks.engagement.tables import Row, read_table

REPLIES = ("post", "response", "reply", "text", "sentence")
CONTEXTS = ("parent", "context", "query")
SCORES = ("human_score", "score", "rating", "engagement", "engaging", "label", "mean")
SYSTEMS = ("system", "model", "source")
RATERS = ("annotator", "annotation", "rater", "worker", "human")
_NUMBERED = re.compile(rf"({'|'.join((*RATERS, *SCORES))})_?\d+")


def read_rated_table(path: str | Path) -> Iterator[RatedReply]:
    """Read the replies in the order of their first rows.

    :raises DataError: naming file, line and column, for a missing column, an empty reply, a score that is not a number,
        a row without a score, or numbered columns of several names.
    """
    rated: dict[tuple[str, str, str | None, int | None], list[float]] = {}
    for place, row in enumerate(read_table(path)):
        reply = one_line(row.text(*REPLIES))
        if not reply:
            raise DataError(f"{row.where}, column {row.column(REPLIES)}: it is empty: each row needs a reply")
        numbered = _numbered(row)
        own = place if numbered else None  # rows with all raters are different replies, even with equal texts
        key = (_first(row, CONTEXTS) or "", reply, _first(row, SYSTEMS), own)
        rated.setdefault(key, []).extend(_ratings(row, numbered))
    for place, ((context, reply, system, _), ratings) in enumerate(rated.items()):
        yield RatedReply(str(place), (context,) if context else (), reply, tuple(ratings), system)


def _first(row: Row, names: tuple[str, ...]) -> str | None:
    """Return the text of the first of the columns that exists; None if none exists, or the text is empty."""
    there = [name for name in names if name in row.fields]
    return one_line(row.text(*there)) or None if there else None


def _numbered(row: Row) -> list[str]:
    """Return the columns of the raters' scores; none if all scores are in one column."""
    columns: dict[str, list[str]] = {}
    for name in row.fields:
        if found := _NUMBERED.fullmatch(name):
            columns.setdefault(found[1], []).append(name)
    scores = [name for name in columns if name in SCORES] or list(columns)
    if len(scores) > 1:
        raise DataError(
            f"{row.where}: its numbered columns are called {' and '.join(scores)}: keep those of one name, the raters' "
            "scores"
        )
    return columns[scores[0]] if scores else []


def _ratings(row: Row, numbered: list[str]) -> list[float]:
    """Return the scores of a row. A rater whose column is empty has not rated it."""
    columns = [name for name in numbered if row.text(name)] or numbered[:1] or [row.column(SCORES)]
    return [number(row.text(name), f"{row.where}, column {name}") for name in columns]
