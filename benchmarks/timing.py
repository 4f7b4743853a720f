"""What the benchmarks share: how long calls take, and how two ways to do the same compare."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

ROUNDS = 5
"""How often each way is run."""


def now() -> float:
    """Seconds on a clock, when a GPU has done all that it was asked for."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter()


def seconds(run: Callable[[], object]) -> float:
    """How long a call takes."""
    begin = now()
    run()
    return now() - begin


@dataclass(frozen=True)
class Comparison:
    """Seconds that two ways took, each time one right after the other.

    :param theirs: of the alternative.
    :param ours: of this package.
    """

    theirs: list[float]
    ours: list[float]

    @property
    def ratios(self) -> list[float]:
        """How many times as fast ours was in each round."""
        return [one / other for one, other in zip(self.theirs, self.ours, strict=True)]

    def line(self, what: str, count: float, unit: str) -> str:
        """Rates, the median ratio, and its least and greatest value.

        :param count: how many ``unit`` one call is.
        """
        theirs, ours = (count / statistics.median(times) for times in (self.theirs, self.ours))
        spread = f"{min(self.ratios):.1f} to {max(self.ratios):.1f}"
        rates = f"{theirs:12,.1f} {unit}/s, ours {ours:12,.1f}"
        return f"{what:24} {rates}: {statistics.median(self.ratios):7.1f} times ({spread})"


def compare(theirs: Callable[[], object], ours: Callable[[], object]) -> Comparison:
    """Run both in turns; what a first call alone has to do should have been done before."""
    times = [(seconds(theirs), seconds(ours)) for _ in range(ROUNDS)]
    return Comparison([one for one, _ in times], [other for _, other in times])
