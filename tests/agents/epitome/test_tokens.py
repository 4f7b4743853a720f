"""Tokens and their offsets in a text, with a word tokenizer and a subword tokenizer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_judge import write_bert
from transformers import AutoTokenizer

from parlai_empathy.agents.epitome.tokens import Tokens, padded, tokens_of

_MARKS = st.lists(st.booleans(), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tokenizer that makes each letter a token."""
    return AutoTokenizer.from_pretrained(write_bert(tmp_path_factory.mktemp("tokens") / "bert"))


def test_token_offsets_match_the_text(tokenizer: Any) -> None:
    (tokens,) = tokens_of(tokenizer, ["so it is"], 20)
    assert len(tokens.ids) == len(tokens.places) == 8  # six letters between two special tokens
    assert tokens.places[0] is None
    assert tokens.places[-1] is None
    assert tokens.places[1:7] == ((0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8))


def test_truncation_keeps_the_start_and_the_special_tokens(tokenizer: Any) -> None:
    (whole,), (cut,) = (tokens_of(tokenizer, ["abcdefgh"], longest) for longest in (20, 5))
    assert cut.ids == (*whole.ids[:4], whole.ids[-1])
    assert cut.places == (None, (0, 1), (1, 2), (2, 3), None)


def test_empty_text_has_only_special_tokens(tokenizer: Any) -> None:
    (tokens,) = tokens_of(tokenizer, [""], 5)
    assert tokens.places == (None, None)
    assert tokens.marks([(0, 3)]) == [False, False]


def test_lone_surrogates_are_read_as_question_marks(tokenizer: Any) -> None:
    """A terminal that is not UTF-8 gives such texts; the offsets are those of the original text."""
    assert tokens_of(tokenizer, ["so\udcff it"], 20) == tokens_of(tokenizer, ["so? it"], 20)


def test_tokens_overlapping_a_span_are_marked() -> None:
    tokens = Tokens((1, 5, 6, 7, 2), (None, (0, 4), (4, 9), (10, 12), None))
    assert tokens.marks([(4, 9)]) == [False, False, True, False, False]
    assert tokens.marks([(3, 5)]) == [False, True, True, False, False]
    assert tokens.marks([(9, 10)]) == [False] * 5  # the space between two words
    assert tokens.marks([(0, 1), (11, 30)]) == [False, True, False, True, False]
    assert tokens.marks([]) == [False] * 5


def test_spans_cover_consecutive_marked_tokens() -> None:
    tokens = Tokens((1, 5, 6, 7, 2), (None, (0, 4), (4, 9), (10, 12), None))
    assert tokens.spans([True, True, True, False, True]) == [(0, 9)]
    assert tokens.spans([False, True, False, True, False]) == [(0, 4), (10, 12)]
    assert tokens.spans([False] * 5) == []


def test_whitespace_token_joins_spans_but_forms_none() -> None:
    tokens = Tokens((5, 6, 7), ((0, 1), (2, 2), (2, 4)))
    assert tokens.spans([True, True, True]) == [(0, 4)]
    assert tokens.spans([False, True, False]) == []


@given(_MARKS)
def test_spans_of_marks_reproduce_the_marks(marks: list[bool]) -> None:
    tokens = Tokens(tuple(range(len(marks))), tuple((2 * n, 2 * n + 1) for n in range(len(marks))))
    assert tokens.marks(tokens.spans(marks)) == marks


def test_rows_are_right_padded_to_the_longest_or_given_length() -> None:
    rows = [Tokens((5, 6, 7), (None,) * 3), Tokens((8,), (None,))]
    ids, lengths = padded(rows, 9)
    assert ids.tolist() == [[5, 6, 7], [8, 9, 9]]
    assert lengths.tolist() == [3, 1]
    assert padded(rows, 9, 5)[0].tolist() == [[5, 6, 7, 9, 9], [8, 9, 9, 9, 9]]
    assert torch.equal(padded(rows, 9, 2)[0], ids)
