"""The valid values of RED's options; after a task's name and a colon, ParlAI accepts any value."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.tasks.red.options import dimension_of, kappa_of, with_context


def test_what_they_are_by_default() -> None:
    assert (with_context({}), dimension_of({}), kappa_of({})) == (True, "ee", 1.0)


def test_what_is_given() -> None:
    opt = {"red_context": False, "red_dimension": "be", "red_kappa": 0}
    assert (with_context(opt), dimension_of(opt), kappa_of(opt)) == (False, "be", 0.0)


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_context_is_true_or_false(value: object) -> None:
    with pytest.raises(OptionError, match=f"--red-context {value}: must be true or false"):
        with_context({"red_context": value})


def test_a_dimension_that_does_not_exist() -> None:
    with pytest.raises(OptionError, match="--red-dimension xe: must be one of ee, ae, be, re"):
        dimension_of({"red_dimension": "xe"})


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "1", True, None])
def test_a_kappa_that_cannot_work(value: object) -> None:
    with pytest.raises(OptionError, match=r"--red-kappa .*: must be a number, at least 0"):
        kappa_of({"red_kappa": value})
