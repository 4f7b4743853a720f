"""What the files of a report are called, each after its title."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count

_LONGEST = 60  # letters of a file's name, its ending apart: 255 bytes are the most that file systems take


def file_names(titles: Sequence[str], ending: str, otherwise: str) -> Iterator[str]:
    """A file's name for each title, all different, also where a disk does not tell ``A`` from ``a``.

    :param ending: of all of them, with its dot.
    :param otherwise: what a file is called whose title has no letter.
    """
    taken = set()
    for title in titles:
        plain = re.sub(r"[\W_]+", "_", title.lower())[:_LONGEST].strip("_") or otherwise
        name = next(name for n in count(1) if (name := plain if n == 1 else f"{plain}_{n}") not in taken)
        taken.add(name)
        yield f"{name}{ending}"
