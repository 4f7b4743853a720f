"""AVG BLEU: the mean of corpus BLEU-1 to BLEU-4 (Rashkin et al. 2019, section 5.1; Papineni et al. 2002).

One reference, brevity penalty, no smoothing, case-sensitive, on the model's own tokens. ParlAI's ``bleu-4`` is the mean
of smoothed sentence-level BLEU: the two are not comparable.
"""

from __future__ import annotations

import functools
import math
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from parlai.core.metrics import Metric

from parlai_empathy.errors import NotComputableError
from parlai_empathy.signature import signature

MAX_ORDER = 4


@dataclass(frozen=True)
class BleuStatistics:
    """The counts that corpus BLEU is computed from; those of several replies are added.

    :param matches: for n = 1..4 the number of n-grams that the reference also has, clipped to its counts.
    :param totals: for n = 1..4 the number of n-grams of the reply.
    """

    matches: tuple[int, ...]
    totals: tuple[int, ...]
    reply_length: int
    reference_length: int

    def __add__(self, other: BleuStatistics) -> BleuStatistics:
        return BleuStatistics(
            tuple(map(sum, zip(self.matches, other.matches, strict=True))),
            tuple(map(sum, zip(self.totals, other.totals, strict=True))),
            self.reply_length + other.reply_length,
            self.reference_length + other.reference_length,
        )


def bleu_statistics(reply: Sequence[str], reference: Sequence[str], *others: Sequence[str]) -> BleuStatistics:
    """Count the n-grams of a tokenised reply and their matches with its reference.

    :param others: further references, if any. Each n-gram is then clipped to its highest count in any reference; the
        reference length is the one closest to the reply's, or the shorter of two (Papineni et al. 2002).
    """
    references = [reference, *others]
    matches, totals = [], []
    for n in range(1, MAX_ORDER + 1):
        counted, allowed = _ngrams(reply, n), _max_counts(_ngrams(tokens, n) for tokens in references)
        matches.append((counted & allowed).total())
        totals.append(counted.total())
    closest = min(map(len, references), key=lambda length: (abs(length - len(reply)), length))
    return BleuStatistics(tuple(matches), tuple(totals), len(reply), closest)


def _max_counts(counters: Iterable[Counter[tuple[str, ...]]]) -> Counter[tuple[str, ...]]:
    """Return the highest count of each n-gram in any of the counters."""
    return functools.reduce(operator.or_, counters)


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def corpus_bleu(statistics: BleuStatistics, order: int) -> float:
    """Return corpus BLEU up to ``order``-grams, 0..100; 0 if no n-gram of some order matches.

    :raises NotComputableError: if all references are empty.
    """
    if statistics.reference_length == 0:
        raise NotComputableError("BLEU: all references are empty")
    if min(statistics.matches[:order]) == 0:
        return 0.0
    logs = [math.log(m / t) for m, t in zip(statistics.matches[:order], statistics.totals[:order], strict=True)]
    shortness = min(0.0, 1 - statistics.reference_length / statistics.reply_length)
    return 100 * math.exp(shortness + sum(logs) / order)


def avg_bleu(statistics: BleuStatistics) -> float:
    """Return the mean of corpus BLEU-1, -2, -3 and -4, 0..100."""
    return sum(corpus_bleu(statistics, order) for order in range(1, MAX_ORDER + 1)) / MAX_ORDER


class AvgBleu(Metric):
    """AVG BLEU of the replies accumulated so far.

    :param tokens: the tokeniser's name, for the signature.
    :param pool: the pool from which the replies were chosen, for the signature.
    :param case: ``kept``, or ``lower`` if both sides were lower-cased, for the signature.
    :param decoding: how the replies were generated, for the signature.
    """

    __slots__ = ("case", "decoding", "n", "pool", "split", "statistics", "tokens")

    def __init__(
        self,
        statistics: BleuStatistics,
        tokens: str,
        n: int = 1,
        pool: str | None = None,
        split: str | None = None,
        case: str = "kept",
        decoding: str | None = None,
    ) -> None:
        self.statistics = statistics
        self.n = n
        self.tokens = tokens
        self.pool = pool
        self.split = split
        self.case = case
        self.decoding = decoding

    def __add__(self, other: AvgBleu | None) -> AvgBleu:
        if other is None:
            return self
        return AvgBleu(
            self.statistics + other.statistics,
            self.tokens,
            self.n + other.n,
            self.pool,
            self.split,
            self.case,
            self.decoding,
        )

    @property
    def macro_average(self) -> bool:
        """Whether several tasks are reported as the mean of their values."""
        return True

    def value(self) -> float:
        """0..100"""
        return avg_bleu(self.statistics)

    @property
    def signature(self) -> str:
        """How the number was computed."""
        return signature(
            "AVG BLEU",
            orders="1-4",
            smoothing="none",
            case=self.case,
            tokens=self.tokens,
            references=1,
            pool=self.pool,
            decoding=self.decoding,
            n=self.n,
            split=self.split,
        )
