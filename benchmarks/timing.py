"""Helpers of the benchmarks: time calls, and compare two implementations."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

ROUNDS = 5
"""How often each variant is run."""


def now() -> float:
    """Return the clock in seconds, after waiting for the GPU to finish its work."""
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
    return time.perf_counter()


def seconds(run: Callable[[], object]) -> float:
    """Return the duration of a call in seconds."""
    begin = now()
    run()
    return now() - begin


@dataclass(frozen=True)
class Comparison:
    """Durations in seconds of two implementations, which were timed alternately.

    :param theirs: of the alternative.
    :param ours: of this package.
    """

    theirs: list[float]
    ours: list[float]

    @property
    def ratios(self) -> list[float]:
        """The speed-up of ours over theirs in each round."""
        return [one / other for one, other in zip(self.theirs, self.ours, strict=True)]

    def line(self, what: str, count: float, unit: str) -> str:
        """Format the rates, and the median, lowest and highest ratio.

        :param count: how many ``unit`` one call processes.
        """
        theirs, ours = (count / statistics.median(times) for times in (self.theirs, self.ours))
        spread = f"{min(self.ratios):.1f} to {max(self.ratios):.1f}"
        rates = f"{theirs:12,.1f} {unit}/s, ours {ours:12,.1f}"
        return f"{what:24} {rates}: {statistics.median(self.ratios):7.1f} times ({spread})"


def compare(theirs: Callable[[], object], ours: Callable[[], object]) -> Comparison:
    """Time both alternately; the caller should have warmed them up."""
    return compare_each(theirs, [ours])[0]


def compare_each(theirs: Callable[[], object], ours: Sequence[Callable[[], object]]) -> list[Comparison]:
    """Time the alternative and each of our variants in turn; return one comparison per variant."""
    times = [[seconds(run) for run in (theirs, *ours)] for _ in range(ROUNDS)]
    alternative, *variants = (list(each) for each in zip(*times, strict=True))
    return [Comparison(alternative, variant) for variant in variants]
