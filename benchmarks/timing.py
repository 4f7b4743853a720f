"""What the benchmarks share: how long a call takes."""

from __future__ import annotations

import time
from collections.abc import Callable

ROUNDS = 3
"""How often each way is run; the medians are compared."""


def seconds(run: Callable[[], object]) -> float:
    """How long a call takes."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin
