"""Numbers and the values of their items: signatures, replies without a value, and stacked arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy import __version__
from parlai_empathy.errors import NotComputableError
from parlai_empathy.scoring.scored import check_finite, scored, stacked


def test_mean_excludes_missing_values() -> None:
    found = scored("words", "words a reply", [2, None, 4, None, 9], {"tokens": "re", "case": None})
    assert found.number == 5
    assert found.number.signature == f"words a reply|tokens:re|n:3|left_out:2|version:{__version__}"
    assert (found.items, found.left_out) == ((2, None, 4, None, 9), 2)
    assert found.has_interval
    assert found.is_mean  # which decides how its interval is computed


def test_signature_omits_left_out_without_missing_values() -> None:
    assert scored("a", "A", [0.0], {}).number.signature == f"A|n:1|version:{__version__}"


@pytest.mark.parametrize("items", [[], [None, None]])
def test_no_values_raise(items: list[None]) -> None:
    with pytest.raises(NotComputableError, match=r"^A: it cannot be computed for any reply$"):
        scored("a", "A", items, {})


def test_custom_value_function_receives_stacked_items() -> None:
    seen: list[Any] = []

    def value(items: Any) -> float:
        seen.append(items)
        return 7.0

    rows = [np.array([1, 2]), None, np.array([3, 4])]
    found = scored("a", "A", rows, {}, value, record=len, has_interval=False)
    assert found.number == 7
    assert not found.is_mean
    assert seen[0].tolist() == [[1, 2], [3, 4]]
    assert found.record(rows[0]) == 2
    assert not found.has_interval


def test_stacked_rows_of_unequal_length_stay_separate() -> None:
    # As many rows as the longest has elements: NumPy must not make them a square array.
    found = stacked([np.array([1, 2]), np.array([3])])
    assert (found.shape, found.dtype) == ((2,), object)
    assert [row.tolist() for row in found] == [[1, 2], [3]]


@given(st.lists(st.lists(st.integers(-9, 9), max_size=3), min_size=1, max_size=5), st.data())
def test_stacking_commutes_with_indexing(rows: list[list[int]], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=6))
    items = [np.array(row, dtype=np.int64) for row in rows]
    first = [list(row) for row in stacked(items)[places]]
    assert first == [rows[place] for place in places]
    assert first == [list(row) for row in stacked([items[place] for place in places])]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_non_finite_value_of_a_model_raises(wrong: float) -> None:
    check_finite(np.array([0.0, -1.0]), "the model", "a reply", "score")
    with pytest.raises(NotComputableError, match=r"^the model gives a reply no finite score: name another model$"):
        check_finite(np.array([0.0, wrong]), "the model", "a reply", "score")
