"""Small checkpoints in the layout of the EmpatheticDialogues authors, and a reference forward pass for one text."""

from __future__ import annotations

import argparse
import math
from collections import OrderedDict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import BertConfig, BertModel

from parlai_empathy.agent_kit.trained.published import PAD

DIM, HEADS, LAYERS, POSITIONS = 6, 2, 2, 20
# The authors' dictionaries end with these six, in this order.
WORDS = ["the", "dog", "'", "won", "<UNK>", PAD, "__PAD__", "<PER>", "<SOC>", "<EOC>"]
TEXTS = [[1, 3], [0, 1, 2, 8, 3, 4, 0], [9], [4, 3, 2, 1, 0, 1, 2, 3]]


def transformer_state(dim: int = DIM, layers: int = LAYERS) -> dict[str, Tensor]:
    """Return random weights under the authors' names."""
    torch.manual_seed(2)
    embedding = torch.randn(len(WORDS), dim) * 0.7
    state = {"embeddings.weight": embedding}
    for side in ("ctx", "cand"):
        tower = f"{side}_transformer"
        state[f"{tower}.position_embeddings.weight"] = torch.randn(POSITIONS, dim)
        state[f"{tower}.embeddings.weight"] = embedding
        for layer in range(layers):
            for part in ("q_lin", "k_lin", "v_lin", "out_lin"):
                state[f"{tower}.attentions.{layer}.{part}.weight"] = torch.randn(dim, dim) * 0.5
                state[f"{tower}.attentions.{layer}.{part}.bias"] = torch.randn(dim) * 0.5
            for norm in ("layer_norm1", "layer_norm2"):
                state[f"{tower}.{norm}.{layer}.weight"] = torch.randn(dim) + 1
                state[f"{tower}.{norm}.{layer}.bias"] = torch.randn(dim)
            state[f"{tower}.ffns.{layer}.lin1.weight"] = torch.randn(4 * dim, dim) * 0.5
            state[f"{tower}.ffns.{layer}.lin1.bias"] = torch.randn(4 * dim)
            state[f"{tower}.ffns.{layer}.lin2.weight"] = torch.randn(dim, 4 * dim) * 0.5
            state[f"{tower}.ffns.{layer}.lin2.bias"] = torch.randn(dim)
    return state


def word_dict(words: list[str]) -> dict[str, Any]:
    return {"words": {word: i for i, word in enumerate(words)}, "iwords": words, "wordcounts": {"the": 3}}


OPT = {"model": "transformer", "transformer_n_heads": HEADS, "normalize_sent_emb": False, "transformer_dropout": 0.0}


def write(path: Path, state: Any, words: Any = None, *, old: bool = True, **changes: Any) -> Path:
    """Write a file as torch 1.0 did; ``old`` selects its format."""
    saved = {
        "state_dict": OrderedDict(state),
        "word_dict": words or word_dict(WORDS),
        "opt": argparse.Namespace(**{**OPT, **changes}),
        "optim_dict": {"state": {0: {"step": 1}}, "param_groups": [{"lr": 8e-4, "params": [0]}]},
    }
    torch.save(saved, path, _use_new_zipfile_serialization=not old)
    return path


def norm(numbers: Tensor, state: dict[str, Tensor], name: str) -> Tensor:
    centred = numbers - numbers.mean(dim=-1, keepdim=True)
    deviation = torch.sqrt((centred**2).mean(dim=-1, keepdim=True) + 1e-5)
    return centred / deviation * state[f"{name}.weight"] + state[f"{name}.bias"]


def linear(numbers: Tensor, state: dict[str, Tensor], name: str) -> Tensor:
    return numbers @ state[f"{name}.weight"].T + state[f"{name}.bias"]


def theirs(state: dict[str, Tensor], side: str, text: list[int]) -> Tensor:
    """Return the vector of one text, computed without a batch, hence without padding and mask."""
    tower = f"{side}_transformer"
    states = state["embeddings.weight"][text] + state[f"{tower}.position_embeddings.weight"][: len(text)]
    for layer in range(LAYERS):
        attention = f"{tower}.attentions.{layer}"
        q, k, v = (linear(states, state, f"{attention}.{part}_lin") for part in "qkv")
        heads = []
        for head in torch.arange(DIM).split(DIM // HEADS):
            weights = torch.softmax(q[:, head] @ k[:, head].T / math.sqrt(len(head)), dim=1)
            heads.append(weights @ v[:, head])
        attended = linear(torch.cat(heads, dim=1), state, f"{attention}.out_lin")
        states = norm(states + attended, state, f"{tower}.layer_norm1.{layer}")
        hidden = linear(states, state, f"{tower}.ffns.{layer}.lin1").clamp(min=0)
        states = norm(
            states + linear(hidden, state, f"{tower}.ffns.{layer}.lin2"), state, f"{tower}.layer_norm2.{layer}"
        )
    return states.mean(dim=0)


PIECES = ["<PAD>", "<SOC>", "__PAD__", "<PER>", "joyful", "<UNK>", "[CLS]", "<EOC>", "[MASK]", "dog", "##s", "won"]


def bert_state(
    norm_names: tuple[str, str] = ("weight", "bias"),
) -> tuple[dict[str, Tensor], list[BertModel], BertConfig]:
    """Return weights under the authors' names, the two BERT models that have them, and their configuration."""
    torch.manual_seed(4)
    config = BertConfig(vocab_size=len(PIECES), hidden_size=64, num_hidden_layers=2, num_attention_heads=1,
                        intermediate_size=20, max_position_embeddings=30, initializer_range=0.4)  # fmt: skip
    berts = [BertModel(config).eval() for _ in range(2)]
    state: dict[str, Tensor] = {}
    for side, bert in zip(("ctx", "cand"), berts, strict=True):
        for name, weight in bert.state_dict().items():
            if "position_ids" not in name:
                kinds = dict(zip(("weight", "bias"), norm_names, strict=True))
                stem, _, kind = name.rpartition(".")
                own = f"{stem}.{kinds[kind]}" if stem.endswith("LayerNorm") else name
                state[f"{side}_bert.bert_model.{own}"] = weight
        state[f"{side}_bert.additional_linear_layer.weight"] = torch.randn(5, 64)
        state[f"{side}_bert.additional_linear_layer.bias"] = torch.randn(5)
    return state, berts, config
