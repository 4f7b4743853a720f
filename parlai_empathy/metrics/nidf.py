"""NIDF: how rare the words of a reply are, from 0 for the most common word to 1 for the rarest (See et al. 2019, 5.3).

A word that occurs in ``c`` of a corpus's texts has the inverse document frequency ``log(texts / c)``; normalised, it is
``(log c_max - log c) / (log c_max - log c_min)``. A reply's value is the mean over its words. (The code published for
EmpGPT-3, Lee et al. 2022, takes the maximum instead of the mean, while the figures in the paper match the mean.)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from parlai_empathy.errors import NotComputableError, OptionError

KINDS: dict[str, Callable[[Sequence[float]], float]] = {"mean": fmean, "max": max}
"""How the words' values are aggregated."""


class Nidf:
    """The document frequencies of a corpus's words.

    :param counts: the number of texts in which each word occurs, at least 1.
    :param source: the corpus's name, for signatures.
    :raises NotComputableError: if all words are equally common.
    """

    def __init__(self, counts: Mapping[str, int], source: str) -> None:
        if len(set(counts.values())) < 2:
            raise NotComputableError(f"NIDF: all words of {source} are equally common: use more texts")
        self.source = source
        self._counts = counts
        self._max_log, self._min_log = math.log(max(counts.values())), math.log(min(counts.values()))

    @classmethod
    def of_texts(cls, texts: Iterable[Sequence[str]], source: str) -> Nidf:
        """Count the words of tokenised texts."""
        return cls(Counter(word for words in texts for word in set(words)), source)

    def of_word(self, word: str) -> float | None:
        """Return a word's value, 0..1; None if it is not in the corpus."""
        count = self._counts.get(word)
        return None if count is None else (self._max_log - math.log(count)) / (self._max_log - self._min_log)

    def of(self, words: Sequence[str], kind: str = "mean") -> float | None:
        """Return a reply's value, 0..1; None if none of its words is in the corpus.

        :param kind: one of :data:`KINDS`.
        :raises OptionError: if it is another one.
        """
        if kind not in KINDS:
            raise OptionError(f"NIDF's kind {kind}: must be one of {', '.join(KINDS)}")
        known = [value for word in words if (value := self.of_word(word)) is not None]
        return KINDS[kind](known) if known else None
