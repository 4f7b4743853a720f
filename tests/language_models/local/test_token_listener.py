"""Reporting a local model's answer token by token."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_generators import write_language_model
from tiny_llama2c import PIECES, write_llama_folder
from transformers import AutoTokenizer

from parlai_empathy.language_models.local.token_listener import TokenListener, settled


def test_listener_receives_answer_tokens_and_never_stops_generation() -> None:
    heard: list[list[int]] = []
    listener = TokenListener(heard.append, 2)
    for width in (3, 4):
        assert listener(torch.arange(width).unsqueeze(0), None).tolist() == [False]
    assert heard == [[2], [2, 3]]


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return AutoTokenizer.from_pretrained(write_llama_folder(tmp_path_factory.mktemp("llama")))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return AutoTokenizer.from_pretrained(write_language_model("gpt2", tmp_path_factory.mktemp("gpt2")))


# The three bytes of the euro sign, the two of an umlaut and an invalid byte; the test adds two letters.
BYTES = [*"\u20ac\u00fc".encode(), 0xFF]


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
@given(st.lists(st.integers(0, 7), max_size=10))
@settings(max_examples=60)
def test_settled_tokens_decode_to_a_prefix_of_the_whole_text(
    kind: str, llama: Any, gpt2: Any, choices: list[int]
) -> None:
    tokenizer = llama if kind == "llama" else gpt2
    names = [*(f"<0x{byte:02X}>" for byte in BYTES), "a", "b"] if kind == "llama" else None
    known = tokenizer.convert_tokens_to_ids(names) if names else [4 + byte for byte in (*BYTES, 97, 98)]
    tokens = [known[choice] for choice in choices]
    whole = tokenizer.decode(tokens)
    for end in range(len(tokens) + 1):
        # An incomplete character at the end is held back by the PartialAnswers.
        assert whole.startswith(tokenizer.decode(settled(tokenizer, tokens[:end])).rstrip("\ufffd"))


def test_only_trailing_byte_tokens_are_held_back(llama: Any) -> None:
    a, first, second = PIECES.index("a"), PIECES.index("<0xC3>"), PIECES.index("<0xBC>")
    assert settled(llama, [a, first, second]) == [a]
    assert settled(llama, [a, first, second, a]) == [a, first, second, a]
    assert settled(llama, [first]) == settled(llama, []) == []
    assert settled(llama, [a, 99_999]) == [a, 99_999]  # ids outside the vocabulary make no text
