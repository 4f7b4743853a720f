"""Posts of many blocks at once: several threads, each with its own DuckDB, and results in the order of the blocks."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.curation.blocks import Block, Lines, lines_of
from parlai_empathy.curation.duck import connect
from parlai_empathy.curation.posts import posts_query, words_query
from parlai_empathy.metrics.specificity import common_words


@dataclass(frozen=True)
class Read:
    """What a block holds.

    :param posts: a table of pyarrow.
    :param lines: how many lines are not blank.
    :param bad: for the first line of each reason why lines are no posts, the reason, and how many lines have it.
    """

    posts: Any
    lines: int
    bad: dict[str, tuple[str, int]]


class Readers:
    """Threads that read blocks.

    :param part: what the posts' part is called.
    :param memory: how much all of them may take.
    :raises MissingDependencyError: without DuckDB.
    :raises OptionError: if ``memory`` is no amount of memory.
    """

    def __init__(self, part: str, memory: str, threads: int) -> None:
        self._part = part
        self._database = connect(memory, 1)  # of each thread: they work on blocks of their own
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads)
        self._own = threading.local()

    def __enter__(self) -> Readers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._database.close()

    def read_all(self, blocks: Iterable[Block]) -> Iterator[Read]:
        """Read blocks; no more of them are in memory than there are threads, and one."""
        waiting: deque[Future[Read]] = deque()
        for block in blocks:
            waiting.append(self._pool.submit(self.read, block))
            if len(waiting) > self._threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def read(self, block: Block) -> Read:
        """Read a block."""
        import pyarrow
        import pyarrow.compute as compute

        lines, connection = lines_of(block), self._connection()
        numbers = pyarrow.array(np.arange(block.first, block.first + len(lines.texts)))
        connection.register("lines", pyarrow.table({"number": numbers, "line": lines.texts}))
        found = connection.sql(posts_query()).to_arrow_table()
        is_bad = compute.is_valid(found["bad"])
        posts = found.filter(compute.invert(is_bad)).drop_columns(["bad", "detail"])
        words = pyarrow.array(_words(connection, posts, block.first, len(lines.texts)))
        posts = posts.append_column("words", words)
        posts = posts.append_column("dump", pyarrow.array([self._part] * len(posts), pyarrow.string()))
        count = len(found) + lines.not_utf8 + lines.too_long
        return Read(posts, count, _bad(found.filter(is_bad), lines, block.first))

    def _connection(self) -> Any:
        """The thread's own connection."""
        import pyarrow

        if not hasattr(self._own, "connection"):
            self._own.connection = self._database.cursor()
            self._own.connection.register("common_words", pyarrow.table({"word": sorted(common_words())}))
        return self._own.connection


def _words(connection: Any, posts: Any, first: int, lines: int) -> NDArray[np.int32]:
    """How many content words each post has, ``(posts,)``."""
    connection.register("posts", posts.select(["number", "parent", "text"]))
    counted = connection.sql(words_query()).to_arrow_table()
    of_line = np.zeros(lines, dtype=np.int32)
    of_line[counted["number"].to_numpy() - first] = counted["words"].to_numpy()
    words: NDArray[np.int32] = of_line[posts["number"].to_numpy() - first]
    return words


def _bad(rows: Any, lines: Lines, first: int) -> dict[str, tuple[str, int]]:
    bad: dict[str, tuple[str, int]] = {}
    for reason, count in (("not UTF-8", lines.not_utf8), ("too long a line", lines.too_long)):
        if count:
            bad[f"from line {first} on: {reason}"] = (reason, count)
    places: dict[str, str] = {}
    for row in rows.select(["number", "bad", "detail"]).sort_by("number").to_pylist():
        detail = f" ({row['detail']})" if row["detail"] else ""
        place = places.setdefault(row["bad"], f"line {row['number']}{detail}")
        bad[place] = (row["bad"], bad.get(place, ("", 0))[1] + 1)
    return bad
