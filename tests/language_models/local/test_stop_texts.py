"""When the rows of a batch stop."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_empathy.language_models.local.stop_texts import StopTexts

# Tokens are one or two letters; as in byte-level tokenizers, none is empty.
VOCABULARY = ["a", "b", "c", "ab", "bc", "ca"]


def decode(tokens: list[int]) -> str:
    return "".join(VOCABULARY[token] for token in tokens)


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=30, max_size=30), min_size=1, max_size=3),
    st.lists(st.text("abc", min_size=1, max_size=5), max_size=3),
)
@settings(max_examples=40)
def test_row_ends_at_first_token_completing_a_stop_text(rows: list[list[int]], stop: list[str]) -> None:
    prompt = 2  # the first tokens are the prompt, in which stop texts are ignored
    watch = StopTexts(decode, lambda row, tokens: decode(tokens), prompt, stop)
    for time in range(prompt + 1, 31):
        ended = watch(torch.tensor(rows)[:, :time], None)
        for row, tokens in enumerate(rows):
            text = decode(tokens[prompt:time])
            assert bool(ended[row]) == any(one in text for one in stop)
    for row, tokens in enumerate(rows):
        if row in watch.ends:
            text = decode(tokens[prompt : prompt + watch.ends[row]])
            without_last = decode(tokens[prompt : prompt + watch.ends[row] - 1])
            assert any(one in text for one in stop)
            assert not any(one in without_last for one in stop)


def test_only_stop_texts_of_the_answer_end_a_row() -> None:
    """The first row's answer begins after its second token; the second row has none yet."""
    answers = (lambda tokens: decode(tokens[2:]), lambda tokens: None)
    watch = StopTexts(decode, lambda row, tokens: answers[row](tokens), 1, ["b"])
    rows = torch.tensor([[0, 1, 0, 0, 1, 0], [0, 1, 1, 1, 1, 1]])
    ended = [watch(rows[:, :time], None).tolist() for time in range(2, 7)]
    assert [one[0] for one in ended] == [False, False, False, True, True]
    assert not any(one[1] for one in ended)
    assert watch.ends == {0: 4}
