"""Tells what a model has written so far, and nothing of it that may have to be taken back.

A stop text ends an answer and is no part of it, and it may come in several pieces: ``Hum`` is shown only when what
follows makes sure that it does not begin ``Human:``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

Say = Callable[[str], None]
"""Is told what there is of an answer, whenever there is more. Each text begins with the one before it."""

# What stands for the first part of a character whose rest is not written yet: of its bytes, or of UTF-16's two halves.
_UNFINISHED = re.compile("[\ufffd\ud800-\udbff]+$")


def certain_part(text: str, stop: Sequence[str]) -> str:
    """The beginning of an unfinished text that belongs to the answer, whatever follows.

    :param text: what is written so far.
    :param stop: texts before which the answer ends.
    :returns: the text before the first place where a stop text begins, or may begin.
    """
    places = (_place(text, one) for one in stop)
    return text[: min(places, default=len(text))]


def _place(text: str, stop: str) -> int:
    """Where a stop text stands first, all of it or, at the very end, its beginning."""
    place = text.find(stop)
    if place >= 0:
        return place
    ends = range(max(0, len(text) - len(stop) + 1), len(text))
    return next((place for place in ends if stop.startswith(text[place:])), len(text))


class Teller:
    """Tells one answer while it grows.

    :param say: gets the answer so far, whenever it has become longer; not as long as it is spaces alone.
    :param stop: texts before which the answer ends.
    """

    def __init__(self, say: Say, stop: Sequence[str] = ()) -> None:
        self._say = say
        self._stop = stop
        self.told = ""
        """What was said last; empty if nothing was."""

    def tell(self, text: str) -> None:
        """Say what is certain of a text, if it is more than was said.

        :param text: all that is written so far, not only what is new.
        """
        certain = _UNFINISHED.sub("", certain_part(text, self._stop))
        if len(certain) > len(self.told) and certain.startswith(self.told) and certain.strip():
            self.told = certain
            self._say(certain)
