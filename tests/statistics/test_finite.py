"""Columns of numbers: as arrays, or an error that names the first that is none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from parlai_empathy.errors import NotComputableError
from parlai_empathy.statistics.finite import finite_columns


def test_finite_columns_become_arrays() -> None:
    one, other = finite_columns(one=[1, 2], other=np.array([0.5]))
    assert (one.tolist(), other.tolist(), one.dtype) == ([1, 2], [0.5], np.float64)
    (nothing,) = finite_columns(one=[])
    assert nothing.shape == (0,)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, None])
def test_error_names_first_number_that_is_not_finite(wrong: float) -> None:
    message = rf"^other\[1\] is {wrong}: leave out items without a finite number$"
    with pytest.raises(NotComputableError, match=message):
        finite_columns(one=[1, 2], other=[0, wrong, wrong])
