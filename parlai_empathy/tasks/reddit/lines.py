"""Read the lines of a file, compressed or not, with at most a block or a line in memory at a time."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tqdm.utils import CallbackIOWrapper

from parlai_empathy.errors import DataError, MissingDependencyError

LONGEST_LINE = 1 << 22  # bytes; a comment has at most 10,000 characters, a submission 40,000
_BLOCK = 1 << 16  # bytes
_PACKED_BLOCK = 1 << 13  # compressed bytes; zstandard may expand them some thousand times
READ_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error)
"""The exceptions that are raised if reading a file fails midway."""
_WIDEST_WINDOW = 1 << 31  # bytes; the dumps are compressed with --long=31, which decoders reject by default


class BrokenFileError(DataError):
    """A file is truncated or damaged. The readable lines before the error have been yielded.

    :param line: the number of the line that cannot be read; 1 if no line can.
    """

    def __init__(self, path: Path, line: int, cause: Exception) -> None:
        place = f"{path}, line {line}" if line > 1 else str(path)
        super().__init__(f"{place}: reading failed ({_reason(cause)}); fetch the file again")


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).split("\n")[0]


def read_lines(path: str | Path) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines of a ``.zst``, ``.bz2``, ``.gz``, ``.xz`` or uncompressed file, each with its number.

    :returns: None in place of a line that is longer than any post can be.
    :raises DataError: if the file cannot be opened.
    :raises BrokenFileError: naming file and line, if reading fails midway.
    :raises MissingDependencyError: for a ``.zst`` file, if zstandard is not installed.
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
    """Yield a file's decompressed content, piece by piece.

    :param seen: called after each read with the number of bytes read from the (compressed) file.
    :raises DataError: if it cannot be opened.
    :raises OSError: or another of :data:`READ_ERRORS`, if reading fails midway.
    :raises MissingDependencyError: for a ``.zst`` file, if zstandard is not installed.
    """
    try:
        packed = path.open("rb")
    except OSError as error:
        raise DataError(f"{path} cannot be opened ({_reason(error)}): make it readable, or leave it out") from error
    with packed:
        file: Any = CallbackIOWrapper(seen, packed, "read") if seen else packed
        if path.suffix == ".zst":
            yield from _zstd_unpacked(file)
        elif path.suffix == ".bz2":
            yield from _unpacked(file, bz2.BZ2Decompressor)
        elif path.suffix == ".xz":
            yield from _unpacked(file, partial(lzma.LZMADecompressor, lzma.FORMAT_XZ), padding=b"\0")
        elif path.suffix == ".gz":
            with gzip.open(file) as unpacked:
                yield from iter(lambda: unpacked.read1(_BLOCK), b"")  # read would lose the data before an error
            if not packed.tell():
                raise EOFError("the file is empty")  # which gzip accepts
        else:
            yield from iter(lambda: file.read(_BLOCK), b"")


def _zstd_unpacked(file: Any) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError as error:
        raise MissingDependencyError(
            '.zst dumps need zstandard: run pip install "parlai-empathy[reddit]", or unpack them first'
        ) from error
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WIDEST_WINDOW)
    try:
        yield from _unpacked(file, unpacker.decompressobj, lambda frame, packed: [frame.decompress(packed)])
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from error


def _in_parts(frame: Any, packed: bytes) -> Iterator[bytes]:
    """Decompress the next bytes of a frame in parts: a single call would lose the data before an error."""
    yield frame.decompress(packed, _BLOCK)
    while not (frame.eof or frame.needs_input):
        yield frame.decompress(b"", _BLOCK)


def _unpacked(
    file: Any,
    new_frame: Callable[[], Any],
    decompress: Callable[[Any, bytes], Iterable[bytes]] = _in_parts,
    padding: bytes = b"",
) -> Iterator[bytes]:
    """Decompress a file's frames. Unlike the libraries' own readers, this detects truncated and damaged files.

    That of zstandard accepts truncated files; those of bz2 and lzma ignore everything behind an invalid frame, and that
    of lzma also what is behind padding.

    :param decompress: yields what a frame makes of the next bytes.
    :param padding: the byte that may fill the space behind a frame, if the format allows it.
    """
    frame = new_frame()
    while packed := file.read(_PACKED_BLOCK):
        while packed := packed.lstrip(padding if frame.eof else b""):
            frame = new_frame() if frame.eof else frame
            yield from decompress(frame, packed)
            packed = frame.unused_data
    if not frame.eof:
        raise EOFError("the file is truncated")
