"""Differences between systems: the choice of the test, its input and its results."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.rating.analysis.differences import Difference, How, difference
from parlai_empathy.rating.rating import Rating
from parlai_empathy.statistics.bootstrap import bootstrap, expanded_interval, percentile_interval
from parlai_empathy.statistics.rank_tests import rank_sum, signed_rank

QUICK = How(resamples=200)


def rated(system: str, items: dict[str, list[float]]) -> list[Rating]:
    return [Rating(i, f"r{n}", "q", value, system) for i, values in items.items() for n, value in enumerate(values)]


def both(first: dict[str, list[float]], second: dict[str, list[float]], how: How = QUICK) -> Difference:
    return difference(rated("A", first), rated("B", second), how)


FIRST = {"1": [4.0, 5.0], "2": [3.0, 3.0], "3": [5.0], "4": [2.0, 3.0, 4.0]}
SECOND = {"1": [2.0], "2": [3.0, 4.0], "3": [4.0, 4.0], "4": [1.0]}


def test_difference_compares_item_means() -> None:
    found = both(FIRST, SECOND)
    # Means 4.5, 3, 5, 3 and 2, 3.5, 4, 1: differences 2.5, -.5, 1, 2.
    assert found.value == pytest.approx(1.25)
    assert (found.test, found.n) == ("signed-rank", "4")
    assert (found.p_value, found.effect) == signed_rank([2.5, -0.5, 1, 2])[:2]
    # Squared deviations from 3.875: .390625 + .765625 + 1.265625 + .765625;
    # from 2.625: .390625 + .765625 + 1.890625 + 2.640625.
    assert found.d == pytest.approx(1.25 / ((3.1875 + 5.6875) / 6) ** 0.5)
    assert found.interval is not None
    assert found.interval[0] < 1.25 < found.interval[1]
    assert found.reasons == ()
    assert found.signature.startswith(
        "signed-rank|unit:item means|pairing:by item|zeros:left out|p:exact|effect:rank-biserial"
    )


def test_swapping_systems_negates_difference() -> None:
    there, back = both(FIRST, SECOND), both(SECOND, FIRST)
    assert back.value == pytest.approx(-there.value)
    assert back.effect == pytest.approx(-(there.effect or 0))
    assert back.d == pytest.approx(-(there.d or 0))
    assert back.p_value == there.p_value


def test_disjoint_items_are_compared_as_two_samples() -> None:
    second = {f"x{item}": values for item, values in SECOND.items()}
    found = both(FIRST, second)
    assert (found.test, found.n) == ("Mann-Whitney", "4 + 4")
    assert (found.p_value, found.effect) == rank_sum([4.5, 3, 5, 3], [2, 3.5, 4, 1])[:2]
    assert found.value == pytest.approx(1.25)
    assert "|pairing:none|p:exact|" in found.signature


def test_conversations_are_compared_however_many_turns_were_rated() -> None:
    """Turns of one conversation depend on each other: each conversation counts once, with the mean of its turns."""

    def of_turns(system: str, chats: dict[str, list[float]]) -> list[Rating]:
        return [
            Rating(f"{system}-{chat}", f"r{chat}", "q", value, system, turn=str(2 * n))
            for chat, values in chats.items()
            for n, value in enumerate(values, start=1)
        ]

    for how in (QUICK, How(clusters="both", resamples=200), How(test="permutation", resamples=200)):
        found = difference(of_turns("A", FIRST), of_turns("B", SECOND), how)
        means = [
            [Rating(f"{system}-{chat}", f"r{chat}", "q", sum(v) / len(v), system) for chat, v in chats.items()]
            for system, chats in (("A", FIRST), ("B", SECOND))
        ]
        whole = difference(*means, how)
        assert (found.test, found.n) == (whole.test, "4 + 4")
        assert found.p_value == whole.p_value
        assert found.interval is not None
        assert found.interval == pytest.approx(whole.interval)


def test_signature_names_p_value_method() -> None:
    generator = np.random.default_rng(2)
    first, second = ({f"{side}{i}": [float(generator.integers(1, 6))] for i in range(61)} for side in "ab")
    assert "|pairing:none|p:normal|" in both(first, second).signature
    assert "|p:" not in both(first, second, How(test="permutation", resamples=20)).signature
    assert "|p:" not in both({"1": [3.0]}, {"1": [4.0]}).signature


@pytest.mark.parametrize(
    ("first", "second", "shared", "test", "n"),
    [
        (4, 4, 2, "signed-rank", "2"),
        (4, 4, 1, "Mann-Whitney", "4 + 4"),
        (5, 5, 2, "Mann-Whitney", "5 + 5"),
        (9, 4, 2, "signed-rank", "2"),  # half of the smaller set
    ],
)
def test_paired_test_needs_half_of_items_shared(first: int, second: int, shared: int, test: str, n: str) -> None:
    sides = [
        {str(i): [float(i)] for i in range(first)},
        {str(i): [i / 2] for i in range(first - shared, first - shared + second)},
    ]
    found = both(*sides)
    assert (found.test, found.n) == (test, n)


def test_unshared_items_are_ignored_in_paired_test() -> None:
    assert both({**FIRST, "9": [1.0]}, SECOND).value == both(FIRST, SECOND).value


def test_permutation_p_values_match_exact_ones() -> None:
    how = How(test="permutation", resamples=4000)
    pairs = both(FIRST, SECOND, how)
    # Of the 16 ways to sign 2.5, .5, 1 and 2, four have an absolute sum of at least 5: all positive (6), only .5
    # negative (5), and the negatives of both.
    assert pairs.p_value == pytest.approx(0.25, abs=0.02)
    assert (pairs.test, pairs.effect) == ("permutation of pairs", both(FIRST, SECOND).effect)
    apart = both(FIRST, {f"x{item}": values for item, values in SECOND.items()}, how)
    exact = stats.permutation_test(([4.5, 3, 5, 3], [2, 3.5, 4, 1]), lambda a, b: np.mean(a) - np.mean(b)).pvalue
    assert apart.p_value == pytest.approx(exact, abs=0.03)
    assert apart.test == "permutation"


@pytest.mark.parametrize("clusters", ["item", "rater", "both"])
def test_rater_severity_does_not_widen_interval(clusters: str) -> None:
    first, second = ({str(i): [best - r for r in range(4)] for i in range(6)} for best in (5.0, 4.0))
    found = both(first, second, How(clusters=clusters, resamples=50))
    assert found.interval is None
    assert "no interval: all resamples give 1: values that differ are needed" in found.reasons


@pytest.mark.parametrize("second", ["", "x"], ids=["pairs", "two samples"])
def test_permutation_test_scales_swaps_with_number_of_tests(second: str) -> None:
    """All 30 items are rated higher, so no random swap is as extreme: p is 1 / (1 + swaps), with 25 swaps per test."""
    sides = [{f"{name}{i}": [value] for i in range(30)} for name, value in (("", 5.0), (second, 1.0))]
    assert both(*sides, How(test="permutation", resamples=10, tests=3)).p_value == 1 / 76


@pytest.mark.parametrize("second", ["", "x"], ids=["pairs", "two samples"])
def test_results_are_reproducible_by_seed(second: str) -> None:
    first, other = {str(i): [float(i * i % 7)] for i in range(9)}, {f"{second}{i}": [1.0 + i % 2] for i in range(9)}
    found = [both(first, other, How(test="permutation", resamples=50, seed=seed)) for seed in (1, 1, 2)]
    for known in ([one.interval for one in found], [one.p_value for one in found]):
        assert known[0] == known[1] != known[2]


@pytest.mark.parametrize(
    ("clusters", "items_count", "raters_count"),
    [("item", True, False), ("rater", False, True), ("both", True, True)],
)
def test_interval_reflects_resampled_clusters(clusters: str, items_count: bool, raters_count: bool) -> None:
    def width(first: dict[str, list[float]]) -> float:
        found = both(first, {i: [1.0] * 4 for i in first}, How(clusters=clusters, resamples=200))
        low, high = found.interval or (1.5, 1.5)
        assert low - 1e-9 <= 1.5 <= high + 1e-9
        return high - low

    places = [str(i) for i in range(4)]
    assert (width({i: [1.0 + int(i)] * 4 for i in places}) > 1) == items_count  # items differ, raters agree
    assert (width({i: [1.0, 2.0, 3.0, 4.0] for i in places}) > 1) == raters_count  # all items have the same mean


def test_interval_has_nominal_coverage() -> None:
    """In about 95 % of 200 studies of two equally good systems, the interval contains 0."""
    generator = np.random.default_rng(1)
    inside = 0
    for _ in range(200):
        sides = [{str(i): list(generator.normal(0, 1, 2)) for i in range(30)} for _ in range(2)]
        found = both(*sides, How(resamples=200))
        assert found.interval is not None
        inside += found.interval[0] <= 0 <= found.interval[1]
    assert 180 <= inside <= 198


@pytest.mark.parametrize(("second", "fewest"), [("", 6), ("x", 4)])
def test_interval_of_few_items_is_expanded(second: str, fewest: int) -> None:
    """For two samples, the smaller one decides how much; an item counts as its mean, however many ratings it has."""
    values = np.random.default_rng(5).normal(size=(2, 6))
    one, other = values[0, :fewest], values[1]
    sides = [
        {f"{name}{i}": [float(value)] * (1 + i % 3) for i, value in enumerate(side)}
        for name, side in (("", one), (second, other))
    ]

    def apart(places: NDArray[np.intp]) -> float:
        if not second:
            return float((one - other)[places].mean())
        mine, theirs = one[places[places < fewest]], other[places[places >= fewest] - fewest]
        if not len(mine) or not len(theirs):
            raise NotComputableError("all are of one side")
        return float(mine.mean() - theirs.mean())

    drawn = bootstrap(apart, 10 if second else 6, 300, 0)
    found = both(*sides, How(resamples=300))
    assert found.interval == pytest.approx(expanded_interval(drawn, fewest))
    assert found.interval is not None
    assert found.interval[0] < percentile_interval(drawn)[0] < percentile_interval(drawn)[1] < found.interval[1]
    assert "|interval:95%, expanded|" in found.signature


def test_single_rater_gives_no_rater_interval() -> None:
    second = [Rating(str(i), f"r{i % 3}", "q", 1.0 + i, "B") for i in range(4)]
    found = difference(rated("A", {str(i): [2.0 * i] for i in range(4)}), second, How(clusters="rater"))
    assert found.interval is None
    assert "no interval: 1 rater; at least two are needed" in found.reasons


@pytest.mark.parametrize(
    ("first", "second", "missing"),
    [
        ({"1": [3.0]}, {"1": [4.0]}, {"interval", "effect", "d", "p_value"}),
        ({"1": [3.0, 4.0]}, {"2": [4.0]}, {"interval", "effect", "d", "p_value"}),
        ({"1": [3.0], "2": [3.0]}, {"1": [3.0], "2": [3.0]}, {"interval", "effect", "d", "p_value"}),
        ({"1": [3.0], "2": [3.0]}, {"3": [3.0], "4": [3.0]}, {"interval", "effect", "d", "p_value"}),
        ({"1": [4.0], "2": [4.0]}, {"1": [3.0], "2": [3.0]}, {"interval", "d"}),
        ({"1": [4.0], "2": [3.0]}, {"x": [3.0]}, {"interval", "effect", "p_value"}),
    ],
)
def test_uncomputable_statistics_are_none_with_reasons(
    first: dict[str, list[float]], second: dict[str, list[float]], missing: set[str]
) -> None:
    found = both(first, second)
    assert {name for name in ("interval", "effect", "d", "p_value") if getattr(found, name) is None} == missing
    assert all("\n" not in reason for reason in found.reasons)
    assert len(found.reasons) >= 1


def test_unknown_test_or_clusters_raise_option_error() -> None:
    with pytest.raises(OptionError, match=r"^test 'z': must be one of ranks, permutation$"):
        both(FIRST, SECOND, How(test="z"))
    with pytest.raises(OptionError, match=r"^clusters 'z': must be one of item, rater, both$"):
        both(FIRST, SECOND, How(clusters="z"))
