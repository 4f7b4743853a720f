"""Questions as form fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.rating.site.fields import fields_of, longest_form, options_of, sent, sent_partially
from parlai_empathy.rating.study.questions import Choice, FreeText, Likert, Preference, problems

SIDES = ("Reply 1", "Reply 2")
LIKERT = Likert("fit", "Does it fit?", points=5, labels=((1, "not at all"), (5, "very much")))
CHOICE = Choice("kind", "Which?", required=False, choices=("grey", "white"))
TEXT = FreeText("why", "Why?", least=3, most=10)
SIDE = Preference("better", "Which is better?")
ALL = (LIKERT, CHOICE, TEXT, SIDE)


def test_option_values_are_valid_answers() -> None:
    for question in (LIKERT, CHOICE, SIDE):
        for option in options_of(question, SIDES):
            assert problems([question], {question.id: option.value}) == {}
    assert [option.value for option in options_of(SIDE, SIDES)] == ["left", "right", "tie"]
    assert len(options_of(Preference("better", "Which?", tie=False), SIDES)) == 2
    assert options_of(TEXT, SIDES) == ()


def test_shortcut_keys_are_unique_digits() -> None:
    for question in (*ALL, Likert("long", "How much?", points=12)):
        keys = [option.key for option in options_of(question, SIDES) if option.key]
        assert len(set(keys)) == len(keys)
        assert all(len(key) == 1 and key.isdigit() for key in keys)


@pytest.mark.parametrize(
    "choices", [("0", "1", "2"), ("3", "2", "1"), ("1 or 2", "1", "none"), ("a", "b", "c"), tuple("abcdefghijkl")]
)
def test_shortcut_key_is_a_valid_answer_for_its_choice(choices: tuple[str, ...]) -> None:
    question = Choice("herons", "How many?", choices=choices)
    keys = {option.key: option.text for option in options_of(question, SIDES) if option.key}
    assert keys == {key: question.read(key).text for key in keys}  # type: ignore[union-attr]
    assert len(keys) >= 2


def test_only_short_likert_questions_are_scales() -> None:
    many, wordy = Likert("a", "A?", points=8), Likert("b", "B?", points=5, labels=((1, "in no way whatsoever"),))
    assert [field.is_scale for field in fields_of((LIKERT, many, wordy, CHOICE), SIDES, {})] == [
        True,
        False,
        False,
        False,
    ]


@given(st.dictionaries(st.sampled_from([question.id for question in ALL]), st.text(max_size=12)))
def test_fields_have_problems_exactly_for_invalid_answers(said: dict[str, str]) -> None:
    wrong = problems(ALL, said)
    for question, field in zip(ALL, fields_of(ALL, SIDES, said, check=True), strict=True):
        assert bool(field.problem) == (question.id in wrong)
        assert "question" not in field.problem  # the message of ``problems`` is for programs


def test_fields_have_no_problems_before_submission() -> None:
    assert [field.problem for field in fields_of(ALL, SIDES, {})] == [""] * 4


def test_described_by_lists_hint_and_problem_ids() -> None:
    fit, kind, why, _ = fields_of(ALL, SIDES, {}, check=True)
    assert (fit.described_by, kind.described_by, why.described_by) == (
        "q-fit-problem",
        "",
        "q-why-hint q-why-problem",
    )


def test_sent_reads_only_the_given_questions() -> None:
    assert sent((LIKERT, TEXT), {"q-fit": "3", "fit": "4", "q-other": "5"}) == {"fit": "3", "why": ""}


def test_sent_partially_omits_questions_missing_from_the_form() -> None:
    form = {"q-fit": "3", "why": "not a question's field", "kind": "neither"}
    assert sent_partially(ALL, form) == {"fit": "3"}
    assert sent(ALL, form) == {"fit": "3", "kind": "", "why": "", "better": ""}


def test_longest_form_is_sized_by_the_form_with_most_text() -> None:
    long = FreeText("more", "More?", most=90)
    room = longest_form([LIKERT])
    assert longest_form([LIKERT, TEXT], [CHOICE, TEXT, long], text=50) - room == 12 * 100
    assert longest_form([TEXT], text=50) - room == 12 * 50
    assert longest_form([], [LIKERT]) == room
