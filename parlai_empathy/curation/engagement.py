"""Engagement of posts: four dimensions of the reactions to a post, adjusted for popularity, normalised and summed.

All sums are of integers, so that the order of summation does not matter: emotions and aggregates are in millionths.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from parlai_empathy.curation.engine import Engine
from parlai_empathy.curation.recipe import DIMENSIONS, Recipe
from parlai_empathy.curation.sql import double
from parlai_empathy.errors import NotComputableError

MILLION = 1_000_000
UNITS = {"ee": MILLION, "engagement": MILLION}
"""The divisors of columns that are not stored in units of one."""


@dataclass(frozen=True)
class Measures:
    """Statistics of the posts.

    :param posts: number of posts.
    :param dimensions: the dimensions that are used: without an emotion scorer, all but ``ee``.
    :param medians: medians of popularity (``pv``) and of each dimension, given or measured.
    :param alphas: alpha of each dimension.
    :param mean: mean of the aggregate, in millionths.
    :param deviation: standard deviation of the aggregate, in millionths.
    """

    posts: int
    dimensions: tuple[str, ...]
    medians: dict[str, float]
    alphas: dict[str, float]
    mean: float
    deviation: float

    @property
    def columns(self) -> list[str]:
        """The numbers of a post: each dimension, each normalised, and the aggregate."""
        return [*self.dimensions, *(f"{name}_norm" for name in self.dimensions), "engagement"]


def measure(engine: Engine, recipe: Recipe, dimensions: tuple[str, ...], fates: Mapping[str, int]) -> Measures:
    """Create the table ``engagement`` from ``candidates``: the raw and the normalised dimensions, and the aggregate.

    ``candidates`` must have ``name`` and the integers ``ee`` (in millionths), ``ae``, ``be``, ``re`` and ``pv``.

    :param fates: number of other posts by outcome, for the error message if too few posts are left.
    :raises NotComputableError: if there are fewer than two posts, a median is 0, or all posts are equally engaging.
    """
    count = engine.rows("SELECT count(*) FROM candidates")[0][0]
    if count < 2:
        most = sorted(fates.items(), key=lambda fate: -fate[1])[:3]
        others = ", ".join(f"{number:,} {fate}" for fate, number in most if number) or "there are none"
        raise NotComputableError(
            f"{count} post(s) with a known parent and replies are left (most of the others are: {others}): give more "
            "dumps, with the submissions (RS_) of the same months, lower --min-replies, or leave fewer out"
        )
    medians = _medians(engine, recipe, dimensions, count)
    alphas = {name: recipe.alphas.get(name, medians[name]) for name in dimensions}
    engine.table("engagement", _query(recipe, dimensions, medians, alphas))
    total, squares = engine.rows(
        "SELECT sum(CAST(engagement AS DECIMAL(38, 0))), "
        "sum(CAST(engagement AS DECIMAL(38, 0)) * CAST(engagement AS DECIMAL(38, 0))) FROM engagement"
    )[0]
    # Integers until here, so that an engine's order of summation does not matter.
    variance = (int(squares) * count - int(total) ** 2) / count**2
    if not variance:
        raise NotComputableError(f"all {count} posts are equally engaging, so none is chosen: give more or other dumps")
    return Measures(count, dimensions, medians, alphas, int(total) / count, math.sqrt(variance))


def _medians(engine: Engine, recipe: Recipe, dimensions: tuple[str, ...], count: int) -> dict[str, float]:
    wanted = [*dimensions, "pv"]
    expressions = ", ".join(f"median({_positive(name)})" for name in wanted)
    found = engine.rows(f"SELECT {expressions} FROM candidates")[0]
    measured = {name: float(value) / UNITS.get(name, 1) for name, value in zip(wanted, found, strict=True)}
    medians = {name: recipe.medians.get(name, measured[name]) for name in wanted}
    for name, value in medians.items():
        if not value > 0:
            meaning = DIMENSIONS.get(name, "popularity").split(":")[0]
            raise NotComputableError(
                f"the median of {meaning} is {value:g} over {count:,} posts, which cannot be a divisor: give "
                f"one with --medians {name}=1, or more dumps"
            )
    return medians


def _positive(name: str) -> str:
    """Return SQL for a dimension clipped at 0: negative votes count as no engagement."""
    return f"greatest({name}, 0)"


def _query(recipe: Recipe, dimensions: tuple[str, ...], medians: dict[str, float], alphas: dict[str, float]) -> str:
    adjusted, norms = [], []
    for name in dimensions:
        x = f"(CAST({_positive(name)} AS DOUBLE) / {double(UNITS.get(name, 1))})"
        ratio = medians["pv"] / medians[name]
        adjusted.append(f"{x} + {double(ratio)} * ({x} / CAST(pv AS DOUBLE)) * {x} AS {name}_adjusted")
        norms.append(f"{name}_adjusted / ({name}_adjusted + {double(alphas[name])}) AS {name}_norm")
    weights = {name: recipe.weights.get(name, 0.0) for name in dimensions}
    weighted = " + ".join(f"{double(weights[name])} * {name}_norm" for name in dimensions)
    whole = double(sum(weights.values()))
    return f"""
    WITH adjusted AS (SELECT *, {", ".join(adjusted)} FROM candidates),
         normalised AS (SELECT *, {", ".join(norms)} FROM adjusted)
    SELECT *, CAST(floor(({weighted}) / {whole} * {double(MILLION)} + {double(0.5)}) AS BIGINT) AS engagement
    FROM normalised
    """
