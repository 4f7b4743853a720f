"""Each rater's statistics and flags: computed by hand, and on simulated raters with known faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from parlai_empathy.rating.analysis.raters import Rater, judge_raters, reasons
from parlai_empathy.rating.rating import Rating

TURN = {"left": "right", "right": "left"}
SAYINGS = ["What did you tell her?", "That must have been hard.", "When will you know more?", "I would have left, too."]


def by_name(ratings: list[Rating], tolerance: float = 0.0, excluded: Sequence[str] = ()) -> dict[str, Rater]:
    return {one.name: one for one in judge_raters(ratings, tolerance, excluded)}


def study(seed: int = 0) -> list[Rating]:
    """Twelve raters answer two questions on 40 replies: w0 always gives 3, w1 answers fast and at random, w2 fails the
    checks, w3 always writes the same reply.
    """
    generator = np.random.default_rng(seed)
    ratings = []
    for item in range(40):
        quality = generator.normal(3, 1.2)
        for rater in range(12):
            for question in ("empathy", "fluency"):
                value = round(float(np.clip(quality + generator.normal(0, 0.6), 1, 5)))
                value = 3 if rater == 0 else int(generator.integers(1, 6)) if rater == 1 else value
                seconds = float(generator.lognormal(3, 0.2)) * (0.2 if rater == 1 else 1.0)
                ratings.append(Rating(f"i{item}", f"w{rater}", question, value, "A", seconds=seconds))
            said = "Nice to hear!" if rater == 3 else f"{SAYINGS[item % 4]} {item}"
            ratings.append(Rating(f"i{item}", f"w{rater}", "reply", None, "A", text=said))
    return ratings + [
        Rating(f"c{number}", f"w{rater}", "empathy", 5.0 if rater == 2 else 1.0, "check", check=1.0)
        for number in range(2)
        for rater in range(12)
    ]


def test_only_faulty_raters_are_flagged() -> None:
    raters = by_name(study())
    flags = {name: set(one.flags) for name, one in raters.items() if one.flags}
    assert flags == {"w0": {"straight-lining"}, "w1": {"speed", "others"}, "w2": {"checks"}, "w3": {"same"}}
    assert reasons(list(raters.values())) == {name: "; ".join(raters[name].flags.values()) for name in flags}
    assert raters["w0"].flags["straight-lining"] == "all 80 ratings are 3"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_faultless_raters_are_not_flagged(seed: int) -> None:
    raters = by_name([one for one in study(seed) if one.rater not in ("w0", "w1", "w2", "w3")])
    assert {name: one.flags for name, one in raters.items() if one.flags} == {}


def few(raters: int, pages: int = 8) -> list[Rating]:
    """Raters who agree and take their time, but for the last one, who answers the opposite within a second."""
    return [
        Rating(f"i{page}", f"w{rater}", "q", 6.0 - value if rater == raters - 1 else value, "A", seconds=seconds)
        for rater in range(raters)
        for page, value in enumerate([1.0, 2.0, 4.0, 5.0, 2.0, 4.0, 1.0, 5.0][:pages])
        for seconds in [1.0 if rater == raters - 1 else 20.0 + rater]
    ]


def test_rules_that_need_five_raters_judge_none_of_four() -> None:
    four, five = by_name(few(4)), by_name(few(5))
    assert {name: (one.judged, one.flags) for name, one in four.items()} == {f"w{n}": (set(), {}) for n in range(4)}
    assert all(one.judged == {"speed", "others"} for one in five.values())
    assert set(five["w4"].flags) == {"speed", "others"}
    left_out = by_name(few(5), excluded=("w0",))  # four remain
    assert not any(one.judged for one in left_out.values())


def test_rules_judge_only_raters_with_enough_pages_and_shared_items() -> None:
    newcomer = [Rating(f"i{page}", "new", "q", 3.0, "A", seconds=20.0) for page in range(2)]
    raters = by_name([*few(5), *newcomer])
    assert raters["new"].judged == set()
    assert raters["w0"].judged == {"speed", "others"}
    assert all(one.judged == {"speed"} for one in by_name(few(5, pages=4)).values())  # four items, of five


def test_rater_statistics_match_hand_counts() -> None:
    ratings = [
        Rating("1", "Ann", "q", 4.0, "A", seconds=25.0),
        Rating("1", "Ann", "p", 4.0, "A", seconds=10.0),  # the same page
        Rating("2", "Ann", "q", 2.0, "A", seconds=5.0),
        Rating("2", "Ann", "better", 1.0, "A", "B", seconds=22.0),
        Rating("2", "Ann", "why", None, "A", text="Because.", seconds=30.0),
        Rating("c", "Ann", "q", 4.0, "check", check=5.0),
        Rating("1", "Bob", "q", 3.0, "A"),
    ]
    ann, bob = judge_raters(ratings)
    assert (ann.ratings, ann.texts, ann.checks, ann.failed) == (4, 1, 1, 1)
    assert ann.same == pytest.approx(2 / 3)  # of her three ratings of single replies, two are equal
    assert ann.seconds == 25.0  # the median of her pages: 25, 30 (with its text), 22
    assert (bob.ratings, bob.texts, bob.checks, bob.seconds, bob.same) == (1, 0, 0, None, 1.0)
    assert (ann.shared, ann.correlation) == (1, None)  # one pair has no correlation
    assert by_name(ratings, tolerance=1.0)["Ann"].failed == 0


def test_correlation_with_other_raters_matches_hand_computation() -> None:
    """The correlation is with the mean of the other raters of each item; items that nobody else rated are ignored."""
    said = {"Ann": [1, 2, 3, 5], "Bob": [2, 2, 4, 4], "Cyd": [1, 3]}
    ratings = [Rating(str(i), name, "q", v) for name, values in said.items() for i, v in enumerate(values)]
    ratings.append(Rating("alone", "Ann", "q", 1.0))
    found = by_name(ratings)["Ann"]
    assert found.shared == 4
    assert found.correlation == pytest.approx(np.corrcoef([1, 2, 3, 5], [1.5, 2.5, 4.0, 4.0])[0, 1])


def test_correlation_standardizes_questions() -> None:
    """Perfect agreement on a scale from 1 to 3 and the opposite on one from 0 to 100 cancel out."""
    said = {("Ann", "q"): [1, 2, 3], ("Bob", "q"): [1, 2, 3], ("Ann", "p"): [0, 50, 100], ("Bob", "p"): [100, 50, 0]}
    ratings = [Rating(str(i), name, q, v) for (name, q), values in said.items() for i, v in enumerate(values)]
    assert by_name(ratings)["Ann"].correlation == pytest.approx(0, abs=1e-9)
    assert by_name(ratings)["Ann"].shared == 3


@pytest.mark.parametrize(("raters", "flags"), [(4, set()), (5, {"others"})])
def test_disagreement_is_flagged_only_with_five_or_more_raters(raters: int, flags: set[str]) -> None:
    """The last rater's ratings are the reverse of the others'."""
    said = [[1 + i % 5 for i in range(40)]] * (raters - 1) + [[5 - i % 5 for i in range(40)]]
    found = by_name(
        [Rating(str(i), f"w{w}", "q", v, "A") for w, values in enumerate(said) for i, v in enumerate(values)]
    )
    assert [set(one.flags) for one in found.values()] == [*[set()] * (raters - 1), flags]


def test_correlation_ignores_question_means() -> None:
    """Within each question Ann's ratings are the opposite of Bob's, though both rate fluency higher than empathy."""
    said = {("Ann", "e"): [1, 2, 1], ("Bob", "e"): [2, 1, 2], ("Ann", "f"): [5, 4, 5], ("Bob", "f"): [4, 5, 4]}
    ratings = [Rating(str(i), name, q, v) for (name, q), values in said.items() for i, v in enumerate(values)]
    assert by_name(ratings)["Ann"].correlation == pytest.approx(-1.0)


def test_correlation_of_preferences_ignores_system_order() -> None:
    values = [1, -1, 0, 1, -1, 1]
    ratings = [Rating(str(i), "Ann", "q", v, "A", "B") for i, v in enumerate(values)]
    ratings += [Rating(str(i), "Bob", "q", -v, "B", "A") for i, v in enumerate(values)]
    assert by_name(ratings)["Ann"].correlation == pytest.approx(1.0)


def test_constant_system_preference_is_not_flagged() -> None:
    ratings = [Rating(str(i), "Ann", "q", 1.0, "A", "B") for i in range(50)]
    ratings += [Rating(str(i), "Bob", "q", (-1.0) ** i, "A", "B") for i in range(50)]
    assert by_name(ratings)["Ann"].flags == {}


def test_constant_side_preference_is_flagged_as_straight_lining() -> None:
    """Ann always prefers A, on whichever side it is; Bob always prefers the left side, whichever system is there."""
    ratings = []
    for item in range(30):
        side = "left" if item % 2 else "right"
        said = {"Ann": 1.0, "Bob": 1.0 if side == "left" else -1.0, "Cyd": (-1.0) ** (item // 3)}
        ratings += [Rating(str(item), name, "q", value, "A", "B", side=side) for name, value in said.items()]
    turned = [
        replace(one.oriented(), system="B", other="A", rating=-(one.rating or 0), side=TURN[one.side])
        for one in ratings
    ]
    for rows in (ratings, turned):  # the file may name either system first
        flags = {name: dict(one.flags) for name, one in by_name(rows).items()}
        assert flags == {
            "Ann": {},
            "Bob": {"straight-lining": "all 30 comparisons are for the left side"},
            "Cyd": {},
        }


@pytest.mark.parametrize(
    "ratings",
    [
        [],
        [Rating("1", "Ann", "q", 3.0)],
        [Rating(str(i), "Ann", "q", 3.0) for i in range(30)],
        [Rating("1", f"w{i}", "q", 3.0, seconds=0.0) for i in range(30)],
        [Rating(str(i), f"w{j}", "q", 3.0) for i in range(9) for j in range(9)],
        [Rating("1", "Ann", "q", None, text="")],
    ],
    ids=["none", "one", "one rater", "one item", "constant", "an empty text"],
)
def test_too_little_data_gives_no_flags(ratings: list[Rating]) -> None:
    for one in judge_raters(ratings):
        assert one.flags == {}
        assert one.correlation is None


@pytest.mark.parametrize("kind", ["preference", ""])
def test_check_tolerance_applies_only_to_scales(kind: str) -> None:
    ratings = [
        Rating("c1", "Ann", "better", 0.0, "check", "check_other", check=1.0, kind=kind),
        Rating("c2", "Ann", "kind", 2.0, "check", text="white", check=1.0, kind="choice"),
        Rating("c3", "Ann", "liking", 4.0, "check", check=5.0),
        Rating("c4", "Ann", "sure", 4.0, "check", "check_other", check=5.0, kind="likert"),
    ]
    ann = by_name(ratings, tolerance=1.0)["Ann"]
    assert (ann.checks, ann.failed) == (4, 2)


def test_check_tolerance_does_not_apply_to_inferred_choices() -> None:
    """The other answers show that it is a choice: each number has its text."""
    who = [(1.0, "a person"), (2.0, "a machine"), (1.0, "a person")]
    ratings = [Rating(str(i), "Ann", "who", value, "A", text=text) for i, (value, text) in enumerate(who)]
    ratings.append(Rating("c", "Ann", "who", 2.0, "check", text="a machine", check=1.0))
    assert by_name(ratings, tolerance=1.0)["Ann"].failed == 1


def test_check_tolerance_applies_to_a_scale_that_is_a_choice_in_another_version() -> None:
    ratings = [
        Rating("1", "Ann", "tone", 2.0, "A", text="cold", kind="choice", version="new"),
        Rating("c", "Ann", "tone", 4.0, "check", check=5.0, kind="likert", version="old"),
    ]
    assert by_name(ratings, tolerance=1.0)["Ann"].failed == 0


def test_included_raters_are_judged_as_if_the_excluded_were_not_there() -> None:
    ratings, excluded = study(), ("w1", "w5")
    found = by_name(ratings, excluded=excluded)
    without = by_name([one for one in ratings if one.rater not in excluded])
    assert {name: one for name, one in found.items() if name not in excluded} == without
    assert found["w6"].correlation != by_name(ratings)["w6"].correlation


def test_excluded_rater_is_compared_with_the_included_ones() -> None:
    """The third rater is excluded; the fourth, who is excluded too, says the opposite of the first two."""
    values = {"ann": (1, 2, 4, 5), "bob": (1, 3, 4, 5), "cid": (3, 3, 1, 5), "dot": (5, 4, 2, 1)}
    ratings = [Rating(f"i{n}", name, "q", float(value)) for name, row in values.items() for n, value in enumerate(row)]
    found = by_name(ratings, excluded=("cid", "dot"))
    means = [1.0, 2.5, 4.0, 5.0]
    assert found["cid"].correlation == pytest.approx(np.corrcoef(values["cid"], means)[0, 1])
    assert found["dot"].correlation == pytest.approx(np.corrcoef(values["dot"], means)[0, 1])
    assert found["ann"].correlation == pytest.approx(np.corrcoef(values["ann"], values["bob"])[0, 1])
    assert {one.shared for one in found.values()} == {4}
