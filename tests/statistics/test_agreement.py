"""Agreement: by hand, against scikit-learn and the package ``krippendorff``, and its intervals against plain loops."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from parlai_empathy import __version__
from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.agreement import (
    LEVELS,
    PAIRINGS,
    WEIGHTS,
    Agreement,
    Ratings,
    agreement,
    fleiss_kappa,
    krippendorff_alpha,
    two_ratings,
    weighted_kappa,
)

SCALE = (1, 2, 3, 4, 5)
_ = None

# Krippendorff 2011, section E: 12 units by observers A, B, C and D.
PUBLISHED = list(
    zip(
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
        strict=True,
    )
)

rating = st.sampled_from(SCALE)
rows = st.lists(st.lists(rating, min_size=0, max_size=5), min_size=1, max_size=12)
triples = st.lists(st.lists(rating, min_size=3, max_size=3), min_size=2, max_size=12)


def made_up(n: int, seed: int = 0) -> list[list[float]]:
    """Return three weakly agreeing ratings, 1 to 5, for each of ``n`` items."""
    generator = np.random.default_rng(seed)
    ratings = generator.integers(1, 6, size=(n, 1)) + generator.integers(-2, 3, size=(n, 3))
    return np.clip(ratings, 1, 5).astype(float).tolist()


def package_alpha(ratings: Ratings, level: str) -> float:
    """Alpha computed by the package krippendorff, from observers by units with NaN for missing ratings."""
    width = max(map(len, ratings))
    columns = [[math.nan if r is None else r for r in item] + [math.nan] * (width - len(item)) for item in ratings]
    return float(krippendorff.alpha(np.array(columns, dtype=float).T, level_of_measurement=level))


def varies(ratings: Ratings) -> bool:
    """Whether the items with at least two ratings contain different values, so that agreement is defined."""
    return len({value for item in ratings if len(item) > 1 for value in item}) > 1


# --- two ratings per item --------------------------------------------------------------------------------------------


def as_sets(pair: tuple[list[float], list[float]]) -> list[list[float]]:
    return [sorted(two) for two in zip(*pair, strict=True)]


def test_pairings_match_hand_calculation() -> None:
    ratings = [[5, 1, 4], [2, 2, 5], [_, 3, 1], [1, 2, 4, 5]]
    assert as_sets(two_ratings(ratings, "closest")) == [[4, 5], [2, 2], [1, 3], [1, 2]]
    assert as_sets(two_ratings(ratings, "lowest")) == [[1, 4], [2, 2], [1, 3], [1, 2]]
    assert as_sets(two_ratings(ratings, "highest")) == [[4, 5], [2, 5], [1, 3], [4, 5]]


def test_closest_pairing_breaks_ties_by_lower_pair() -> None:
    assert as_sets(two_ratings([[5, 3, 1], [4, 5, 2, 1]], "closest")) == [[1, 3], [1, 2]]


@given(rows, st.integers(0, 5))
def test_pairings_choose_the_best_pair_within_each_item(ratings: list[list[int]], seed: int) -> None:
    rated = [item for item in ratings if len(item) > 1]
    assume(rated)
    for pairing, best in {
        "closest": lambda pair: (pair[1] - pair[0], pair[0]),
        "lowest": sum,
        "highest": lambda pair: -sum(pair),
        "random": None,
    }.items():
        found = as_sets(two_ratings(ratings, pairing, seed))
        pairs = [[sorted(pair) for pair in combinations(item, 2)] for item in rated]
        assert len(found) == len(rated)
        if best:
            assert found == [min(of_item, key=best) for of_item in pairs]
        else:
            assert all(pair in of_item for pair, of_item in zip(found, pairs, strict=True))


def test_random_pairing_is_uniform_over_ordered_pairs() -> None:
    found = Counter(zip(*two_ratings([[1, 2, 3]] * 6000, "random"), strict=True))
    # Six ordered pairs, each expected 1000 times with a standard deviation of sqrt(6000 * 1/6 * 5/6) = 29.
    assert set(found) == {(1, 2), (2, 1), (1, 3), (3, 1), (2, 3), (3, 2)}
    assert all(880 <= count <= 1120 for count in found.values())


@pytest.mark.parametrize("pairing", ["closest", "lowest", "highest"])
def test_pairings_assign_raters_at_random(pairing: str) -> None:
    first, second = two_ratings([[1, 2]] * 2000, pairing)
    assert 900 <= first.count(1) <= 1100  # expected: 1000, standard deviation 22
    assert second == [3 - value for value in first]


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_random_pairing_depends_only_on_seed_and_item_position(pairing: str) -> None:
    ratings = made_up(40)
    first, second = two_ratings(ratings, pairing, seed=3)
    assert two_ratings([item[::-1] for item in ratings], pairing, seed=3) == (first, second)
    assert two_ratings(ratings, pairing, seed=4) != (first, second)
    assert two_ratings(ratings[:7], pairing, seed=3) == (first[:7], second[:7])
    # The ratings of another item have no influence, even if that item is excluded.
    assert two_ratings([[1], *ratings[1:]], pairing, seed=3) == (first[1:], second[1:])


# --- weighted kappa --------------------------------------------------------------------------------------------------


def test_weighted_kappa_of_two_values_matches_hand_calculation() -> None:
    # 20 times both say 1, 15 times both say 2; they differ 5 and 10 times. Agreement: 35/50 = .7; by chance: .5 * .6 +
    # .5 * .4 = .5. Kappa is (.7 - .5) / (1 - .5) = .4; with two values all weights are equal.
    first = [1] * 20 + [1] * 5 + [2] * 10 + [2] * 15
    second = [1] * 20 + [2] * 5 + [1] * 10 + [2] * 15
    for weights in WEIGHTS:
        assert weighted_kappa(first, second, weights) == pytest.approx(0.4)


def test_weighted_kappa_of_three_values_matches_hand_calculation() -> None:
    # The distances between the raters are 0, 1, 0, 0, 2: sum 3, sum of squares 5. The frequencies are 2, 1, 2
    # and 2, 2, 1. By chance: (2*2*1 + 2*1*2 + 1*2*1 + 1*1*1 + 2*2*2 + 2*2*1) / 5 = 23/5,
    # squared: (2*2*1 + 2*1*4 + 1*2*1 + 1*1*1 + 2*2*4 + 2*2*1) / 5 = 35/5.
    first, second = [1, 1, 2, 3, 3], [1, 2, 2, 3, 1]
    assert weighted_kappa(first, second, "linear") == pytest.approx(1 - 3 / (23 / 5))
    assert weighted_kappa(first, second, "quadratic") == pytest.approx(1 - 5 / (35 / 5))


def test_unused_scale_points_count_as_steps_in_weighted_kappa() -> None:
    # If only 1, 2 and 5 exist, 2 and 5 are one step apart: the square is 1, by chance (2*4 + 1 + 2*1 + 4) / 3 = 5. On
    # the scale 1..5 it is 9, by chance (2*16 + 1 + 2*9 + 16) / 3 = 67/3.
    first, second = [1, 2, 5], [1, 5, 5]
    assert weighted_kappa(first, second) == pytest.approx(1 - 1 / 5)
    assert weighted_kappa(first, second, scale=(5, 4, 3, 2, 1)) == pytest.approx(1 - 9 / (67 / 3))


def test_weighted_kappa_of_constant_different_raters_is_zero() -> None:
    assert weighted_kappa([1, 1, 1], [2, 2, 2]) == pytest.approx(0)


def test_weighted_kappa_ignores_items_with_a_missing_rating() -> None:
    assert weighted_kappa([1, _, 2, 2], [1, 5, _, 1]) == weighted_kappa([1, 2], [1, 1])


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scale", [None, SCALE])
@given(pairs=st.lists(st.tuples(rating, rating), min_size=2, max_size=20))
def test_weighted_kappa_matches_scikit_learn(
    weights: str, scale: tuple[int, ...] | None, pairs: list[tuple[int, int]]
) -> None:
    assume(len({value for pair in pairs for value in pair}) > 1)
    first, second = zip(*pairs, strict=True)
    theirs = cohen_kappa_score(first, second, weights=weights, labels=scale and list(scale))
    assert weighted_kappa(first, second, weights, scale) == pytest.approx(theirs, abs=1e-12)
    assert weighted_kappa(second, first, weights, scale) == pytest.approx(theirs, abs=1e-12)


# --- Fleiss' kappa ---------------------------------------------------------------------------------------------------

# How many of 14 raters put each of 10 items into each of 5 categories: a textbook example whose kappa is .210.
TEN_BY_FIVE = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def test_fleiss_kappa_matches_textbook_example() -> None:
    # The squares add up to 196 + 60 + 70 + 94 + 74 + 98 + 58 + 46 + 66 + 66 = 828; agreement is
    # (828 - 140) / (10 * 14 * 13) = .378022. The categories have 20, 28, 39, 21 and 32 of the 140 ratings:
    # by chance it is (400 + 784 + 1521 + 441 + 1024) / 140^2 = .212755. Kappa is (.378022 - .212755) / (1 - .212755) =
    # .209931.
    ratings = [[value for value, count in enumerate(row) for _ in range(count)] for row in TEN_BY_FIVE]
    assert fleiss_kappa(ratings) == pytest.approx(0.209931, abs=1e-6)


def test_fleiss_kappa_matches_hand_calculation() -> None:
    # Two of three items agree: 2/3. Each value has half of the ratings: 1/2 by chance. (2/3 - 1/2) / (1 - 1/2) = 1/3.
    assert fleiss_kappa([[1, 1], [1, 2], [2, 2]]) == pytest.approx(1 / 3)


def test_fleiss_kappa_does_not_depend_on_the_scale() -> None:
    ratings = made_up(20)
    assert fleiss_kappa(ratings, scale=range(1, 10)) == pytest.approx(fleiss_kappa(ratings))


@given(triples)
def test_fleiss_kappa_matches_its_definition(ratings: list[list[int]]) -> None:
    assume(varies(ratings))
    pairs = [a == b for item in ratings for a, b in combinations(item, 2)]
    frequencies = Counter(value for item in ratings for value in item)
    chance = sum((count / (3 * len(ratings))) ** 2 for count in frequencies.values())
    expected = (sum(pairs) / len(pairs) - chance) / (1 - chance)
    assert fleiss_kappa(ratings) == pytest.approx(expected, abs=1e-12)


# --- Krippendorff's alpha --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_matches_published_example(level: str, alpha: float) -> None:
    assert krippendorff_alpha(PUBLISHED, level) == pytest.approx(alpha, abs=0.0005)


def test_alpha_matches_hand_calculation() -> None:
    # Of the 6 ordered pairs within items, 2 differ. Each value has 3 of the 6 ratings: 2 * 3 * 3 = 18 of all 30 ordered
    # pairs differ, which is 3.6 of 6. Alpha is 1 - 2 / 3.6; with two values, all levels except ratio are equal.
    ratings = [[1, 1], [1, 2], [2, 2]]
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorff_alpha(ratings, level) == pytest.approx(1 - 2 / 3.6)


@pytest.mark.parametrize("level", LEVELS)
@given(ratings=rows)
def test_alpha_matches_krippendorff_package(level: str, ratings: list[list[int]]) -> None:
    assume(varies(ratings))
    assert krippendorff_alpha(ratings, level) == pytest.approx(package_alpha(ratings, level), abs=1e-10)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_matches_package_with_missing_and_uneven_values(level: str) -> None:
    generator = np.random.default_rng(1)
    values = [0, 0.5, 1, 2.75, 10, 100]
    ratings = [[_ if r < 0 else values[r] for r in item] for item in generator.integers(-4, 6, size=(300, 7)).tolist()]
    assert krippendorff_alpha(ratings, level) == pytest.approx(package_alpha(ratings, level), abs=1e-10)


def test_thousands_of_raters_of_one_item_need_no_list_of_their_pairs() -> None:
    # Chance draws from the same ratings as the only item has, so the disagreement is that of chance.
    assert krippendorff_alpha([[1] * 10_000 + [2] * 10_000], "nominal") == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("attribute", "items", "missing"), [("Engaging", 375, 0), ("Error recovery", 125, 154), ("Overall", 500, 0)]
)
def test_alpha_of_real_ratings_matches_krippendorff_package(
    real_data: Path, attribute: str, items: int, missing: int
) -> None:
    dialogues = json.loads((real_data / "engagement" / "fed_data.json").read_text(encoding="utf-8"))
    given_to = [dialogue["annotations"].get(attribute, []) for dialogue in dialogues]
    # Some entries are the text "Not applicable" instead of a number.
    ratings = [[value if isinstance(value, int) else _ for value in item] for item in given_to if item]
    assert (len(ratings), sum(item.count(_) for item in ratings)) == (items, missing)
    for level in LEVELS:
        assert krippendorff_alpha(ratings, level) == pytest.approx(package_alpha(ratings, level), abs=1e-10)


# --- all measures ----------------------------------------------------------------------------------------------------

MEASURES: dict[str, Callable[[Ratings], float]] = {
    "fleiss": fleiss_kappa,
    **{f"alpha {level}": lambda ratings, level=level: krippendorff_alpha(ratings, level) for level in LEVELS},
}


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES.keys())
@given(ratings=triples, seed=st.integers(0, 99))
def test_agreement_does_not_depend_on_order_of_items_or_raters(
    measure: Callable[[Ratings], float], ratings: list[list[int]], seed: int
) -> None:
    assume(varies(ratings))
    mixed = random.Random(seed)
    other = [mixed.sample(item, len(item)) for item in mixed.sample(ratings, len(ratings))]
    assert measure(other) == pytest.approx(measure(ratings), abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES.keys())
def test_perfect_agreement_is_one(measure: Callable[[Ratings], float]) -> None:
    assert measure([[1, 1, 1], [2, 2, 2], [5, 5, 5]]) == 1
    assert weighted_kappa([1, 2, 5], [1, 2, 5]) == 1


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES.keys())
def test_random_ratings_have_agreement_near_zero(measure: Callable[[Ratings], float]) -> None:
    ratings = np.random.default_rng(2).integers(1, 6, size=(3000, 3)).tolist()
    assert abs(measure(ratings)) < 0.04


# --- the report ------------------------------------------------------------------------------------------------------


def numbers(ratings: Ratings, **options: int) -> dict[str, Agreement]:
    report = agreement(ratings, SCALE, **options)
    named = {f"{pairing} {weights}": found for (pairing, weights), found in report.kappas.items()}
    return named | {"fleiss": report.fleiss} | report.alphas


def test_report_counts_items_with_two_ratings() -> None:
    report = agreement([[1, 2, 3], [4, _, _], [_, 2, 2], [], [5, 5, 4]], SCALE, resamples=20)
    assert (report.items, report.ratings, report.left_out) == (3, 8, 2)
    assert set(report.kappas) == {(pairing, weights) for pairing in PAIRINGS for weights in WEIGHTS}
    assert set(report.alphas) == {"ordinal", "interval"}


def test_report_values_match_single_measures() -> None:
    ratings = made_up(50)
    report = agreement(ratings, SCALE, seed=3, resamples=5)
    for (pairing, weights), found in report.kappas.items():
        assert found.value == weighted_kappa(*two_ratings(ratings, pairing, seed=3), weights, SCALE)
    assert report.fleiss.value == pytest.approx(fleiss_kappa(ratings))
    for level, found in report.alphas.items():
        assert found.value == pytest.approx(krippendorff_alpha(ratings, level))


def test_intervals_match_explicit_bootstrap() -> None:
    ratings = made_up(30)
    two = np.array(two_ratings(ratings, "random", seed=4))
    generator = np.random.default_rng(4)
    plain: dict[str, list[float]] = {"random linear": [], "ordinal": [], "interval": [], "fleiss": []}
    for _resample in range(40):
        drawn = generator.integers(30, size=30)
        some = [ratings[place] for place in drawn]
        plain["random linear"].append(cohen_kappa_score(*two[:, drawn], weights="linear", labels=SCALE))
        plain["ordinal"].append(package_alpha(some, "ordinal"))
        plain["interval"].append(package_alpha(some, "interval"))
        plain["fleiss"].append(fleiss_kappa(some))
    found = numbers(ratings, seed=4, resamples=40)
    for name, values in plain.items():
        expected = np.percentile(values, [2.5, 97.5])
        assert (found[name].low, found[name].high) == pytest.approx(tuple(expected), abs=1e-10)


def test_intervals_with_missing_ratings_match_explicit_bootstrap() -> None:
    ratings: list[list[float | None]] = [
        [_ if (i + j) % 4 == 0 else r for j, r in enumerate(item)] for i, item in enumerate(made_up(30))
    ]
    generator = np.random.default_rng(0)
    values = []
    for _resample in range(40):
        values.append(package_alpha([ratings[place] for place in generator.integers(30, size=30)], "ordinal"))
    found = agreement(ratings, SCALE, resamples=40).alphas["ordinal"]
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(values, [2.5, 97.5])), abs=1e-10)


def test_perfect_agreement_of_few_items_has_no_interval() -> None:
    for found in numbers([[1, 1], [2, 2], [4, 4]], resamples=50).values():
        assert (found.value, found.low, found.high, found.reason) == (1, None, None, None)


def test_intervals_contain_the_value_and_shrink_with_more_items() -> None:
    few, many = numbers(made_up(50), resamples=200), numbers(made_up(800), resamples=200)
    for name, found in many.items():
        assert found.low < found.value < found.high
        assert found.high - found.low < (few[name].high - few[name].low) / 2  # sqrt(50 / 800) is 1/4


def test_report_is_reproducible_with_same_seed() -> None:
    ratings = made_up(30)
    assert agreement(ratings, SCALE, seed=1, resamples=20) == agreement(ratings, SCALE, seed=1, resamples=20)
    assert agreement(ratings, SCALE, seed=1, resamples=20) != agreement(ratings, SCALE, seed=2, resamples=20)


def test_signatures_list_the_settings() -> None:
    found = numbers(made_up(20), seed=7, resamples=30)
    shared = f"n:20|ratings:60|interval:95%|resamples:30|seed:7|version:{__version__}"
    assert found["closest linear"].signature == (
        f"weighted kappa|pairing:closest|weights:linear|scale:1..5|values:5|{shared}"
    )
    assert found["fleiss"].signature == f"Fleiss' kappa|{shared}"
    assert found["ordinal"].signature == f"Krippendorff's alpha|level:ordinal|{shared}"
    assert len({each.signature for each in found.values()}) == len(found) == 11
    with_single = numbers([*made_up(20), [3], []], seed=7, resamples=30)
    assert with_single["fleiss"].signature == found["fleiss"].signature, "n counts the items that agreement is of"


# --- what cannot be computed -----------------------------------------------------------------------------------------


def message_of(compute: Callable[[], object], error: type[Exception] = NotComputableError) -> str:
    with pytest.raises(error) as raised:
        compute()
    return str(raised.value)


SAME = "no agreement beyond chance: all ratings are equal; items with different ratings are needed"
UNEVEN = "no Fleiss' kappa: items have 2 to 3 ratings each: use Krippendorff's alpha, which allows any number"


def test_equal_ratings_raise_error() -> None:
    for measure in MEASURES.values():
        assert message_of(lambda measure=measure: measure([[3, 3], [3, 3]])) == SAME
    for weights in WEIGHTS:
        assert message_of(lambda weights=weights: weighted_kappa([3, 3], [3, 3], weights, SCALE)) == SAME


@pytest.mark.parametrize("ratings", [[], [[]], [[1], [2, _]], [[_, _]]])
def test_items_without_two_ratings_raise_error(ratings: Ratings) -> None:
    message = f"no agreement: none of {len(ratings)} items has two ratings"
    for measure in MEASURES.values():
        assert message_of(lambda measure=measure: measure(ratings)) == message
    assert message_of(lambda: two_ratings(ratings, "closest")) == message
    assert message_of(lambda: agreement(ratings, SCALE)) == message
    assert message_of(lambda: weighted_kappa([1] * len(ratings), [_] * len(ratings))) == message


def test_fleiss_kappa_of_uneven_items_raises_error() -> None:
    assert message_of(lambda: fleiss_kappa([[1, 2, 3], [1, 1, 1], [1, 2], [1]])) == UNEVEN


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_non_finite_rating_raises_error(wrong: float) -> None:
    message = f"item 1 (the first is 0) has the rating {wrong}: give None for a missing one"
    ratings = [[1, 2], [2, wrong]]
    for measure in MEASURES.values():
        assert message_of(lambda measure=measure: measure(ratings)) == message
    assert message_of(lambda: two_ratings(ratings, "random")) == message
    assert message_of(lambda: agreement(ratings, SCALE)) == message
    assert message_of(lambda: weighted_kappa([1, 2], [2, wrong])) == message


@pytest.mark.parametrize("far", [1e160, -1e200, 1e308])
def test_overflowing_rating_makes_interval_alpha_not_computable(far: float) -> None:
    """Its squared distances overflow, which gives 1 - inf / inf; ranks and steps between values stay finite."""
    ratings = [[1, 2, 2], [2, 3, 3], [1, 1, far], [3, 3, 2]]
    message = "no agreement: ratings are too far apart to compute with: correct or rescale them"
    assert message_of(lambda: krippendorff_alpha(ratings, "interval")) == message
    assert krippendorff_alpha(ratings, "ordinal") == krippendorff_alpha(
        [[4 * (one == far) * (1 if far > 0 else -1) or one for one in row] for row in ratings], "ordinal"
    )
    report = agreement(ratings, [1, 2, 3, far], resamples=20)
    assert report.alphas["interval"][:3] == (None, None, None)
    assert report.alphas["interval"].reason == message
    assert report.alphas["ordinal"].value is not None


@pytest.mark.parametrize(
    "ratings",
    [
        # The two ratings of each item have d^2 = 2.5e307. The ten ordered pairs add up to more than a float holds; by
        # chance they add up to 10 * 5 / 9 d^2, which is less.
        [[0, 5e153]] * 5,
        # None of the pairs differ; by chance they add up to 2 * 10 * 10 / 19 d^2.
        [[0, 0], [5e153, 5e153]] * 5,
    ],
)
def test_overflow_of_only_one_sum_of_distances_makes_alpha_not_computable(ratings: list[list[float]]) -> None:
    message = "no agreement: ratings are too far apart to compute with: correct or rescale them"
    assert message_of(lambda: krippendorff_alpha(ratings, "interval")) == message


def test_rating_off_the_scale_raises_error() -> None:
    message = "item 1 (the first is 0) has the rating 6, which is not on the scale: 1, 2, 3, 4, 5"
    assert message_of(lambda: agreement([[1, 2], [6], [2, 2]], SCALE)) == message
    assert message_of(lambda: fleiss_kappa([[1, 2], [6, 1]], SCALE)) == message
    assert message_of(lambda: weighted_kappa([1, 2], [2, 6], scale=SCALE)) == message


def test_unequal_numbers_of_ratings_raise_error() -> None:
    assert message_of(lambda: weighted_kappa([1, 2, 3], [1, 2])) == (
        "no kappa for 3 ratings by one rater and 2 by the other: each item needs both"
    )


def test_report_gives_reason_for_missing_fleiss_and_keeps_other_values() -> None:
    ratings = [*made_up(30), [1, 1], [5, 5]]
    report = agreement(ratings, SCALE, resamples=20)
    assert report.fleiss[:3] == (None, None, None)
    assert report.fleiss.reason == UNEVEN
    assert report.fleiss.signature.startswith("Fleiss' kappa|n:32|ratings:94|")
    assert all(found.value is not None and found.reason is None for found in report.kappas.values())
    assert all(found.value is not None and found.reason is None for found in report.alphas.values())


def test_report_has_no_kappa_for_pairing_with_equal_ratings() -> None:
    report = agreement([[1, 5, 5], [2, 5, 5], [5, 5, 5], [3, 5, 5]] * 5, SCALE, resamples=20)
    for weights in WEIGHTS:
        assert report.kappas["highest", weights][:3] == (None, None, None)
        assert report.kappas["highest", weights].reason == SAME
        assert report.kappas["lowest", weights].value is not None


def test_value_does_not_depend_on_how_many_resamples_are_usable() -> None:
    # Each item is unanimous: half of the resamples draw only one of the two items, where agreement is undefined.
    for seed in range(20):
        report = agreement([[1, 1], [2, 2]], SCALE, seed=seed, resamples=31)
        for found in (report.fleiss, *report.alphas.values(), *report.kappas.values()):
            assert (found.value, found.low, found.high, found.reason) == (1, None, None, None)


def test_unusable_resamples_are_left_out() -> None:
    # In .9^10 = 35 % of the resamples the last item is missing and all ratings are equal; in the others alpha is 1.
    found = agreement([[1, 1]] * 9 + [[2, 2]], SCALE, resamples=200).alphas["interval"]
    assert (*found[:3], found.reason) == (1, None, None, None)


def test_invalid_options_raise_option_error() -> None:
    assert message_of(lambda: two_ratings([[1, 2]], "near"), OptionError) == (
        "pairing 'near': must be one of closest, lowest, highest, random"
    )
    assert message_of(lambda: weighted_kappa([1, 2], [1, 2], "cubic"), OptionError) == (
        "weights 'cubic': must be one of linear, quadratic"
    )
    assert message_of(lambda: krippendorff_alpha([[1, 2]], "cardinal"), OptionError) == (
        "level 'cardinal': must be one of nominal, ordinal, interval, ratio"
    )
    assert message_of(lambda: krippendorff_alpha([[-1, 2]], "ratio"), OptionError) == (
        "level ratio: needs ratings of at least 0, but one is -1: use interval"
    )
    assert message_of(lambda: agreement(made_up(5), SCALE, resamples=0), OptionError) == (
        "resamples 0: must be at least 1"
    )
