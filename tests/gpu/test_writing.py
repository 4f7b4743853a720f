"""Agents reply on a GPU as on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from pretended_gpu import is_pretended
from sample_models import load
from tiny_generators import write_language_model
from tiny_parts import train_base

MESSAGES = ["I lost my job.", "My cat is ill, and I am so worried that I cannot sleep any more.", "", "I won!"]
LEARNT: dict[str, Any] = {"learningrate": 0.01, "max_train_steps": 12}  # enough to prefer some words to others
SEARCHES: list[dict[str, Any]] = [
    {"inference": "greedy"},
    {"inference": "beam", "beam_size": 3, "beam_context_block_ngram": 2},
    {"inference": "diversebeam", "beam_size": 4, "beam_groups": 2, "beam_min_length": 4},
    {"inference": "beam", "beam_size": 2, "verbose": True},  # ParlAI's own search loop
    {"inference": "nucleus", "topp": 0.9},
    {"inference": "topk", "topk": 3, "temperature": 1.5},
]


def answers(model_file: Path, **options: Any) -> list[str]:
    agent = load(model_file, interactive_mode=True, **options)
    agent.model.double()  # in single precision, rounding may decide between words that are almost equally probable
    torch.manual_seed(3)
    replies = []
    for message in MESSAGES:
        agent.observe({"text": message, "episode_done": False})
        replies.append(agent.act()["text"])
    return replies


@pytest.fixture(scope="module", params=["words", "t5", "gpt2"])
def writer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("writer")
    changes: dict[str, Any] = {}
    if request.param != "words":
        kind = {"t5": "seq2seq", "gpt2": "causal"}[request.param]
        changes = {"hf_model": str(write_language_model(request.param, folder / "source")), "hf_kind": kind}
    return train_base(folder / "model", "empathy:generative", **LEARNT, **changes)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: "-".join(map(str, search.values())))
def test_generated_replies_match_cpu(writer: Path, search: dict[str, Any]) -> None:
    if search["inference"] in ("nucleus", "topk") and not is_pretended():
        pytest.skip("a GPU draws other numbers")
    options = {"beam_max_length": 10, "skip_generation": False, **search}
    there, here = (answers(writer, **options, no_cuda=no_cuda) for no_cuda in (False, True))
    assert there == here
    assert any(there)


def test_retrieved_replies_match_cpu(tmp_path: Path) -> None:
    model_file = train_base(tmp_path / "model", **LEARNT)
    there, here = (answers(model_file, no_cuda=no_cuda) for no_cuda in (False, True))
    assert there == here
