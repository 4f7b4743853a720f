"""Dumps as blocks of whole lines, for an engine that reads many at once."""

from __future__ import annotations

import codecs
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.reddit.lines import LONGEST_LINE, read_bytes

BLOCK = 3 << 24  # bytes of lines that are read together: some 90,000 comments, so that planning a query costs little


@dataclass(frozen=True)
class Block:
    """Whole lines as they stand in a dump.

    :param first: the number of the first of them, from 1.
    """

    content: bytes
    first: int


@dataclass(frozen=True)
class Lines:
    """The lines of a block.

    :param texts: a pyarrow array of strings. A line that is no text, or longer than any post can be, is null.
    :param not_utf8: how many lines are null because they are not UTF-8.
    :param too_long: how many lines are null because of their length.
    """

    texts: Any
    not_utf8: int = 0
    too_long: int = 0


def read_blocks(path: Path, size: int = BLOCK) -> Iterator[Block]:
    """The blocks of a dump, in its order.

    :param size: about how many bytes of lines a block holds.
    :raises DataError: naming file and line, if the file cannot be read (on). What can be read has come before.
    :raises MissingDependencyError: for a ``.zst`` file without the library zstandard.
    """
    number = 1
    for content, failure in _whole_lines(path, size):
        if content:
            yield Block(content, number)
            number += content.count(b"\n")
        if failure:
            reason = (getattr(failure, "strerror", None) or str(failure)).split("\n")[0]
            place = f"{path}, line {number}" if number > 1 else str(path)
            raise DataError(f"{place}: it cannot be read on ({reason}); fetch the file again") from failure


def _whole_lines(path: Path, size: int) -> Iterator[tuple[bytes, Exception | None]]:
    """The file in pieces that end with a line, and what ended the reading early."""
    pieces: list[bytes] = []
    length = 0
    try:
        for piece in read_bytes(path):
            pieces.append(piece)
            length += len(piece)
            if length >= size:
                content = b"".join(pieces)
                cut = content.rfind(b"\n") + 1
                rest = content[cut:] if cut else content[: LONGEST_LINE + 1]  # as much as shows that it is too long
                pieces, length = [rest], len(rest)
                if cut:
                    yield content[:cut], None
    except (OSError, EOFError, lzma.LZMAError) as error:
        content = b"".join(pieces)
        yield content[: content.rfind(b"\n") + 1], error  # what follows is the beginning of a line
        return
    yield b"".join(pieces), None


def lines_of(block: Block) -> Lines:
    """The lines of a block, without a copy where all of them are texts."""
    import pyarrow

    content = block.content.removeprefix(codecs.BOM_UTF8) if block.first == 1 else block.content
    if not content.endswith(b"\n"):
        content += b"\n"
    ends = np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == ord("\n")) + 1
    # Arrow's own layout: a line begins where the one before it ends. The line ends stay: to JSON they are white space.
    offsets = np.concatenate(([0], ends)).astype(np.int32)
    if np.diff(offsets).max() <= LONGEST_LINE + 1:  # with the line end
        texts = pyarrow.StringArray.from_buffers(len(ends), pyarrow.py_buffer(offsets), pyarrow.py_buffer(content))
        try:
            texts.validate(full=True)
        except pyarrow.ArrowInvalid:
            return _one_by_one(content)
        return Lines(texts)
    return _one_by_one(content)


def _one_by_one(content: bytes) -> Lines:
    """The lines of a block, each looked at: one of them is no text, or too long."""
    import pyarrow

    found: list[str | None] = []
    not_utf8 = too_long = 0
    for line in content[:-1].split(b"\n"):
        text = None
        if len(line) > LONGEST_LINE:
            too_long += 1
        else:
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                not_utf8 += 1
        found.append(text)
    return Lines(pyarrow.array(found, pyarrow.string()), not_utf8, too_long)
