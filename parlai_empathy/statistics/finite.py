"""The check of all data for tests and correlations: a single NaN would make any difference look significant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parlai_empathy.errors import NotComputableError
from parlai_empathy.statistics.bootstrap import Floats


def finite_columns(**columns: Sequence[float] | Floats) -> list[Floats]:
    """Return columns of numbers, given by name, as arrays.

    :raises NotComputableError: naming column and place, if a number is NaN, infinite or None.
    """
    arrays = [np.asarray(column, dtype=np.float64) for column in columns.values()]
    for (name, column), array in zip(columns.items(), arrays, strict=True):
        for place in np.flatnonzero(~np.isfinite(array))[:1]:
            raise NotComputableError(f"{name}[{place}] is {column[place]}: leave out items without a finite number")
    return arrays
