"""The constants of RED: the paper's by default, and invalid ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from parlai_empathy.curation.recipe import DIMENSIONS, Recipe
from parlai_empathy.errors import OptionError


def test_defaults_are_the_constants_of_the_paper() -> None:
    """Xu et al. 2022: RE 3, AE 3, EE 2 and BE 1 of nine; an edited reply counts as 10 words; kappa 1; 80 to 20."""
    recipe = Recipe()
    assert recipe.weights == {"ee": 2, "ae": 3, "be": 1, "re": 3}
    assert recipe.alphas == {"ae": 18, "be": 2, "re": 1}
    assert (recipe.kappa, recipe.edited_reply, recipe.parent_reply, recipe.valid_share) == (1, 10, 2, 0.2)
    assert recipe.medians == {}
    assert recipe.weights.keys() == DIMENSIONS.keys()


def test_changing_a_recipe_does_not_change_the_defaults() -> None:
    Recipe().weights["re"] = 7  # type: ignore[index]
    assert Recipe().weights["re"] == 3


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"weights": {"xx": 1.0}}, ("--weights", "'xx' is not one of ee, ae, be, re")),
        ({"weights": {"pv": 1.0}}, ("--weights", "'pv'")),
        ({"alphas": {"": 1.0}}, ("--alphas", "''")),
        ({"medians": {"zz": 1.0}}, ("--medians", "'zz'", "pv")),
        ({"weights": {"ae": -1.0}}, ("--weights ae=-1: must be a number from 0 to 1e+09",)),
        ({"weights": {"ae": math.nan}}, ("--weights ae=nan",)),
        ({"weights": {"ae": math.inf}}, ("--weights ae=inf",)),
        ({"weights": {"ae": 0.0, "be": 0.0}}, ("--weights: all are 0",)),
        ({"weights": {}}, ("--weights: all are 0",)),
        ({"alphas": {"re": 0.0}}, ("--alphas re=0: must be a number from 1e-09 to 1e+09",)),
        ({"medians": {"pv": -2.0}}, ("--medians pv=-2: must be a number from 1e-09 to 1e+09",)),
        ({"kappa": -0.5}, ("--kappa -0.5: must be a number from 0 to 1e+09",)),
        ({"kappa": math.nan}, ("--kappa nan",)),
        ({"min_replies": 0}, ("--min-replies 0: must be a number from 1 to 1e+09",)),
        ({"edited_reply": -1}, ("--edited-reply -1",)),
        ({"parent_reply": 0}, ("--parent-reply 0",)),
        ({"seed": -1}, ("--seed -1",)),
        ({"weights": {"ae": 1e308}}, ("--weights ae=1e+308: must be a number from 0 to 1e+09",)),
        ({"alphas": {"ae": 1e10}}, ("--alphas ae=1e+10",)),
        ({"medians": {"pv": 1e308}}, ("--medians pv=1e+308",)),
        ({"medians": {"re": 1e-320}}, ("--medians re=9.99989e-321",)),
        ({"kappa": 1e10}, ("--kappa 1e+10",)),
        ({"edited_reply": 1 << 62}, ("--edited-reply 4.61169e+18",)),
        ({"parent_reply": 1 << 62}, ("--parent-reply 4.61169e+18: must be a number from 1 to 1e+09",)),
        ({"valid_share": 1.5}, ("--valid-share 1.5: must be from 0 to 1",)),
        ({"valid_share": math.nan}, ("--valid-share nan",)),
        ({"toxic_above": -0.1}, ("--toxic-above -0.1: must be from 0 to 1",)),
    ],
)
def test_invalid_constants_raise_option_error(
    changes: dict[str, Any], parts: tuple[str, ...], assert_one_line: Callable[..., None]
) -> None:
    with pytest.raises(OptionError) as caught:
        Recipe(**changes)
    assert_one_line(caught.value, *parts)


def test_boundary_values_are_accepted() -> None:
    Recipe(weights={"re": 1.0}, medians={"pv": 0.5}, kappa=0, edited_reply=0, valid_share=0, toxic_above=1)
