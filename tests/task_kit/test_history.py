"""The number of turns before the reply."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.task_kit.history import check_history, last_turns


@pytest.mark.parametrize(("size", "expected"), [(1, "c"), (2, "b\nc"), (3, "a\nb\nc"), (4, "a\nb\nc"), (-1, "a\nb\nc")])
def test_last_turns_are_joined_by_newlines(size: int, expected: str) -> None:
    assert last_turns(["a", "b", "c"], size) == last_turns(("a", "b", "c"), size) == expected


@pytest.mark.parametrize("size", [-1, 1, 4])
def test_check_history_returns_a_valid_size(size: int) -> None:
    assert check_history("--x-history", size) == size


@pytest.mark.parametrize("size", [0, -2, 1.5, "4", None, True])
def test_check_history_rejects_an_invalid_size(size: int) -> None:
    with pytest.raises(OptionError, match=rf"^--x-history {size}: must be at least 1, or -1 for all turns$"):
        check_history("--x-history", size)
