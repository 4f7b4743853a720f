"""The constants of RED as options, round trip."""

from __future__ import annotations

import pytest
from parlai.core.params import ParlaiParser

from parlai_empathy.curation.recipe import Recipe
from parlai_empathy.errors import OptionError
from parlai_empathy.scripts.parts.recipe_options import add_recipe, recipe_of


def recipe(*arguments: str, subreddits: tuple[str, ...] = ()) -> Recipe:
    parser = ParlaiParser(False, False)
    add_recipe(parser)
    return recipe_of({**parser.parse_args(list(arguments)), "subreddits": list(subreddits)})


def test_defaults_are_the_default_recipe() -> None:
    assert recipe() == Recipe()


def test_given_options_set_the_recipe() -> None:
    found = recipe("--weights", "ee=1, re=2.5", "--medians", "pv=3", "--kappa", "0.5", "--seed", "7", subreddits=("a",))
    expected = Recipe(weights={"ee": 1.0, "re": 2.5}, medians={"pv": 3.0}, kappa=0.5, seed=7, subreddits=("a",))
    assert found == expected


def test_given_weights_and_alphas_replace_all_defaults() -> None:
    """So a dimension can be left out, or use its median."""
    found = recipe("--weights", "re=1", "--alphas", "ee=0.4")
    assert (found.weights, found.alphas) == ({"re": 1.0}, {"ee": 0.4})


def test_non_numeric_constant_raises_option_error() -> None:
    with pytest.raises(OptionError, match=r"^--alphas 'be=two': must be of the form ae=3,re=3$"):
        recipe("--alphas", "ae=3,be=two")
