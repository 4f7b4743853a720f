"""RED-Test (Xu et al. 2022): posts of Reddit that three people scored for how engaging they are.

Its layout is not described: a table with a post, perhaps its parent, and either a column for each of the three or one
for all is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from parlai_empathy.tasks.engagement.rated_table import read_rated_table
from parlai_empathy.tasks.engagement.reader import RatedReply


def read_red_test(path: str | Path) -> Iterator[RatedReply]:
    """Read the posts. Raises DataError as :func:`~parlai_empathy.tasks.engagement.rated_table.read_rated_table`."""
    yield from read_rated_table(path)
