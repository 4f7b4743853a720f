"""Read dumps in blocks of whole lines, for an engine that reads many lines at once."""

from __future__ import annotations

import codecs
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.tasks.reddit.lines import LONGEST_LINE, READ_ERRORS, BrokenFileError, read_bytes

BLOCK = 1 << 20  # bytes: lines for about one vector of DuckDB, and small enough for a CPU cache


@dataclass(frozen=True)
class Block:
    """Consecutive whole lines of a dump.

    :param first: number of the first line, from 1.
    """

    content: bytes
    first: int

    @functools.cached_property
    def ends(self) -> NDArray[np.int64]:
        """Offsets after each line ending, ``(n,)``. The last line of a dump may have no line ending."""
        return np.flatnonzero(np.frombuffer(self.content, dtype=np.uint8) == ord("\n")) + 1


def read_blocks(path: Path, size: int = BLOCK, seen: Callable[[int], object] | None = None) -> Iterator[Block]:
    """Yield the blocks of a dump, in file order.

    :param size: approximate size of a block, in bytes.
    :param seen: called after each read with the number of bytes read from the (compressed) dump.
    :raises DataError: if the file cannot be opened.
    :raises BrokenFileError: naming file and line, if reading fails midway. All lines before it are yielded first.
    :raises MissingDependencyError: for a ``.zst`` file, if zstandard is not installed.
    """
    number = 1
    for content, failure in _whole_lines(read_bytes(path, seen), size):
        if content:
            yield (block := Block(content, number))
            number += len(block.ends)
        if failure:
            raise BrokenFileError(path, number, failure) from failure


def _whole_lines(pieces_of_file: Iterable[bytes], size: int) -> Iterator[tuple[bytes, Exception | None]]:
    """Yield pieces of the file that end with a line, and with the last one the error that ended the reading, if any."""
    pieces: list[bytes] = []
    length = 0
    try:
        for piece in pieces_of_file:
            pieces.append(piece)
            length += len(piece)
            if length >= size:
                content = b"".join(pieces)
                cut = content.rfind(b"\n") + 1
                rest = content[cut:] if cut else content[: LONGEST_LINE + 1]  # enough to see that it is too long
                pieces, length = [rest], len(rest)
                if cut:
                    yield content[:cut], None
    except READ_ERRORS as error:
        content = b"".join(pieces)
        yield content[: content.rfind(b"\n") + 1], error  # without the incomplete last line
        return
    yield b"".join(pieces), None


def lines_of(block: Block) -> Any:
    """Return the lines of a block, without copying them if all are valid.

    :returns: a pyarrow batch with ``number``, ``line``, and ``unreadable``: null, or why ``line`` is null.
    """
    import pyarrow

    content, ends = block.content, block.ends
    if not content.endswith(b"\n"):
        content += b"\n"
        ends = np.append(ends, len(content))
    begin = len(codecs.BOM_UTF8) if block.first == 1 and content.startswith(codecs.BOM_UTF8) else 0
    # Arrow's layout: a line begins where the previous one ends. Line endings are kept: to JSON they are white space.
    offsets = np.concatenate(([begin], ends)).astype(np.int32)
    lines = pyarrow.StringArray.from_buffers(len(ends), pyarrow.py_buffer(offsets), pyarrow.py_buffer(content))
    unreadable = pyarrow.nulls(len(ends), pyarrow.string())
    if np.diff(offsets).max() > LONGEST_LINE + 1 or not _is_text(content):  # including the line ending
        lines, unreadable = _one_by_one(content[begin:])
    numbers = pyarrow.array(np.arange(block.first, block.first + len(lines)))
    return pyarrow.record_batch([numbers, lines, unreadable], schema=lines_schema())


def lines_schema() -> Any:
    """Return the schema of :func:`lines_of`."""
    import pyarrow

    return pyarrow.schema([("number", "int64"), ("line", "string"), ("unreadable", "string")])


def _is_text(content: bytes) -> bool:
    """Whether a whole block is valid UTF-8. Then each line is too: no other character contains a line feed's byte."""
    import pyarrow

    offsets = pyarrow.py_buffer(np.array([0, len(content)], dtype=np.int32))
    try:
        pyarrow.StringArray.from_buffers(1, offsets, pyarrow.py_buffer(content)).validate(full=True)
    except pyarrow.ArrowInvalid:
        return False
    return True


def _one_by_one(content: bytes) -> tuple[Any, Any]:
    """Return the lines of a block, checked one by one, and why some of them are null: not UTF-8, or too long."""
    import pyarrow

    found: list[tuple[str | None, str | None]] = []
    for line in content[:-1].split(b"\n"):
        if len(line) > LONGEST_LINE:
            found.append((None, "too long a line"))
            continue
        try:
            found.append((line.decode("utf-8"), None))
        except UnicodeDecodeError:
            found.append((None, "not UTF-8"))
    lines, reasons = zip(*found, strict=True)
    return pyarrow.array(lines, pyarrow.string()), pyarrow.array(reasons, pyarrow.string())
