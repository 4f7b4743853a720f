"""The constants of RED as options; the defaults are the paper's (Xu et al. 2022) where it states them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.curation.recipe import ALPHAS, WEIGHTS, Recipe
from parlai_empathy.errors import OptionError

_MAPS: dict[str, Mapping[str, float]] = {"weights": WEIGHTS, "alphas": ALPHAS, "medians": {}}
_MEANING = {
    "weights": "Weights of the dimensions in the aggregate; one that is not given has none.",
    "alphas": "Value of each dimension that is normalised to one half; one that is not given uses its median.",
    "medians": "Medians of the dimensions and of popularity (pv), for the adjustment; those not given are computed.",
}
_NUMBERS = {
    "kappa": (float, "How many standard deviations from the mean a post must be to get a label."),
    "min_replies": (int, "Leave out posts with fewer replies."),
    "edited_reply": (int, "How many words an edited reply counts as, in addition."),
    "parent_reply": (int, "How many upvotes a reply to a post's parent counts as, in the post's popularity."),
    "valid_share": (float, "Share of the threads for validation."),
    "toxic_above": (float, "With --toxicity: leave out posts that are toxic with more than this probability."),
    "seed": (int, "Seed for leaving out posts of the larger class, and for the validation fold."),
}


def add_recipe(parser: ParlaiParser) -> None:
    """Add options for all constants of :class:`Recipe`, except ``--subreddits``."""
    group = parser.add_argument_group("Constants of RED")
    for name, known in _MAPS.items():
        default = ",".join(f"{key}={value:g}" for key, value in known.items())
        group.add_argument(f"--{name}", default=default, metavar="NAME=NUMBER,...", help=_MEANING[name])
    for name, (kind, meaning) in _NUMBERS.items():
        group.add_argument(f"--{name.replace('_', '-')}", type=kind, default=getattr(Recipe(), name), help=meaning)


def recipe_of(opt: Opt) -> Recipe:
    """Return the recipe that these options and ``--subreddits`` describe.

    :raises OptionError: for an invalid value.
    """
    numbers = {name: opt[name] for name in _NUMBERS}
    maps: dict[str, Any] = {name: _numbers_of(name, opt[name]) for name in _MAPS}
    subreddits = tuple(name.removeprefix("/").removeprefix("r/") for name in opt["subreddits"])
    return Recipe(**maps, **numbers, subreddits=subreddits)


def _numbers_of(option: str, text: str) -> dict[str, float]:
    """Parse ``ee=2,ae=3``."""
    found = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, number = part.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise OptionError(f"--{option} {part!r}: must be of the form ae=3,re=3") from None
    return found
