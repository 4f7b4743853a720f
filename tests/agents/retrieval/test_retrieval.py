"""The agent in ParlAI: trained on the built-in sample, and damaged. What it does in use is in test_ranker.py."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from killed_training import check_that_it_went_on, kill_a_training
from parlai.core.agents import create_agent_from_model_file
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.scripts.train_model import TrainModel
from sample_models import Bomb, copy_of, load, weights
from tiny_parts import observed
from tiny_retrieval import TASK, TINY, train
from torch.nn import functional as F

from parlai_empathy.agent_kit.training.draws import random_of_step
from parlai_empathy.errors import DataError, ModelFileError, OptionError

# --- training --------------------------------------------------------------------------------------------------------


def test_training_lowers_the_loss(tmp_path: Path) -> None:
    train(tmp_path / "model", num_epochs=8, log_every_n_steps=5, learningrate=0.005)
    stats = json.loads((tmp_path / "model.trainstats").read_text())
    losses = [report["mean_loss"] for report in stats["train_reports"]]
    assert losses[-1] < losses[0] - 0.2


def test_same_seed_gives_same_weights(model_file: Path, tmp_path: Path) -> None:
    train(tmp_path / "again")
    train(tmp_path / "other", seed=8)
    first, again, other = weights(model_file), weights(tmp_path / "again"), weights(tmp_path / "other")
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_killed_training_resumes_from_checkpoint(tmp_path: Path) -> None:
    """``kill -9`` after the first checkpoint; the second run must continue the first one's epochs, not restart."""
    kill_a_training(TINY, tmp_path / "model")
    train(tmp_path / "model", num_epochs=4, validation_patience=0)
    check_that_it_went_on(tmp_path / "model")


def test_resumed_training_continues_update_count_and_random_draws(tmp_path: Path) -> None:
    options = {"batchsize": 16, "hard_negatives": 2, "max_train_steps": 3}
    train(tmp_path / "model", **options)
    agent = load(tmp_path / "model", datatype="train")
    assert agent._number_training_updates == 3
    drawn = []
    agent._negatives = SimpleNamespace(draw=lambda observations, count, source: drawn.append(source.random()) or [])
    agent._hard_negatives(SimpleNamespace(observations=[]))
    assert drawn == [random_of_step(agent.opt, 3).random()]


def test_vectors_file_initialises_embeddings(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("sorry " + " ".join(["0.5"] * 16) + "\n")
    train(tmp_path / "model", vectors_file=str(vectors), learningrate=1e-9, num_epochs=1)
    row = create_agent_from_model_file(str(tmp_path / "model")).dict["sorry"]
    assert torch.allclose(weights(tmp_path / "model")["embedding.weight"][row], torch.tensor(0.5))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_heads": 3}, ["--n-heads 3", "--embedding-size 16"]),
        ({"n_positions": 50}, ["--text-truncate 100", "--n-positions 50"]),
        ({"temperature": 0.0}, ["--temperature 0.0", "above 0"]),
    ],
)
def test_invalid_options_raise_option_error(tmp_path: Path, changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(OptionError) as caught:
        train(tmp_path / "model", **changes)
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words)


# --- candidates of a training ----------------------------------------------------------------------------------------


def test_batch_size_one_without_negatives_raises_option_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"^--batchsize 1: each reply is compared with the others of its batch"):
        train(tmp_path / "model", batchsize=1)
    assert train(tmp_path / "other", batchsize=1, hard_negatives=1, max_train_steps=2), (
        "there is something to tell from"
    )


@pytest.mark.parametrize("candidates", ["inline", "batch-all-cands"])
def test_training_candidates_missing_from_task_raise_option_error(tmp_path: Path, candidates: str) -> None:
    """The task has candidates only in evaluations."""
    with pytest.raises(OptionError, match=rf"^--candidates {candidates}: the task gives no .* use --candidates batch$"):
        train(tmp_path / "model", candidates=candidates)


def test_training_accepts_inline_candidates(tmp_path: Path) -> None:
    lines = tmp_path / "pairs.txt"
    texts = [f"text:Hi {i}\tlabels:reply {i}\tlabel_candidates:reply {i}|reply 9\tepisode_done:True" for i in range(6)]
    lines.write_text("\n".join(texts) + "\n")
    fold = {"task": "fromfile:parlaiformat", "fromfile_datapath": str(lines), "fromfile_datatype_extension": False}
    options = {name: value for name, value in TINY.items() if name not in TASK}
    TrainModel.main(**options, **fold, candidates="inline", batchsize=3, model_file=str(tmp_path / "model"))
    assert (tmp_path / "model").is_file()


