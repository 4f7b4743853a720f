"""Completions of language models."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.language_models.completion import Completion, NoAnswer, answer_of, cut_at_stop


def test_text_is_cut_at_the_earliest_stop_text() -> None:
    assert cut_at_stop("I see. AI: yes Human: no", ("Human:", "AI:")) == ("I see. ", True)
    assert cut_at_stop("I see.", ("Human:",)) == ("I see.", False)
    assert cut_at_stop("I see.", ()) == ("I see.", False)


@given(st.text(alphabet="ab", max_size=12), st.lists(st.text(alphabet="ab", min_size=1, max_size=3), max_size=3))
def test_cut_text_ends_where_the_first_complete_stop_text_starts(text: str, stop: list[str]) -> None:
    left, stopped = cut_at_stop(text, stop)
    # Position by position, as if generated letter by letter: it ends where the first complete stop text starts.
    begins = (place for place in range(len(text)) if any(text.startswith(one, place) for one in stop))
    first = next(begins, None)
    assert (left, stopped) == (text[:first], first is not None)


def test_lone_surrogates_are_replaced_in_completions() -> None:
    assert answer_of("hi \ud83d", (), "length", 1, 1) == Completion("hi ?", "length", 1, 1)
    assert answer_of("hi \U0001f600", (), "stop", 1, 1) == Completion("hi \U0001f600", "stop", 1, 1)


def test_whitespace_only_text_is_no_answer() -> None:
    assert answer_of(" \n", (), "stop", 1, 1) == NoAnswer("an empty text")
    assert answer_of(" \n", (), "length", 1, 1) == NoAnswer("no text within --max-tokens")
    assert answer_of(" a\n", (), "length", 3, 2) == Completion(" a\n", "length", 3, 2, cached=False)


def test_stop_text_ends_an_answer_that_reached_the_token_limit_after_it() -> None:
    assert answer_of("I see.\nHuman: and", ("\n",), "length", 3, 2) == Completion("I see.", "stop", 3, 2)
    assert answer_of("\nI see.", ("\n",), "length", 3, 2) == NoAnswer("an empty text")


def test_stop_texts_in_thoughts_end_nothing() -> None:
    text = "<think>\nShe is sad.\n</think>\n\nI am sorry.\nAnd you?"
    assert answer_of(text, ("\n",), "stop", 3, 9) == Completion("I am sorry.", "stop", 3, 9)


def test_thoughts_alone_are_no_answer() -> None:
    assert answer_of("<think>She is", (), "length", 3, 9) == NoAnswer("only thoughts within --max-tokens")
    assert answer_of("<think>She is", ("She",), "stop", 3, 9) == NoAnswer("only thoughts")
    assert answer_of("<think>She is sad.</think>\n", (), "stop", 3, 9) == NoAnswer("an empty text")
