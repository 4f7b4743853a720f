"""llama2.c's tokenizers as Hugging Face tokenizers: the same tokens as its own merge algorithm in plain Python."""

from __future__ import annotations

import csv
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_llama2c import PIECES, encode, read_vocabulary, write_tokenizer

from parlai_empathy.errors import ModelFileError
from parlai_empathy.modules.pretrained.llama2c_tokenizer import read_pieces, read_tokenizer

SPECIAL = ("<s>", "</s>", "<unk>", "▁")  # Hugging Face reads these in a text as special tokens, and the last as a space


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tokenizer(tmp_path_factory.mktemp("tokenizer") / "t.bin")


@pytest.fixture(scope="module")
def vocabulary(path: Path) -> list[tuple[bytes, float]]:
    return read_vocabulary(path)


@pytest.fixture(scope="module")
def tokenizer(path: Path) -> Any:
    return read_tokenizer(path)


TEXTS = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="theingar sd.I\n", max_size=60),
    st.lists(
        st.sampled_from([" ", "the", "thing", "an", "am", "sad", "I", "you", "é", "🙂", "\n", "1"]), max_size=20
    ).map("".join),
)


@given(text=TEXTS.filter(lambda text: not any(one in text for one in SPECIAL)))
@settings(max_examples=200)
def test_tokens_match_llama2c_and_decode_to_the_text(
    vocabulary: list[tuple[bytes, float]], tokenizer: Any, text: str
) -> None:
    tokens = tokenizer(text)["input_ids"]
    assert tokens == encode(vocabulary, text)
    assert tokenizer.decode(tokens, skip_special_tokens=True) == text


def test_tokens_match_hand_calculation(tokenizer: Any) -> None:
    # "[ ][I][ ][a][m]": merges by score, in this order: " a" (2), so "am" is impossible; " I" (11); " a"+"m" = " am"
    # (12).
    assert tokenizer.convert_ids_to_tokens(tokenizer("I am")["input_ids"]) == ["<s>", "▁I", "▁am"]
    assert tokenizer.convert_ids_to_tokens(tokenizer("1")["input_ids"]) == ["<s>", "▁", "<0x31>"]
    assert tokenizer("")["input_ids"] == [1]


def test_tokens_of_real_texts_match_llama2c(real_data: Path) -> None:
    path = real_data / "tiny_lm" / "tok512.bin"
    with (real_data / "empatheticdialogues" / "valid.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, quoting=csv.QUOTE_NONE))
    texts = [row[5].replace("_comma_", ",") for row in rows[1::60] if len(row) > 5]
    assert len(texts) > 150
    tokenizer, vocabulary = read_tokenizer(path), read_vocabulary(path)
    found = tokenizer(texts)["input_ids"]
    assert [t for t, tokens in zip(texts, found, strict=True) if tokens != encode(vocabulary, t)] == []


def test_save_and_reload_keeps_tokens(tokenizer: Any, tmp_path: Path) -> None:
    import transformers

    tokenizer.save_pretrained(tmp_path)
    again = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for text in ("the thing", " two  spaces\n", "é 🙂"):
        assert again(text)["input_ids"] == tokenizer(text)["input_ids"]
        assert again.decode(again(text)["input_ids"], skip_special_tokens=True) == text
    assert (again.bos_token_id, again.eos_token_id, again.unk_token_id) == (1, 2, 0)


def refused(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        read_pieces(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("bytes_left", [0, 3, 7, 101, -1])
def test_truncated_file_raises_error(bytes_left: int, path: Path, tmp_path: Path) -> None:
    cut = tmp_path / "t.bin"
    cut.write_bytes(path.read_bytes()[:bytes_left])
    assert "fetch the file again" in refused(cut)


def test_file_without_all_byte_pieces_raises_error(tmp_path: Path) -> None:
    assert "lacks a piece for each byte" in refused(write_tokenizer(tmp_path / "t.bin", PIECES[:100]))


@pytest.mark.parametrize(
    "piece",
    [
        struct.pack("<fi", -1.0, 1000) + b"x" * 1000,  # longer than the maximum
        struct.pack("<fi", -1.0, -1),
        struct.pack("<fi", float("nan"), 1) + b"x",
        struct.pack("<fi", -1.0, 1) + b"\xff",
    ],
    ids=["too long", "negative", "no score", "no text"],
)
def test_invalid_piece_raises_error(piece: bytes, path: Path, tmp_path: Path) -> None:
    broken = tmp_path / "t.bin"
    broken.write_bytes(path.read_bytes() + piece)
    assert "is not a llama2.c tokenizer, or truncated" in refused(broken)


def test_misplaced_byte_pieces_raise_error(tmp_path: Path) -> None:
    assert "byte fallback" in refused(write_tokenizer(tmp_path / "t.bin", [*PIECES[:2], *PIECES[3:]]))


def test_duplicate_piece_raises_error(tmp_path: Path) -> None:
    assert "has a duplicate piece" in refused(write_tokenizer(tmp_path / "t.bin", [*PIECES, " the"]))


def test_missing_file_error_names_the_file(tmp_path: Path) -> None:
    assert "cannot be read (No such file or directory)" in refused(tmp_path / "t.bin")
