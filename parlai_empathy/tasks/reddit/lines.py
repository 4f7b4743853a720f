"""The lines of a file, packed or not. Never more of it is in memory than a block, or a line, at a time."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tqdm.utils import CallbackIOWrapper

from parlai_empathy.errors import DataError, MissingDependencyError

LONGEST_LINE = 1 << 22  # bytes; a comment has at most 10,000 characters, a submission 40,000
_BLOCK = 1 << 16  # bytes
_PACKED_BLOCK = 1 << 13  # bytes; of zstandard, which may make some thousand times as many of them
_OPENERS: dict[str, Callable[..., Any]] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
READ_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error)
"""What is raised where a file cannot be read on."""
_WIDEST_WINDOW = 1 << 31  # bytes; the dumps are packed with --long=31, which the decoder refuses unless told


class BrokenFileError(DataError):
    """A file ends early, or cannot be read on: what could be read of it has come before.

    :param line: the number of the line that cannot be read; 1 if no line can.
    """

    def __init__(self, path: Path, line: int, cause: Exception) -> None:
        place = f"{path}, line {line}" if line > 1 else str(path)
        super().__init__(f"{place}: it cannot be read on ({_reason(cause)}); fetch the file again")


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).split("\n")[0]


def read_lines(path: str | Path) -> Iterator[tuple[int, bytes | None]]:
    """The lines of a ``.zst``, ``.bz2``, ``.gz`` or ``.xz`` file, or of one that is not packed, each with its number.

    :returns: None in place of a line that is longer than any post can be.
    :raises DataError: if the file cannot be opened.
    :raises BrokenFileError: naming file and line, if it cannot be read on.
    :raises MissingDependencyError: for a ``.zst`` file without the library zstandard.
    """
    path, number = Path(path), 0
    try:
        for number, line in enumerate(_split(read_bytes(path)), start=1):
            yield number, line
    except READ_ERRORS as error:
        raise BrokenFileError(path, number + 1, error) from error


def _split(blocks: Iterable[bytes]) -> Iterator[bytes | None]:
    rest, too_long = b"", False
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield None if too_long or len(line) > LONGEST_LINE else line
            too_long = False
        if len(rest) > LONGEST_LINE:
            rest, too_long = b"", True
    if rest or too_long:
        yield None if too_long else rest


def read_bytes(path: Path, seen: Callable[[int], object] | None = None) -> Iterator[bytes]:
    """A file's content, unpacked, piece by piece.

    :param seen: told of how many bytes of the file, as it is packed, each time that some were read.
    :raises DataError: if it cannot be opened.
    :raises OSError: or another of :data:`READ_ERRORS`, where it cannot be read on.
    :raises MissingDependencyError: for a ``.zst`` file without the library zstandard.
    """
    try:
        packed = path.open("rb")
    except OSError as error:
        raise DataError(f"{path} cannot be opened ({_reason(error)}): make it readable, or leave it out") from error
    with packed:
        file: Any = CallbackIOWrapper(seen, packed, "read") if seen else packed
        if path.suffix == ".zst":
            yield from _unpacked(file)
        elif path.suffix in _OPENERS:
            file = _OPENERS[path.suffix](file)
            yield from iter(lambda: file.read1(_BLOCK), b"")  # read would keep what comes before an error
        else:
            yield from iter(lambda: file.read(_BLOCK), b"")


def _unpacked(file: Any) -> Iterator[bytes]:
    """The frames of a zstandard file. Unlike the library's own reader this does not take a cut file for a whole one."""
    try:
        import zstandard
    except ImportError as error:
        raise MissingDependencyError(
            '.zst dumps need zstandard: run pip install "parlai-empathy[reddit]", or unpack them first'
        ) from error
    frame = None
    try:
        while packed := file.read(_PACKED_BLOCK):
            while packed:
                frame = frame or zstandard.ZstdDecompressor(max_window_size=_WIDEST_WINDOW).decompressobj()
                yield frame.decompress(packed)
                packed = frame.unused_data if frame.eof else b""
                frame = None if frame.eof else frame
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from error
    if frame:
        raise EOFError("it ends in the middle")
