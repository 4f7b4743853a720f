"""BETTER (Ghazarian et al. 2019): 300 queries of DailyDialog with a system's responses, which people scored.

No address of it is published. PREDENG-600, by the same authors, holds pairs of this kind with a row for each rater, in
the columns ``query``, ``response`` and ``human_score``: this is read, and any other table of these texts and scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from parlai_empathy.tasks.engagement.rated_table import read_rated_table
from parlai_empathy.tasks.engagement.reader import RatedReply


def read_better(path: str | Path) -> Iterator[RatedReply]:
    """Read the pairs. Raises DataError as :func:`~parlai_empathy.tasks.engagement.rated_table.read_rated_table`."""
    yield from read_rated_table(path)
