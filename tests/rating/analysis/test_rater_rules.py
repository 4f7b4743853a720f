"""The rules that flag a rater's answers for review."""

from __future__ import annotations

import pytest

from parlai_empathy.rating.analysis.rater_rules import (
    chance_of_same_answers,
    disagrees_with_others,
    enough_times,
    gold_checks,
    one_side,
    replies,
    speed,
    straight_lining,
)

VARIED = [("q", float(value)) for value in (1, 2, 3, 4, 5) * 20]  # 20 of each


def test_chance_of_same_answers_matches_hand_computation() -> None:
    # Others gave 3, 3, 4; the points are 3 and 4. With one added to each count: 3/5 and 2/5. Two answers: .36 + .16.
    others = [("q", 3.0), ("q", 3.0), ("q", 4.0)]
    assert chance_of_same_answers([("q", 3.0), ("q", 3.0)], others, 2) == pytest.approx(0.52)
    # A second question, to which others gave only 4: 1/3 and 2/3.
    assert chance_of_same_answers([("q", 3.0), ("p", 3.0)], [*others, ("p", 4.0)], 2) == (
        pytest.approx(0.6 / 3 + 0.4 * 2 / 3)
    )
    # If both are asked on one page, they count as one answer: the square roots of these products.
    assert chance_of_same_answers([("q", 3.0), ("p", 3.0)], [*others, ("p", 4.0)], 1) == (
        pytest.approx((0.6 / 3) ** 0.5 + (0.4 * 2 / 3) ** 0.5)
    )


def test_straight_lining_flags_improbably_constant_ratings() -> None:
    assert straight_lining([("q", 3.0)] * 10, VARIED, 10) == "all 10 ratings are 3"
    assert straight_lining([("q", 3.0)] * 5, VARIED, 5) is None  # 5 * .2**5 = .0016 is not rare enough
    assert straight_lining([("q", 3.0)] * 6, VARIED, 6) == "all 6 ratings are 3"  # 5 * .2**6 = .0003
    assert straight_lining([("q", 3.0)] * 9 + [("q", 4.0)], VARIED, 10) is None


def test_one_side_flags_constant_side_preference() -> None:
    others = [("q", side) for side in (1.0, -1.0, 0.0) * 30]
    assert one_side([("q", 1.0)] * 9, others, 9) == "all 9 comparisons are for the left side"
    assert one_side([("q", -1.0)] * 9, others, 9) == "all 9 comparisons are for the right side"
    assert one_side([("q", 0.0)] * 9, others, 9) == "all 9 comparisons are ties"
    assert one_side([("q", 1.0)] * 5, others, 5) is None
    assert one_side([("q", 1.0)] * 8 + [("q", -1.0)], others, 9) is None


def test_straight_lining_allows_usual_answers() -> None:
    mostly_five = [("q", 5.0)] * 95 + [("q", 4.0)] * 5
    assert straight_lining([("q", 5.0)] * 20, mostly_five, 20) is None
    assert straight_lining([("q", 4.0)] * 200, mostly_five, 200) is not None
    assert straight_lining([("q", 5.0)] * 200, [], 200) is None  # nobody to compare with


def test_several_questions_of_a_page_count_once() -> None:
    """Who likes a reply likes it in every respect: five pages of three questions are not 15 answers."""
    others = [(question, value) for question in "abc" for value in (1.0, 2.0, 3.0, 4.0, 5.0) * 20]
    answers = [(question, 3.0) for question in "abc"] * 5
    assert straight_lining(answers, others, 5) is None
    assert straight_lining(answers, others, 15) == "all 15 ratings are 3"


def test_speed_flags_unusually_fast_raters() -> None:
    usual = [20.0, 22.0, 25.0, 30.0, 18.0, 24.0]
    assert speed([5.0, 6.0, 4.0], [*usual, 5.0]) == "5.0 seconds per page, where 22.0 are usual"
    assert speed([13.0, 14.0, 12.0], [*usual, 13.0]) is None  # less than twice as fast
    assert speed([60.0, 90.0, 80.0], [*usual, 80.0]) is None  # slow raters are not flagged
    assert speed([0.0, 0.0, 0.0], [*usual, 0.0]) is not None


