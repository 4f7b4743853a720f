"""Whether two samples have the same mean, by a test that knows nothing of how they are distributed.

If it makes no difference which side a value is on, the sides may as well be dealt out anew. The p-value is the share of
such deals whose means are as far apart (Fisher 1935). For pairs see :mod:`parlai_empathy.metrics.paired`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.metrics.bootstrap import Floats


def permutation_p_value(
    first: Sequence[float] | Floats, second: Sequence[float] | Floats, resamples: int = 1000, seed: int = 0
) -> float:
    """Of no difference of means, two-sided, above 0 and at most 1.

    :param resamples: how often the sides are dealt out anew. The deal that was found counts as one more.
    :raises NotComputableError: if a sample has fewer than two values.
    """
    if resamples < 1:
        raise OptionError(f"resamples {resamples}: must be at least 1")
    if len(first) < 2 or len(second) < 2:
        raise NotComputableError(f"no test of {len(first)} and {len(second)} values: each side needs two")
    values = np.array([*first, *second], dtype=np.float64)
    generator = np.random.default_rng(seed)
    n, whole = len(first), float(values.sum())

    def apart(total: float) -> float:
        """The means' distance, where so much is on the first side."""
        return abs(total / n - (whole - total) / (len(values) - n))

    # Of sums in another order the last digits may differ.
    least = apart(float(values[:n].sum())) - 1e-12 * max(1.0, float(np.abs(values).max()))
    as_large = sum(apart(float(generator.permutation(values)[:n].sum())) >= least for _ in range(resamples))
    return (as_large + 1) / (resamples + 1)
