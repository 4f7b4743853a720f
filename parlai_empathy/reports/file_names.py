"""File names for the parts of a report, made from their titles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count

_LONGEST = 60  # characters of a file name without its extension
_MOST = 180  # bytes of the same: file systems allow 255, and an unfinished file has a longer name


def file_names(titles: Sequence[str], ending: str, otherwise: str) -> Iterator[str]:
    """Yield a file name for each title; all are distinct, even on case-insensitive file systems.

    :param ending: the file extension, with its dot.
    :param otherwise: the name for a title without letters or digits.
    """
    taken = set()
    for title in titles:
        plain = re.sub(r"[\W_]+", "_", title.lower())[:_LONGEST]
        plain = plain.encode()[:_MOST].decode(errors="ignore").strip("_") or otherwise
        name = next(name for n in count(1) if (name := plain if n == 1 else f"{plain}_{n}") not in taken)
        taken.add(name)
        yield f"{name}{ending}"
