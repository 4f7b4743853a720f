"""Options of commands that read a file of ratings."""

from __future__ import annotations

import math
from argparse import ArgumentParser

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.scripts.parts.ratings_options import add_ratings, check_scale


def test_ratings_options_are_parsed_with_defaults() -> None:
    parser = ArgumentParser()
    parser.register("type", "bool", lambda text: text == "true")
    add_ratings(parser.add_argument_group("Ratings"))
    found = parser.parse_args(["--ratings", "r.csv", "--scale", "1", "2", "--skip-bad-rows", "true"])
    assert vars(found) == {"ratings": "r.csv", "scale": [1.0, 2.0], "skip_bad_rows": True}
    assert vars(parser.parse_args([])) == {"ratings": None, "scale": None, "skip_bad_rows": False}


@pytest.mark.parametrize("scale", [[], [3.0], [3.0, 3.0]])
def test_scale_needs_two_distinct_values(scale: list[float]) -> None:
    with pytest.raises(
        OptionError, match=r"^--scale: name at least two different values, for instance --scale 1 2 3 4 5$"
    ):
        check_scale(scale)


@pytest.mark.parametrize(("scale", "wrong"), [([1.0, math.nan, 5.0], "nan"), ([math.inf, 1.0], "inf")])
def test_non_finite_scale_values_raise_option_error(scale: list[float], wrong: str) -> None:
    with pytest.raises(OptionError, match=rf"^--scale {wrong}: a rating cannot have this value: name finite numbers$"):
        check_scale(scale)


def test_valid_scales_are_accepted() -> None:
    check_scale(None)
    check_scale([0.0, 1.0])
