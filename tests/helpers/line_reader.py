"""Runs curation's query on lines, without a dump."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from parlai_empathy.curation.blocks import Block, lines_of
from parlai_empathy.curation.content_words import count_content_words
from parlai_empathy.curation.duck import connect
from parlai_empathy.curation.posts import posts_query


@dataclass(frozen=True)
class Read:
    """The rows of a block.

    :param posts: a table of pyarrow.
    :param bad: number of lines that are not posts, by reason.
    :param places: the numbers of those lines, with the field in parentheses.
    """

    posts: Any
    bad: Counter[str]
    places: list[str]


class LineReader:
    """Runs the query on one block after another."""

    def __init__(self) -> None:
        self._database = connect("1GB", 1)
        self._database.create_function("count_content_words", count_content_words, ["VARCHAR"], "INTEGER", type="arrow")

    def read(self, block: Block) -> Read:
        """Run the query on a block."""
        import pyarrow
        import pyarrow.compute as compute

        self._database.register("lines", pyarrow.Table.from_batches([lines_of(block)]))
        rows = self._database.sql(posts_query()).to_arrow_table().sort_by("number")
        is_bad = compute.is_valid(rows["bad"])
        bad = rows.filter(is_bad).to_pylist()
        places = [f"{row['number']} ({row['detail']})".removesuffix(" ()") for row in bad]
        return Read(rows.filter(compute.invert(is_bad)), Counter(row["bad"] for row in bad), places)
