"""Reading the published files, and rejecting invalid ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_torchmoji import DIM, HIDDEN, WORDS, torchmoji_state, write_torchmoji

from parlai_empathy.agents.deepmoji.torchmoji import read_torchmoji
from parlai_empathy.errors import ModelFileError


def test_words_and_weights_are_read(tmp_path: Path) -> None:
    published, state = read_torchmoji(write_torchmoji(tmp_path)), torchmoji_state()
    assert published.words == WORDS
    assert (published.embedding_size, published.hidden_size) == (DIM, HIDDEN)
    assert torch.equal(published.weights["embedding.weight"], state["embed.weight"])
    assert torch.equal(published.weights["attention.vector"], state["attention_layer.attention_vector"])
    lstms = {name: weight for name, weight in state.items() if name.startswith("lstm_")}
    assert len(lstms) == 16
    assert all(torch.equal(published.weights[name], weight) for name, weight in lstms.items())
    assert len(published.weights) == 18, "the layer for emoji is left out"


def test_folder_may_be_given_relative_to_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ``--deepmoji-weights=~/torchmoji`` arrives from the shell."""
    write_torchmoji(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    assert read_torchmoji(f"~/{tmp_path.name}").words == WORDS


def test_embedding_rows_without_a_word_are_dropped(tmp_path: Path) -> None:
    published = read_torchmoji(write_torchmoji(tmp_path, words=WORDS[:7]))
    assert torch.equal(published.weights["embedding.weight"], torchmoji_state()["embed.weight"][:7])


@pytest.mark.parametrize(
    ("name", "weight", "reason"),
    [
        ("embed.weight", None, r"pytorch_model\.bin lacks embed.weight: it is not a torchMoji model"),
        ("lstm_1.bias_hh_l0_reverse", None, "lacks lstm_1.bias_hh_l0_reverse"),
        ("lstm_1.weight_ih_l0", torch.zeros(12, 4), r"lstm_1.weight_ih_l0 is \(12, 4\), not \(12, 6\)"),
        ("attention_layer.attention_vector", torch.zeros(3), r"attention_vector is \(3,\), not \(16,\)"),
        ("embed.weight", torch.zeros(5, DIM), r"embed.weight has 5 words, but vocabulary.json 9"),
        ("embed.weight", 3, "cannot be used"),
    ],
)
def test_missing_or_misshapen_weights_raise_model_file_error(
    tmp_path: Path, name: str, weight: Any, reason: str
) -> None:
    state: dict[str, Any] = torchmoji_state()
    state.pop(name)
    if weight is not None:
        state[name] = weight
    with pytest.raises(ModelFileError, match=reason) as caught:
        read_torchmoji(write_torchmoji(tmp_path, state))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "3", '{"CUSTOM_MASK": 0}', '{"a": 0, "b": 1}', '{"CUSTOM_MASK": "0"}', "{"])
def test_invalid_vocabulary_raises_model_file_error(tmp_path: Path, text: str) -> None:
    (write_torchmoji(tmp_path) / "vocabulary.json").write_text(text)
    with pytest.raises(ModelFileError, match=r"^--deepmoji-weights: .*vocabulary\.json cannot be used \("):
        read_torchmoji(tmp_path)


def test_missing_or_truncated_files_raise_model_file_error(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"vocabulary\.json cannot be used .*No such file"):
        read_torchmoji(tmp_path)
    path = write_torchmoji(tmp_path) / "pytorch_model.bin"
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(ModelFileError, match=r"pytorch_model\.bin cannot be used"):
        read_torchmoji(tmp_path)


def test_loading_executes_no_pickled_code(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "was_here"),)

    with pytest.raises(ModelFileError, match="cannot be used"):
        read_torchmoji(write_torchmoji(tmp_path / "folder", {"embed.weight": Evil()}))
    assert not (tmp_path / "was_here").exists()
