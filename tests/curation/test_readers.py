"""Threads that read blocks: results in the blocks' order, whatever their number, and an account of bad lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tiny_dumps import comment, random_posts

from parlai_empathy.curation.blocks import Block
from parlai_empathy.curation.readers import Readers
from parlai_empathy.errors import OptionError

LINES = [json.dumps(post).encode() for post in random_posts(90, seed=3)]


def blocks(size: int) -> Iterator[Block]:
    for start in range(0, len(LINES), size):
        yield Block(b"\n".join(LINES[start : start + size]) + b"\n", start + 1)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_come_in_the_order_of_the_blocks(threads: int) -> None:
    with Readers("part", "1GB", threads) as readers:
        whole = readers.read(next(blocks(len(LINES)))).posts.sort_by("number")
        found = [read.posts.sort_by("number").to_pylist() for read in readers.read_all(blocks(7))]
    assert [post for posts in found for post in posts] == whole.to_pylist()
    assert len(found) == 13
    assert set(whole["dump"].to_pylist()) == {"part"}


def test_no_more_blocks_are_asked_for_than_threads_can_read() -> None:
    asked = []

    def remembered() -> Iterator[Block]:
        for block in blocks(10):
            asked.append(block.first)
            yield block

    with Readers("part", "1GB", 2) as readers:
        found = readers.read_all(remembered())
        next(found)
        assert len(asked) == 3  # one is given, two are being read
        found.close()


def test_the_first_line_of_each_reason_is_named_and_all_are_counted() -> None:
    good = json.dumps(comment("a", "t1_b"))
    lines = [
        good,
        "?",
        "[]",
        "",
        "?",
        json.dumps(comment("a", "t1_b", body=7)),
        json.dumps(comment("a", "t1_b", id=None)),
    ]
    content = "\n".join(lines).encode() + b"\n\xff\n\xfe\n" + good.encode() + b"\n" + b"x" * (1 << 23)
    with Readers("part", "1GB", 1) as readers:
        read = readers.read(Block(content, 101))
    assert read.bad == {
        "from line 101 on: not UTF-8": ("not UTF-8", 2),
        "from line 101 on: too long a line": ("too long a line", 1),
        "line 102": ("not JSON", 2),
        "line 103": ("no object", 1),
        "line 106 (body)": ("wrong type", 2),
    }
    assert (read.lines, len(read.posts)) == (10, 2)
    assert read.posts["number"].to_pylist() == [101, 110]


def test_an_empty_block_gives_the_columns() -> None:
    with Readers("part", "1GB", 1) as readers:
        read = readers.read(Block(b"", 1))
        full = readers.read(Block(LINES[0], 1))
    assert (read.lines, read.bad, len(read.posts)) == (0, {}, 0)
    assert read.posts.schema == full.posts.schema
    assert "author" not in read.posts.schema.names


def test_memory_has_to_be_an_amount() -> None:
    with pytest.raises(OptionError, match=r"^--memory much: .*write it as 4GB$"):
        Readers("part", "much", 1)
