"""Blocks of whole lines: files with any content, and archives that are truncated, damaged or empty."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_dumps import PACKERS

from parlai_empathy.curation import blocks
from parlai_empathy.curation.blocks import Block, lines_of, read_blocks
from parlai_empathy.errors import DataError
from parlai_empathy.tasks.reddit import lines as reading
from parlai_empathy.tasks.reddit.lines import LONGEST_LINE, read_lines

OneLine = Callable[..., None]
SHORT = 12  # bytes: the maximum length of a line in tests that lower the limit
TEXT = b"".join(b"line %d %s\n" % (n, b"x" * (n % 90)) for n in range(3_000))


def found_in(path: Path, size: int) -> Iterator[tuple[int, str | None]]:
    """Yield the numbers and lines of a dump, from its blocks."""
    for block in read_blocks(path, size):
        rows = lines_of(block).to_pylist()
        assert all((row["line"] is None) == (row["unreadable"] is not None) for row in rows)
        yield from ((row["number"], row["line"]) for row in rows)


def text_of(line: bytes | None) -> str | None:
    """Return a line as text, or None if it is not UTF-8."""
    try:
        return None if line is None else line.decode("utf-8")
    except UnicodeDecodeError:
        return None


def without_end(line: str | None) -> str | None:
    """Remove the line feed with which a block's line may end."""
    return line if line is None else line.removesuffix("\n")


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([b"\n", b"a", b"{}", b"\r\n", b"\xc3\xa9", b"\xff", b"\0", b" ", b"0123456789"])),
    st.integers(1, 40),
    st.integers(1, 9),
)
def test_block_lines_match_read_lines(pieces: list[bytes], size: int, step: int) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(blocks, "LONGEST_LINE", SHORT),
        patch.object(reading, "LONGEST_LINE", SHORT),
        patch.object(reading, "_BLOCK", step),
    ):
        (path := Path(folder, "a.jsonl")).write_bytes(b"".join(pieces))
        expected = [(number, text_of(line)) for number, line in read_lines(path)]
        found = [(number, without_end(line)) for number, line in found_in(path, size)]
        assert found[: len(expected)] == expected
        assert all(not line for _, line in found[len(expected) :])  # only an empty rest after the last line feed


@settings(deadline=None)
@given(st.binary(max_size=60), st.booleans())
def test_arbitrary_bytes_are_split_into_lines(content: bytes, is_first: bool) -> None:
    lines = lines_of(Block(content, 1 if is_first else 7))
    body = content.removeprefix(b"\xef\xbb\xbf") if is_first else content
    expected = (body if body.endswith(b"\n") else body + b"\n").split(b"\n")[:-1]
    assert [without_end(line) for line in lines["line"].to_pylist()] == [text_of(line) for line in expected]
    reasons = [None if text_of(line) is not None else "not UTF-8" for line in expected]
    assert lines["unreadable"].to_pylist() == reasons


@pytest.mark.parametrize("length", [LONGEST_LINE, LONGEST_LINE + 1, 5 * LONGEST_LINE])
@pytest.mark.parametrize("ending", [b"", b"\n"])
def test_lines_over_four_mebibytes_are_unreadable(tmp_path: Path, length: int, ending: bytes) -> None:
    (path := tmp_path / "a.jsonl").write_bytes(b"first\n" + b"x" * length + b"\nlast" + ending)
    first, middle, last = (row for block in read_blocks(path) for row in lines_of(block).to_pylist())
    assert (without_end(first["line"]), without_end(last["line"])) == ("first", "last")
    assert (middle["line"] is None) == (length > LONGEST_LINE)
    assert middle["unreadable"] == ("too long a line" if length > LONGEST_LINE else None)


@pytest.mark.parametrize("ending", [".bz2", ".gz", ".xz", ".zst", ".jsonl"])
@pytest.mark.parametrize("size", [1, 1_000, 1 << 24])
def test_blocks_of_all_formats_hold_whole_lines(tmp_path: Path, ending: str, size: int) -> None:
    (path := tmp_path / f"a{ending}").write_bytes(PACKERS.get(ending, bytes)(TEXT))
    found = list(read_blocks(path, size))
    assert b"".join(block.content for block in found) == TEXT
    assert all(block.content.endswith(b"\n") for block in found)
    assert [block.first for block in found] == [1 + TEXT[: TEXT.index(b.content)].count(b"\n") for b in found]
    assert len(found) == 1 or size < len(TEXT)


@pytest.mark.parametrize("ending", [".bz2", ".gz", ".xz", ".zst"])
def test_truncated_archive_yields_whole_lines_before_the_error(
    tmp_path: Path, ending: str, assert_one_line: OneLine
) -> None:
    content = TEXT * 20
    packed = PACKERS[ending](content)
    (path := tmp_path / f"a{ending}").write_bytes(packed[: len(packed) * 2 // 3])
    found: list[Block] = []
    with pytest.raises(DataError) as caught:
        found.extend(read_blocks(path, 1_000))
    read = b"".join(block.content for block in found)
    assert content.startswith(read)
    assert read == b"" or read.endswith(b"\n")
    place = f"{path}, line {read.count(bytes([10])) + 1}" if read else str(path)
    assert_one_line(caught.value, f"{place}: reading failed", "fetch the file again")


@pytest.mark.parametrize("ending", [".bz2", ".gz", ".xz", ".zst"])
@pytest.mark.parametrize("content", [b"no archive at all", b"\x28\xb5\x2f\xfd" + b"\xff" * 40, b"BZh9" + b"\0" * 40])
def test_invalid_archive_raises_data_error(
    tmp_path: Path, ending: str, content: bytes, assert_one_line: OneLine
) -> None:
    (path := tmp_path / f"a{ending}").write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(read_blocks(path))
    assert_one_line(caught.value, f"{path}: reading failed")


@pytest.mark.parametrize("ending", [".bz2", ".gz", ".xz", ".zst", ".jsonl"])
def test_empty_dump_has_no_blocks(tmp_path: Path, ending: str) -> None:
    (path := tmp_path / f"a{ending}").write_bytes(PACKERS.get(ending, bytes)(b""))
    assert list(read_blocks(path)) == []


def test_missing_file_error_names_the_file(tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        list(read_blocks(tmp_path / "gone.jsonl"))
    assert_one_line(caught.value, str(tmp_path / "gone.jsonl"), "No such file")
