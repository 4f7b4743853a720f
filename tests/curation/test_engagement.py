"""How engaging posts are: the formulas against computations by hand, and posts that cannot be measured."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from parlai_empathy.curation.engagement import MILLION, Measures, measure
from parlai_empathy.curation.engine import Engine
from parlai_empathy.curation.recipe import Recipe
from parlai_empathy.errors import NotComputableError

ALL = ("ee", "ae", "be", "re")
WITHOUT_EMOTION = ALL[1:]
FATES = {"toxic": 4, "submission": 1_200, "quote": 5, "deleted": 6}
# Raw dimensions and popularity of three posts; ee in millionths.
POSTS = [
    {"name": "t1_a", "ee": 500_000, "ae": 4, "be": -3, "re": 1, "pv": 2},
    {"name": "t1_b", "ee": 2_000_000, "ae": 18, "be": 2, "re": 3, "pv": 10},
    {"name": "t1_c", "ee": 1_000_000, "ae": 6, "be": 1, "re": 2, "pv": 4},
]


def measured(
    engine: Engine, folder: Path, posts: list[dict[str, Any]], dimensions: tuple[str, ...] = ALL, **recipe: Any
) -> tuple[Measures, dict[str, dict[str, Any]]]:
    """Return the measures, and the rows of posts by name."""
    layout = pyarrow.schema([("name", "string"), *((name, "int64") for name in (*ALL, "pv"))])
    parquet.write_table(pyarrow.Table.from_pylist(posts, layout), folder / "candidates.parquet")
    engine.view("candidates", [folder / "candidates.parquet"])
    measures = measure(engine, Recipe(**recipe), dimensions, FATES)
    rows = [row for table in engine.batches("SELECT * FROM engagement", 100) for row in table.to_pylist()]
    return measures, {row["name"]: row for row in rows}


def test_engagement_matches_hand_computed_values(engine: Engine, tmp_path: Path) -> None:
    measures, rows = measured(engine, tmp_path, POSTS)
    # Negative votes count as 0, so be is 0, 2 and 1; the paper gives no constant for ee, so its median is used.
    assert measures.medians == {"ee": 1.0, "ae": 6, "be": 1, "re": 2, "pv": 4}
    assert measures.alphas == {"ee": 1.0, "ae": 18, "be": 2, "re": 1}
    # Adjusted: x + (median pv / median x) * (x / pv) * x. For b, ae: 18 + 4/6 * 18/10 * 18 = 39.6; be: 2 + 4 * .2 * 2
    # = 3.6; re: 3 + 2 * .3 * 3 = 4.8; ee: 2 + 4 * .2 * 2 = 3.6. Normalised: y / (y + alpha).
    b = rows["t1_b"]
    assert [b[f"{name}_adjusted"] for name in ALL] == pytest.approx([3.6, 39.6, 3.6, 4.8])
    norms = [3.6 / 4.6, 39.6 / 57.6, 3.6 / 5.6, 4.8 / 5.8]
    assert [b[f"{name}_norm"] for name in ALL] == pytest.approx(norms)
    whole = (2 * norms[0] + 3 * norms[1] + 1 * norms[2] + 3 * norms[3]) / 9
    assert b["engagement"] == round(whole * MILLION)
    # For a, ee: .5 + 4 * .25 * .5 = 1; ae: 4 + 4/6 * 2 * 4 = 28/3; be: 0; re: 1 + 2 * .5 * 1 = 2.
    a = rows["t1_a"]
    assert [a[f"{name}_norm"] for name in ALL] == pytest.approx([1 / 2, (28 / 3) / (28 / 3 + 18), 0, 2 / 3])
    assert a["be"] == -3  # the raw value is kept


def test_mean_and_deviation_are_of_the_population(engine: Engine, tmp_path: Path) -> None:
    measures, rows = measured(engine, tmp_path, POSTS)
    values = [row["engagement"] for row in rows.values()]
    assert measures.posts == 3
    assert measures.mean == pytest.approx(statistics.fmean(values), rel=1e-12)
    assert measures.deviation == pytest.approx(statistics.pstdev(values), rel=1e-12)


def test_weights_are_renormalised_without_emotion(engine: Engine, tmp_path: Path) -> None:
    measures, rows = measured(engine, tmp_path, POSTS, WITHOUT_EMOTION)
    assert measures.dimensions == WITHOUT_EMOTION
    assert "ee" not in measures.medians
    b = rows["t1_b"]
    expected = (3 * b["ae_norm"] + b["be_norm"] + 3 * b["re_norm"]) / 7
    assert b["engagement"] == math.floor(expected * MILLION + 0.5)


def test_given_constants_replace_computed_ones(engine: Engine, tmp_path: Path) -> None:
    given = {"weights": {"re": 2.0}, "alphas": {"re": 0.1}, "medians": {"re": 8.0, "pv": 16.0}}
    measures, rows = measured(engine, tmp_path, POSTS, WITHOUT_EMOTION, **given)
    assert (measures.medians["re"], measures.medians["pv"], measures.medians["ae"]) == (8, 16, 6)
    assert measures.alphas == {"ae": 6, "be": 1, "re": 0.1}
    # re of c: 2 + 16/8 * 2/4 * 2 = 4; no other dimension has a weight
    assert rows["t1_c"]["engagement"] == round(4 / 4.1 * MILLION)


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_posts_raise_not_computable_error(
    engine: Engine, tmp_path: Path, count: int, assert_one_line: Callable[..., None]
) -> None:
    with pytest.raises(NotComputableError) as caught:
        measured(engine, tmp_path, POSTS[:count])
    assert_one_line(
        caught.value, f"{count} post(s)", "RS_", "(most of the others are: 1,200 submission, 6 deleted, 5 quote)"
    )


@pytest.mark.parametrize("name", ALL)
def test_zero_median_raises_unless_given_explicitly(
    engine: Engine, tmp_path: Path, name: str, assert_one_line: Callable[..., None]
) -> None:
    posts = [{**post, name: 0} for post in POSTS]
    with pytest.raises(NotComputableError) as caught:
        measured(engine, tmp_path, posts)
    assert_one_line(caught.value, "engagement is 0 over 3 posts", f"--medians {name}=1")
    assert measured(engine, tmp_path, posts, medians={name: 1.0})[0].medians[name] == 1


def test_equally_engaging_posts_raise_not_computable_error(
    engine: Engine, tmp_path: Path, assert_one_line: Callable[..., None]
) -> None:
    with pytest.raises(NotComputableError) as caught:
        measured(engine, tmp_path, [{**POSTS[1], "name": f"t1_{number}"} for number in range(7)])
    assert_one_line(caught.value, "all 7 posts are equally engaging")


def test_mean_of_large_values_is_exact(engine: Engine, tmp_path: Path) -> None:
    posts = [{**POSTS[1], "name": f"t1_{n}", "be": n % 2 * 10**9, "ae": 10**6 + n, "pv": 2 * 10**9} for n in range(500)]
    measures, rows = measured(engine, tmp_path, posts)
    values = [row["engagement"] for row in rows.values()]
    assert measures.mean == sum(values) / 500
    assert measures.deviation == pytest.approx(statistics.pstdev(values), rel=1e-12)
