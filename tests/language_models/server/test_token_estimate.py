"""Estimated token counts, compared with real tokenizers."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.language_models.prompt import Message
from parlai_empathy.language_models.server.token_estimate import estimate_tokens
from parlai_empathy.modules.pretrained.hugging_face import MINILM, load_tokenizer, source_of


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("dog", 1),
        ("a dog", 2),
        ("letters", 2),  # four letters per token: 7 / 4, rounded up
        ("I'm ok.", 5),  # I ' m ok .
        ("2026", 4),
        ("a\n\nb", 3),
        ("é", 2),  # its UTF-8 bytes
        ("🙂", 4),
    ],
)
def test_estimates_match_hand_counted_tokens(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_chat_estimate_adds_tokens_per_message() -> None:
    assert estimate_tokens((Message("system", "dog"), Message("user", ""))) == 3 + (4 + 1) + 4


@given(st.text(), st.text())
def test_estimate_grows_with_text_and_is_at_most_its_byte_count(a: str, b: str) -> None:
    assert max(estimate_tokens(a), estimate_tokens(b)) <= estimate_tokens(a + "\n" + b)
    assert estimate_tokens(a) <= len(a.encode("utf-8", "surrogatepass"))


def test_estimate_exceeds_real_tokenizer_by_at_most_half(real_data: Path) -> None:
    if not Path(source_of(MINILM)).is_dir():
        pytest.skip("needs the package of the default encoder")
    with (real_data / "empatheticdialogues" / "valid.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, quoting=csv.QUOTE_NONE))
    texts = [row[5].replace("_comma_", ",") for row in rows[1:3000] if len(row) > 5]
    conversations = ["\n".join(texts[start : start + 20]) for start in range(0, len(texts), 20)]
    tokenizer = load_tokenizer(MINILM)
    for text in conversations:
        true = len(tokenizer(text, add_special_tokens=False)["input_ids"])
        assert true <= estimate_tokens(text) <= 1.5 * true