def test_speed_needs_three_pages_and_five_raters() -> None:
    usual = [20.0, 22.0, 25.0, 30.0]
    assert enough_times([5.0, 6.0, 4.0], [*usual, 5.0])
    assert not enough_times([5.0, 6.0], [*usual, 5.5])
    assert not enough_times([5.0, 6.0, 4.0], usual)


def test_speed_threshold_widens_with_spread_of_raters() -> None:
    everybody = [5.0, 10.0, 20.0, 40.0, 80.0, 160.0]
    assert speed([5.0, 5.0, 5.0], everybody) is None
    assert speed([0.02, 0.02, 0.02], [*everybody, 0.02]) is not None


def test_speed_threshold_uses_median_absolute_deviation() -> None:
    """The median of abs(log(seconds / 20)) is log(4/3) = .288, and three times 1.4826 times this is 1.28."""
    others = [15.0, 20.0, 80 / 3, 100 / 3]
    assert speed([7.0] * 3, [7.0, *others]) is None  # log(20/7) = 1.05
    assert speed([5.0] * 3, [5.0, *others]) is not None  # log(20/5) = 1.39


def test_speed_without_spread_uses_factor_of_two() -> None:
    assert speed([5.0] * 3, [20.0] * 9 + [5.0]) is not None  # without any spread, only the factor of two counts
    assert speed([0.0] * 3, [0.0] * 9) is None


@pytest.mark.parametrize(
    ("failed", "checks", "seen"),
    [(0, 0, None), (0, 3, None), (1, 2, None), (1, 1, "1 of 1 checks failed"), (2, 3, "2 of 3 checks failed")],
)
def test_gold_checks_flags_more_than_half_failed(failed: int, checks: int, seen: str | None) -> None:
    assert gold_checks(failed, checks) == seen


def test_disagrees_with_others_flags_unusually_low_correlation() -> None:
    seen = "correlation of -0.10 with the others on 30 items, where 0.60 is usual"
    assert disagrees_with_others(-0.1, 30, 0.6) == seen
    # atanh(.6) = .693; 2.33 / sqrt(27) = .448: correlations below tanh(.693 - .448) = tanh(.245) = .24 are flagged.
    assert disagrees_with_others(0.235, 30, 0.6) is not None
    assert disagrees_with_others(0.245, 30, 0.6) is None
    assert disagrees_with_others(-0.1, 7, 0.6) is None  # 2.33 / sqrt(4): too few items to tell
    assert disagrees_with_others(-1.0, 4, 0.6) is None
    assert disagrees_with_others(-0.3, 30, 0.05) is None  # where raters hardly agree, nobody is flagged
    assert disagrees_with_others(1.0, 30, 1.0) is None


def test_replies_flags_generic_gibberish_and_repeated_texts() -> None:
    good = [f"What did the number {word} tell you?" for word in ("one", "two", "three", "four", "five", "six")]
    assert replies(good) == {}
    assert replies([]) == {}
    assert replies(["ok"] * 4) == {}  # four replies are too few
    assert replies(["ok", "yes", "No!", *good[:2]]) == {"generic": "3 of 5 replies are generic"}
    assert replies(["ok", "yes", *good[:3]]) == {}
    assert replies(["asdf", "sdfg", *good]) == {"gibberish": "2 of 8 replies are not words"}
    assert replies(["asdf", "sdfg", *good, *(f"{text} And then?" for text in good[:3])]) == {}  # 2 of 11
    assert replies(["asdf", *good[:2]]) == {}  # one may be a slip
    assert replies([good[0]] * 4 + good[1:3]) == {"same": "4 of 6 replies are the same"}
    assert replies([good[0]] * 3 + good[1:4]) == {}


def test_replies_flags_other_languages() -> None:
    assert replies(["очень жаль", "почему?", "ok"]) == {"language": "2 of 3 replies are not in Latin letters"}
    spanish = [
        "lo siento mucho por tu gato",
        "espero que salga todo bien",
        "mi hermano vive lejos",
        "eso es muy triste",
    ]
    assert replies(spanish) == {}  # too few words to tell
    assert replies([*spanish, *(f"{text} otra vez hoy" for text in spanish)]) == {
        "language": "only 0 % of the replies' words are common in English"
    }
    # Gibberish has its own rule.
    assert set(replies(["asdf sdfg dfgh fghj"] * 12)) == {"gibberish", "same"}
