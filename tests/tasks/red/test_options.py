"""The valid values of RED's options; after a task's name and a colon, ParlAI accepts any value."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.tasks.red.options import dimension_of, kappa_of, with_context


def test_default_values() -> None:
    assert (with_context({}), dimension_of({}), kappa_of({})) == (True, "ee", 1.0)


def test_given_values_are_returned() -> None:
    opt = {"red_context": False, "red_dimension": "be", "red_kappa": 0}
    assert (with_context(opt), dimension_of(opt), kappa_of(opt)) == (False, "be", 0.0)


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_non_boolean_context_raises_option_error(value: object) -> None:
    with pytest.raises(OptionError, match=f"--red-context {value}: must be true or false"):
        with_context({"red_context": value})


def test_unknown_dimension_raises_option_error() -> None:
    with pytest.raises(OptionError, match="--red-dimension xe: must be one of ee, ae, be, re"):
        dimension_of({"red_dimension": "xe"})


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "1", True, None])
def test_invalid_kappa_raises_option_error(value: object) -> None:
    with pytest.raises(OptionError, match=r"--red-kappa .*: must be a number, at least 0"):
        kappa_of({"red_kappa": value})
