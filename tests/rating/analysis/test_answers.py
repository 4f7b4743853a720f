"""Answers sorted by kind, and converted to arrays."""

from __future__ import annotations

import numpy as np

from parlai_empathy.rating.analysis.answers import columns_of, named, sort_answers
from parlai_empathy.rating.rating import Rating

SCORE = Rating("1", "Ann", "empathy", 4.0, "A")
PAIR = Rating("1", "Ann", "better", 1.0, "B", "A")
TEXT = Rating("1", "Ann", "reply", None, "A", text="Oh!")
CHECK = Rating("c", "Ann", "empathy", 2.0, "check", check=1.0)
BESIDE = Rating("c", "Ann", "fluency", 5.0, "check")  # also asked about the gold check, but without an expected answer
BESIDE_TEXT = Rating("c", "Ann", "reply", None, "check", text="What?")


def test_answers_are_sorted_by_kind() -> None:
    answers = sort_answers([SCORE, PAIR, TEXT, CHECK, BESIDE, BESIDE_TEXT])
    assert answers.scores == (SCORE,)
    assert answers.preferences == (Rating("1", "Ann", "better", -1.0, "A", "B"),)  # B was better than A
    assert answers.texts == (TEXT,)
    assert answers.checks == (CHECK,)
    assert answers.rated == answers.scores + answers.preferences


def test_check_item_is_excluded_for_all_raters() -> None:
    """Even for a rater whose row has no expected answer, because the question is a different one."""
    assert sort_answers([Rating("c", "Bob", "fluency", 5.0, "check"), CHECK]).scores == ()


def test_same_check_name_in_another_study_is_an_ordinary_item() -> None:
    other = Rating("c", "Ann", "empathy", 3.0, "check", study="two")
    assert sort_answers([CHECK, other]).scores == (other,)


def chosen(values: list[tuple[float | None, str]], **more: str) -> list[Rating]:
    return [Rating(str(i), "Ann", "q", value, "A", text=text, **more) for i, (value, text) in enumerate(values)]


def test_answers_with_one_text_per_number_are_choices() -> None:
    """A choice has one text for each number, and one number for each text."""
    ratings = chosen([(1.0, "a person"), (2.0, "a machine"), (1.0, "a person")])
    answers = sort_answers(ratings)
    assert (answers.choices, answers.scores, answers.texts) == (tuple(ratings), (), ())
    said = chosen([(1.0, "a person")], kind="choice")
    assert sort_answers(said).choices == tuple(said)


def test_ratings_with_inconsistent_texts_are_not_choices() -> None:
    for values in (
        [(1.0, "Oh!"), (2.0, "Why?"), (1.0, "How?")],  # the texts are the rated replies
        [(1.0, "Oh!"), (2.0, "Oh!"), (1.0, "Oh!")],
        [(1.0, "Oh!"), (2.0, "Why?")],  # too few rows to tell
        [(1.0, "low"), (2.0, ""), (1.0, "low")],
        [(1.0, ""), (2.0, ""), (1.0, "")],
    ):
        ratings = chosen(values)
        assert sort_answers(ratings).scores == tuple(ratings)
    said = chosen([(1.0, "low"), (2.0, "high"), (1.0, "low")], kind="likert")
    assert sort_answers(said).scores == tuple(said)
    assert sort_answers(chosen([(None, "Oh!"), (None, "Oh!")])).choices == ()


def test_question_asked_in_several_ways_is_sorted_by_kind_of_answer() -> None:
    """A new version of a study may ask for a choice or a text where the former one had a scale, under the same id."""
    points = chosen([(1.0, ""), (5.0, "")], kind="likert", version="old")
    words = chosen([(None, "It is warm.")], kind="text", version="older")
    choices = chosen([(1.0, "warm"), (2.0, "cold")], kind="choice", version="new")
    answers = sort_answers([*points, *words, *choices])
    assert answers.scores == tuple(points)
    assert answers.texts == tuple(words)
    assert answers.choices == tuple(choices)


def test_likert_rating_of_a_pair_is_assigned_to_combined_system() -> None:
    ratings = [Rating("1", "Ann", "sure", 4.0, *pair, kind="likert", side="left") for pair in ("BA", "AB")]
    assert sort_answers(ratings).scores == (Rating("1", "Ann", "sure", 4.0, "A with B", kind="likert"),) * 2


def test_choice_about_a_pair_is_assigned_to_combined_system() -> None:
    ratings = [Rating("1", "Ann", "both", 2.0, *pair, text="both bad", kind="choice") for pair in ("BA", "AB")]
    combined = Rating("1", "Ann", "both", 2.0, "A with B", text="both bad", kind="choice")
    assert sort_answers(ratings).choices == (combined,) * 2


def test_no_ratings_give_empty_results() -> None:
    assert sort_answers([]).rated == ()
    assert len(columns_of([]).values) == 0


def test_columns_encode_items_and_raters_as_indices() -> None:
    ratings = [
        Rating("x", "Ann", "q", 1.0, "A"),
        Rating("x", "Bob", "q", 2.0, "B"),  # the same item, another system
        Rating("y", "Ann", "q", 3.0, "A"),
        Rating("x", "Ann", "q", 4.0, "A", study="two"),
    ]
    columns = columns_of(ratings)
    assert list(columns.values) == [1, 2, 3, 4]
    assert list(columns.items) == [0, 0, 1, 2]
    assert list(columns.raters) == [0, 1, 0, 0]
    some = columns.some(np.array([False, False, True, True]))
    assert (list(some.values), list(some.items), list(some.raters)) == ([3, 4], [0, 1], [0, 0])


def test_unnamed_system_is_labelled() -> None:
    assert (named("", "system"), named("A", "system")) == ("(no system)", "A")