@pytest.mark.parametrize("candidates", ["inline", "batch-all-cands"])
@pytest.mark.parametrize(
    ("texts", "error", "line"),
    [
        ([], OptionError, "the task gives no candidates to learn from: use --candidates batch"),
        (["Why?"], DataError, "some candidates lack the true reply, 'I see.': add it, or use --candidates batch"),
    ],
)
def test_unusable_training_candidates_end_in_one_line(
    model_file: Path, candidates: str, texts: list[str], error: type[Exception], line: str
) -> None:
    agent = load(model_file, candidates=candidates, datatype="train")
    lists = [["Why?", "I see."], texts]
    messages = [{"text": "I am sad", "labels": ["I see."], "label_candidates": each} for each in lists]
    with pytest.raises(error, match=f"^--candidates {candidates}: {line}$"):
        agent.batch_act(observed(agent, *messages))


def test_single_training_example_has_zero_loss(model_file: Path) -> None:
    """As in ``parlai generate_model_card``, whatever the ``--batchsize``."""
    agent = load(model_file, datatype="train:ordered", batchsize=1)
    agent.observe(Message({"text": "I am sad", "labels": ("Why is that?",), "episode_done": True}))
    assert float(agent.act()["metrics"]["mean_loss"]) == 0


@pytest.mark.parametrize("chunk", [0, 2])
def test_step_has_the_gradient_of_the_mean_cross_entropy(model_file: Path, chunk: int) -> None:
    agent = load(model_file, datatype="train", dropout=0.0, gradient_cache=chunk)
    agent.update_params = lambda: None
    said = [("I am sad", "Why is that?"), ("We won the cup!", "How great."), ("", "I see.")]
    batch = observed(agent, *({"text": text, "labels": [reply]} for text, reply in said))
    agent.batch_act(batch)
    read = agent.batchify(batch)
    loss = F.cross_entropy(agent.model.contexts(read.text_vec) @ agent.model.replies(read.label_vec).T, torch.arange(3))
    weights = [weight for weight in agent.model.parameters() if weight.requires_grad]
    for weight, expected in zip(weights, torch.autograd.grad(loss, weights), strict=True):
        torch.testing.assert_close(weight.grad, expected)


def test_dynamic_batching_works_with_batch_size_one(tmp_path: Path) -> None:
    model = tmp_path / "model"
    train(model, batchsize=1, dynamic_batching="full", text_truncate=64, label_truncate=64, num_epochs=1)
    assert model.is_file()


# --- lengths of texts ------------------------------------------------------------------------------------------------


def test_truncate_context_selects_which_end_is_dropped(model_file: Path) -> None:
    text = " ".join(["sad"] * 150 + ["happy"])
    for side, last_is_kept in (("oldest", True), ("newest", False)):
        agent = create_agent_from_model_file(str(model_file), Opt(truncate_context=side))
        vec = agent.observe(Message({"text": text, "episode_done": True}))["text_vec"]
        assert len(vec) == 100
        assert (int(vec[-1]) == agent.dict["happy"]) is last_is_kept


def test_truncate_limits_text_length_after_reloading(tmp_path: Path) -> None:
    train(tmp_path / "model", truncate=5, max_train_steps=1)
    for typed, longest in (({}, 5), ({"truncate": 7}, 7), ({"text_truncate": 6}, 6)):
        agent = load(tmp_path / "model", **typed)
        assert len(agent.observe(Message({"text": "I am so sad " * 9, "episode_done": True}))["text_vec"]) == longest


# --- broken files ----------------------------------------------------------------------------------------------------


def test_truncated_model_file_error_names_the_file(model_file: Path, tmp_path: Path) -> None:
    copy = copy_of(model_file, tmp_path)
    copy.write_bytes(copy.read_bytes()[:1000])
    with pytest.raises(ModelFileError) as caught:
        create_agent_from_model_file(str(copy))
    assert str(copy) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_loading_executes_no_pickled_code(model_file: Path, tmp_path: Path) -> None:
    copy = copy_of(model_file, tmp_path)
    torch.save({"model": Bomb(tmp_path / "executed")}, copy)
    with pytest.raises(ModelFileError, match="contains getattr, and is not loaded"):
        create_agent_from_model_file(str(copy))
    assert not (tmp_path / "executed").exists()
    torch.load(copy, weights_only=False)
    assert (tmp_path / "executed").exists(), "the file would have executed something"


def test_weights_not_matching_options_raise_model_file_error(model_file: Path, tmp_path: Path) -> None:
    copy = copy_of(model_file, tmp_path)
    with pytest.raises(ModelFileError, match="does not fit"):
        create_agent_from_model_file(str(copy), Opt(embedding_size=32))
