"""Replies generated in batches, compared with ParlAI's own loop of one search per example."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.agents import create_agent_from_model_file
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.torch_generator_agent import TorchGeneratorAgent
from parlai.scripts.train_model import TrainModel
from tiny_generators import KINDS, write_language_model
from tiny_parts import SIZES

from parlai_empathy.agents.generative import generative
from parlai_empathy.agents.generative.batched_generation import beams_of

TINY: dict[str, Any] = {
    "task": "empathy:empathetic_dialogues",
    "edition": "sample",
    "model": "empathy:generative",
    "batchsize": 16,
    "num_epochs": -1,
    "max_train_steps": 6,
    "learningrate": 0.01,
    "label_truncate": 12,
    "precision": "float32",
    "skip_generation": True,
    "seed": 7,
    "loglevel": "error",
}
CONTEXTS = [
    "I lost my job.",
    "My cat is ill.\nOh no!\nI am so worried that I cannot sleep any more.",
    "Hi",
    "I won!",
    "",
]

SEARCHES: list[dict[str, Any]] = [
    {"inference": "greedy"},
    {"inference": "beam", "beam_size": 3},
    {"inference": "beam", "beam_size": 4, "beam_block_ngram": -1, "beam_context_block_ngram": 2},
    {"inference": "diversebeam", "beam_size": 4, "beam_groups": 4, "beam_block_ngram": 2},
    {"inference": "diversebeam", "beam_size": 4, "beam_groups": 2, "beam_min_length": 4, "temperature": 1.7},
]


@pytest.fixture(scope="module", params=["words", "prelayernorm", *KINDS])
def model_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Briefly trained generators of every kind."""
    root = tmp_path_factory.mktemp(request.param)
    changes: dict[str, Any] = SIZES
    if request.param in KINDS:
        changes = {"hf_model": str(write_language_model(request.param, root / "source")), "max_train_steps": 1}
    elif request.param != "words":
        changes = {**SIZES, "variant": request.param}
    TrainModel.main(**{**TINY, **changes}, model_file=str(root / "model"))
    return root / "model"


def batch_of(agent: Any, texts: list[str]) -> Any:
    messages = [Message({"text": text, "episode_done": True}) for text in texts]
    return agent.batchify([agent.clone().observe(message) for message in messages])


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: "-".join(map(str, search.values())))
def test_batched_search_matches_parlai_generation(model_file: Path, search: dict[str, Any]) -> None:
    """Return all hypotheses with their scores; contexts of different lengths are padded."""
    agent = create_agent_from_model_file(str(model_file), Opt({"skip_generation": False, **search}))
    batch = batch_of(agent, CONTEXTS)
    agent.model.eval()
    with torch.no_grad():
        best, found = agent._generate(batch, agent.beam_size, 10)
        assert isinstance(found[0], generative.FinishedBeams)
        theirs, trees = TorchGeneratorAgent._generate(agent, batch, agent.beam_size, 10)
    for mine, other in zip(best, theirs, strict=True):
        assert mine[0].tolist() == other[0].tolist()
        assert float(mine[1]) == pytest.approx(float(other[1]), abs=1e-4)
    for mine, other in zip(found, trees, strict=True):
        expected = {tuple(tokens.tolist()): float(score) for tokens, score, _ in other.get_rescored_finished()}
        everything = {tuple(tokens.tolist()): float(score) for tokens, score, _ in mine.get_rescored_finished()}
        assert everything == pytest.approx(expected, abs=1e-4)


def test_unsupported_options_fall_back_to_parlai_generation(
    model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generative, "write", None)  # would fail
    blocked = tmp_path / "blocked.txt"
    blocked.write_text("sorry\n", encoding="utf-8")
    for options in ({"beam_block_list_filename": str(blocked)}, {"verbose": True}, {"inference": "nucleus"}):
        agent = create_agent_from_model_file(str(model_file), Opt({"interactive_mode": True, **options}))
        assert isinstance(agent.respond("I lost my job."), str)


@pytest.mark.parametrize(
    ("inference", "expected"),
    [("greedy", (1, 1, 0.0)), ("beam", (4, 1, 0.0)), ("diversebeam", (4, 2, 0.5)), ("topk", None)],
)
def test_beam_settings_come_from_the_options(inference: str, expected: tuple[int, int, float] | None) -> None:
    options = {
        "inference": inference,
        "beam_size": 4,
        "beam_groups": 2,
        "diversity_strength": 0.5,
        "beam_min_length": 1,
        "beam_length_penalty": 0.65,
        "beam_block_ngram": 3,
        "beam_context_block_ngram": -1,
    }
    beams = beams_of(options, 1, 2)
    assert expected == (beams and (beams.size, beams.groups, beams.strength))
    if beams:
        assert (beams.start, beams.end, beams.min_length, beams.block_ngram) == (1, 2, 1, 3)
