"""Read users' text files with one-line error messages, and make any string encodable as UTF-8."""

from __future__ import annotations

import io
from pathlib import Path

from parlai_empathy.errors import DataError
from parlai_empathy.files.user_path import user_path


def is_file(path: str | Path) -> bool:
    """Whether ``path`` is an existing file. A string that cannot be a path, such as one that is too long, is not."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def read_text(path: str | Path, expected: str) -> str:
    """Return a file's text. Line endings are preserved; a byte order mark at the beginning is removed.

    :param expected: what the file should be, for the error message: "it should be a file of ratings".
    :raises DataError: naming the file if it cannot be read, and also the line if it is not UTF-8.
    """
    try:
        return user_path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): {expected}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        wrong = error.object[error.start : error.end]
        raise DataError(f"{path}, line {line}: {wrong!r} is not UTF-8: save the file as UTF-8") from error


def open_text(path: str | Path, expected: str) -> io.StringIO:
    """Return the text of :func:`read_text` as a file object, for example for :mod:`csv`.

    :raises DataError: as :func:`read_text`.
    """
    return io.StringIO(read_text(path, expected), newline="")


def has_half_characters(text: str) -> bool:
    """Whether the text has unpaired surrogates. JSON can contain them, but they cannot be encoded as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def as_unicode(text: str) -> str:
    """Return the text with unpaired surrogates replaced by ``?``, so that it can be encoded as UTF-8.

    Surrogates come from invalid terminal input, and from file names that are not UTF-8.
    """
    return text.encode("utf-8", "replace").decode("utf-8")
