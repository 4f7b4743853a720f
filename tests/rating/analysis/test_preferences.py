"""Comparisons: tallies by hand, and strengths with their intervals."""

from __future__ import annotations

import math
import re

import pytest

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.rating.analysis.preferences import strengths, tallies
from parlai_empathy.rating.rating import Rating


def compared(first: str, second: str, items: dict[str, list[int]]) -> list[Rating]:
    return [
        Rating(item, f"r{n}", "q", float(value), first, second)
        for item, values in items.items()
        for n, value in enumerate(values)
    ]


SAID = compared("A", "B", {"1": [1, 1, -1], "2": [0, 0, 1], "3": [-1, 1], "4": [0, 0, 0], "5": [-1, -1, 1]})


def test_tallies_count_each_rating() -> None:
    assert tallies(SAID) == {("A", "B"): (5, 5, 4)}


def test_tallies_by_item_count_majorities() -> None:
    # Majorities: A, A (ties do not count), none, none, B.
    assert tallies(SAID, "item") == {("A", "B"): (2, 2, 1)}


def test_tallies_by_item_separate_studies() -> None:
    twice = [Rating("1", "r", "q", value, "A", "B", study=study) for study, value in (("x", 1.0), ("y", -1.0))]
    assert tallies(twice, "item") == {("A", "B"): (1, 0, 1)}


def test_tallies_separate_system_pairs() -> None:
    said = [*compared("A", "B", {"1": [1]}), *compared("A", "C", {"1": [-1]})]
    assert tallies(said, "item") == {("A", "B"): (1, 0, 0), ("A", "C"): (0, 0, 1)}
    assert tallies([]) == {}


def test_unknown_tally_unit_raises_option_error() -> None:
    with pytest.raises(OptionError, match=r"^unit 'rater': must be one of item, rating$"):
        tallies(SAID, "rater")


def test_strengths_match_hand_computation() -> None:
    # 5 wins, 5 ties and 4 losses: 7.5 to 6.5.
    found = strengths(SAID, "item", 200, 0)
    half = math.log(7.5 / 6.5) / 2
    assert {name: value for name, (value, _) in found.values.items()} == pytest.approx({"A": half, "B": -half})
    (low, high), (other_low, other_high) = (interval or (0, 0) for _, interval in found.values.values())
    assert low < half < high
    assert (other_low, other_high) == pytest.approx((-high, -low))
    assert "|ties:half a win|" in found.signature
    assert "|usable:" in found.signature


def test_strengths_are_sorted_and_intervals_match_normal_theory() -> None:
    """With two systems a strength is half the log-odds, whose standard error is 1 / sqrt(n * p * (1 - p))."""
    wins = [-1] * 300 + [1] * 100  # B is preferred in 3 of 4
    found = strengths(compared("A", "B", {str(i): [said] for i, said in enumerate(wins)}), "item", 1000, 0)
    assert list(found.values) == ["B", "A"]
    value, interval = found.values["B"]
    assert value == pytest.approx(math.log(3) / 2)
    half = 1.96 * 0.5 / (400 * 0.75 * 0.25) ** 0.5
    assert interval == pytest.approx((value - half, value + half), abs=0.1 * half)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (compared("A", "B", {"1": [1, 1], "2": [1]}), "A never lost or tied against the others"),
        ([*compared("A", "B", {"1": [1, -1]}), *compared("C", "D", {"1": [1, -1]})], "A, B | C, D are never compared"),
    ],
)
def test_undefined_strengths_raise_not_computable_error(said: list[Rating], words: str) -> None:
    with pytest.raises(NotComputableError) as error:
        strengths(said, "item", 50, 0)
    assert words in str(error.value)


def test_strengths_of_one_item_have_no_interval() -> None:
    one_item = strengths(compared("A", "B", {"1": [1, 1, -1]}), "item", 50, 0)
    assert one_item.reason == "no interval: 1 item; at least two are needed"
    assert one_item.values["A"] == (pytest.approx(math.log(2) / 2), None)


def test_strengths_that_are_equal_in_all_resamples_have_no_interval() -> None:
    ties = strengths(compared("A", "B", {"1": [0, 0], "2": [0], "3": [1, -1]}), "item", 50, 0)
    assert ties.values == {"A": (pytest.approx(0), None), "B": (pytest.approx(0), None)}
    assert ties.reason == "B: no interval: all resamples give 0: values that differ are needed"


def test_resamples_without_strengths_are_skipped() -> None:
    """A loses one of 31 items; the (30/31)**31 = 36 % of resamples that miss this item have no strengths."""
    rare = strengths(compared("A", "B", {**{str(i): [1] for i in range(30)}, "x": [-1]}), "item", 400, 0)
    assert rare.reason is None
    usable = int(re.search(r"\|usable:(\d+)\|", rare.signature)[1])  # type: ignore[index]
    assert usable / 400 == pytest.approx(1 - (30 / 31) ** 31, abs=0.07)


@pytest.mark.parametrize(
    ("clusters", "items_count", "raters_count"),
    [("item", True, False), ("rater", False, True), ("both", True, True)],
)
def test_intervals_reflect_resampled_clusters(clusters: str, items_count: bool, raters_count: bool) -> None:
    def width(said: dict[str, list[int]]) -> float:
        value, interval = strengths(compared("A", "B", said), clusters, 200, 0).values["A"]
        assert value == pytest.approx(math.log(3 / 2) / 2)  # three of five are wins
        low, high = interval or (0, 0)
        return high - low

    said = [1, 1, -1, 1, -1]
    assert (width({str(i): [one] * 5 for i, one in enumerate(said)}) > 0.5) == items_count
    assert (width({str(i): said for i in range(5)}) > 0.5) == raters_count


def test_intervals_are_reproducible_by_seed() -> None:
    found = [strengths(SAID, "item", 50, seed).values for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
