"""Texts that people bring: a file is found and read whole, or one line says what is wrong; a text can be written."""

from __future__ import annotations

import io
from pathlib import Path

from parlai_empathy.errors import DataError


def is_file(path: str | Path) -> bool:
    """Whether there is such a file. A text that can be no path, such as one that is too long for it, names none."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def read_text(path: str | Path, expected: str) -> str:
    """A file's text, with its ends of lines as they are; a mark of the byte order at its beginning is left out.

    :param expected: what the file should be, for who names another: "it should be a file of ratings".
    :raises DataError: naming the file, and the line of what is not UTF-8.
    """
    try:
        return Path(path).expanduser().read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): {expected}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        wrong = error.object[error.start : error.end]
        raise DataError(f"{path}, line {line}: {wrong!r} is not UTF-8: save the file as UTF-8") from error


def open_text(path: str | Path, expected: str) -> io.StringIO:
    """The same as a file, such as :mod:`csv` reads.

    :raises DataError: as :func:`read_text`.
    """
    return io.StringIO(read_text(path, expected), newline="")


def has_half_characters(text: str) -> bool:
    """Whether the text has halves of characters, as JSON can spell them: no file, terminal or model takes them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def as_unicode(text: str) -> str:
    """A text that can be written as UTF-8. Half characters become ``?``: a terminal's broken input
    leaves some, and so does Python of the bytes in a file's name that are no UTF-8.
    """
    return text.encode("utf-8", "replace").decode("utf-8")
