"""Which answers questions accept, and how they are stored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.study.questions import Answer, Choice, FreeText, Likert, Preference, problems, read_answers

LIKERT = Likert("liking", "Do you like it?", labels=((1, "no"), (5, "yes")))
CHOICE = Choice("colour", "Which colour?", choices=("red", "Sea green", "2"))
TEXT = FreeText("why", "Why?", least=3, most=10)
BETTER = Preference("better", "Which is better?")


@pytest.mark.parametrize(
    ("question", "raw", "expected"),
    [
        (LIKERT, 1, Answer(1.0)),
        (LIKERT, "5", Answer(5.0)),
        (LIKERT, " 4 ", Answer(4.0)),
        (LIKERT, 3.0, Answer(3.0)),  # JSON from a page
        (CHOICE, "red", Answer(1.0, "red")),
        (CHOICE, "SEA GREEN", Answer(2.0, "Sea green")),
        (CHOICE, "1", Answer(1.0, "red")),
        (CHOICE, "2", Answer(3.0, "2")),  # a choice's text takes precedence over its number
        (TEXT, "  abc ", Answer(None, "abc")),
        (TEXT, "0123456789", Answer(None, "0123456789")),
        (BETTER, "left", Answer(1.0)),
        (BETTER, "RIGHT", Answer(-1.0)),
        (BETTER, "tie", Answer(0.0)),
        (BETTER, "2", Answer(-1.0)),
        (BETTER, 0, Answer(0.0)),
        (Likert("x", "?", required=False), "", None),
        (Likert("x", "?", required=False), None, None),
    ],
)
def test_valid_answer_is_parsed(question: Likert, raw: object, expected: Answer | None) -> None:
    assert question.read(raw) == expected


@pytest.mark.parametrize(
    ("question", "raw", "message"),
    [
        (LIKERT, 0, "question liking: '0' is not a valid answer: expected a number from 1 to 5 (1 = no, 5 = yes)"),
        (LIKERT, "6", "'6' is not a valid answer"),
        (LIKERT, "4.5", "'4.5' is not a valid answer"),
        (LIKERT, "4_0", "'4_0' is not a valid answer"),
        (LIKERT, "-1", "'-1' is not a valid answer"),
        (LIKERT, "٣", "is not a valid answer"),
        (LIKERT, True, "True is neither a text nor a number"),
        (LIKERT, [4], "[4] is neither a text nor a number"),
        (LIKERT, float("nan"), "'nan' is not a valid answer"),
        (LIKERT, float("inf"), "'inf' is not a valid answer"),
        (LIKERT, "", "question liking has no answer: expected a number from 1 to 5"),
        (LIKERT, None, "has no answer"),
        (LIKERT, "9" * 5000, "is not a valid answer"),
        (CHOICE, "4", "expected one of 1 = red, 2 = Sea green, 3 = 2"),
        (CHOICE, "blue", "'blue' is not a valid answer"),
        (TEXT, "ab", "question why: the text has 2 characters: expected a text of 3 to 10 characters"),
        (TEXT, "x" * 11, "the text has 11 characters"),
        (TEXT, "   ", "question why has no answer"),
        (TEXT, "abc\0", "a null character"),
        (TEXT, "abc\ud800", "half a character"),
        (BETTER, "3", "expected 1 = the first (left), 2 = the second (right), 0 = tie"),
        (Preference("better", "?", tie=False), "tie", "expected 1 = the first (left), 2 = the second (right)"),
    ],
)
def test_invalid_answer_error_is_one_line_naming_expected_values(question: Likert, raw: object, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        question.read(raw)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@given(
    st.one_of(st.none(), st.text(), st.integers(), st.floats(), st.booleans(), st.lists(st.integers(), max_size=2)),
    st.sampled_from([LIKERT, CHOICE, TEXT, BETTER]),
)
def test_arbitrary_input_gives_valid_answer_or_option_error(raw: object, question: Likert) -> None:
    try:
        answer = question.read(raw)
    except OptionError:
        return
    assert answer is not None
    stored = {LIKERT: range(1, 6), CHOICE: range(1, 4), TEXT: [None], BETTER: (-1, 0, 1)}[question]
    assert answer.rating in stored
    assert answer.text is None or answer.text.encode()


def test_answers_of_a_page_are_read_by_question() -> None:
    questions = [LIKERT, FreeText("why", "Why?", required=False)]
    assert read_answers(questions, {"liking": "4"}) == {"liking": Answer(4.0)}
    assert read_answers(questions, {"liking": "4", "why": "so"}) == {"liking": Answer(4.0), "why": Answer(None, "so")}


def test_problems_are_reported_per_question() -> None:
    wrong = problems([LIKERT, TEXT], {"why": "a", "age": "40"})
    assert list(wrong) == ["liking", "why", "age"]
    assert wrong["age"] == "question 'age' was not asked: the questions are liking, why"
    with pytest.raises(OptionError, match="question liking has no answer"):
        read_answers([LIKERT, TEXT], {"why": "a", "age": "40"})
