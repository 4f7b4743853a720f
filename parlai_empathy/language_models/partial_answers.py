"""Reports a model's partial answers, and never any text that may have to be withdrawn.

A stop text ends an answer without being part of it, and it may arrive in several pieces: ``Hum`` is reported only once
the text after it shows that it does not begin ``Human:``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from parlai_empathy.files.text_file import as_unicode
from parlai_empathy.language_models.thoughts import without_thoughts

Say = Callable[[str], None]
"""Called with the answer so far whenever it grows. Each text begins with the previous one."""

# An incomplete character at the end: U+FFFD for the first of its bytes, or the first half of a surrogate pair.
_UNFINISHED = re.compile(r"[\ufffd\ud800-\udbff]+\Z")


def final_prefix(text: str, stop: Sequence[str]) -> str:
    """Return the prefix of an unfinished text that belongs to the answer, whatever follows.

    :param text: the text so far.
    :param stop: the texts that end the answer.
    :returns: the text before the first place where a stop text begins, or may begin.
    """
    places = (_place(text, one) for one in stop)
    return text[: min(places, default=len(text))]


def _place(text: str, stop: str) -> int:
    """Return the first position of a stop text, or of a prefix of it at the end of the text; else the text's length."""
    place = text.find(stop)
    if place >= 0:
        return place
    ends = range(max(0, len(text) - len(stop) + 1), len(text))
    return next((place for place in ends if stop.startswith(text[place:])), len(text))


class PartialAnswers:
    """Reports one answer while it grows.

    :param say: called with the answer so far whenever it grows, but not while the model thinks, nor while the answer is
        only whitespace.
    :param stop: the texts that end the answer.
    """

    def __init__(self, say: Say, stop: Sequence[str] = ()) -> None:
        self._say = say
        self._stop = stop
        self.reported = ""
        """The text last passed to ``say``; empty before the first call."""

    def report(self, text: str) -> None:
        """Pass the final part of a text to ``say`` if it is longer than the last one.

        :param text: the whole text so far, not only its new part.
        """
        answer = final_prefix(without_thoughts(text) or "", self._stop)
        self.grow(as_unicode(_UNFINISHED.sub("", answer)))  # as in the final answer

    def grow(self, final: str) -> None:
        """Pass a part of the final answer to ``say`` if it is longer than the last one."""
        if len(final) > len(self.reported) and final.startswith(self.reported) and final.strip():
            self.reported = final
            self._say(final)
