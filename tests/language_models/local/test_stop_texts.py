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
    watch = StopTexts(decode, prompt, stop)
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
