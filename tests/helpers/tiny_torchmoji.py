"""DeepMoji's published files, with a minimal model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

WORDS = [
    "CUSTOM_MASK",
    "CUSTOM_UNKNOWN",
    "CUSTOM_AT",
    "CUSTOM_URL",
    "CUSTOM_NUMBER",
    "CUSTOM_BREAK",
    "i",
    "the",
    "\U0001f622",
]
DIM, HIDDEN = 4, 3


def torchmoji_state(words: int = len(WORDS)) -> dict[str, Tensor]:
    """Return random weights under torchMoji's names."""
    torch.manual_seed(9)
    state = {"embed.weight": torch.randn(words, DIM)}
    for layer, inputs in (("lstm_0", DIM), ("lstm_1", 2 * HIDDEN)):
        for turn in ("", "_reverse"):
            state[f"{layer}.weight_ih_l0{turn}"] = torch.randn(4 * HIDDEN, inputs)
            state[f"{layer}.weight_hh_l0{turn}"] = torch.randn(4 * HIDDEN, HIDDEN)
            state[f"{layer}.bias_ih_l0{turn}"] = torch.randn(4 * HIDDEN)
            state[f"{layer}.bias_hh_l0{turn}"] = torch.randn(4 * HIDDEN)
    state["attention_layer.attention_vector"] = torch.randn(4 * HIDDEN + DIM)
    state["output_layer.0.weight"] = torch.randn(64, 4 * HIDDEN + DIM)
    state["output_layer.0.bias"] = torch.randn(64)
    return state


def write_torchmoji(folder: Path, state: object = None, words: Sequence[str] = WORDS) -> Path:
    """Write ``pytorch_model.bin`` in the format of torch 0.3, and ``vocabulary.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(state or torchmoji_state(), folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    (folder / "vocabulary.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    return folder
