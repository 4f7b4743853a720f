"""Cohen's d: the size of a difference relative to the spread of the ratings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parlai_empathy.errors import NotComputableError
from parlai_empathy.statistics.bootstrap import Floats


def cohens_d(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float:
    """Return the difference of two means in units of the pooled standard deviation (Cohen 1988, chapter 2).

    It is the same for paired values: pairing makes a test more sensitive, but a difference no larger.

    :raises NotComputableError: if both sides together have fewer than three values, a side has none, or nothing varies.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    freedom = len(one) + len(other) - 2
    if not len(one) or not len(other) or freedom < 1:
        raise NotComputableError(f"no Cohen's d for {len(one)} and {len(other)} values: at least three are needed")
    squares = float(((one - one.mean()) ** 2).sum() + ((other - other.mean()) ** 2).sum())
    if squares <= 1e-18 * freedom:
        raise NotComputableError("no Cohen's d: the values on each side are all the same")
    return float((one.mean() - other.mean()) / np.sqrt(squares / freedom))
