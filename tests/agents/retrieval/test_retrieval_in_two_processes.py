"""Training in two processes: negatives are both processes' replies, and gradients in chunks are the same."""

from __future__ import annotations

from pathlib import Path

import torch
from processes import SAMPLE, parlai_command, succeeded
from tiny_judge import write_bert
from transformers import AutoConfig


def train(folder: Path, name: str, *options: str) -> dict[str, torch.Tensor]:
    """Take one step of plain gradient descent; return the weights."""
    command = ("multiprocessing_train", *SAMPLE, "-m", "empathy:retrieval", "--encoder", "hf", "--hf-model", "bert")
    settings = (
        "-opt",
        "sgd",
        "-lr",
        "1",
        "--lr-scheduler",
        "none",
        "--gradient-clip",  # clipped, gradients of any size would take the same step
        "-1",
        "--precision",
        "float32",
        "-bs",
        "8",
        "--seed",
        "2",
    )
    steps = ("--max-train-steps", "1", "--seed", "2", "--validation-every-n-epochs", "-1", "-mf", f"{name}/model")
    succeeded(parlai_command(*command, *settings, *steps, "--distributed-world-size", "2", *options, cwd=folder))
    return torch.load(folder / name / "model", weights_only=False)["model"]  # type: ignore[no-any-return]


def test_gradient_cache_takes_the_same_step_in_two_processes(tmp_path: Path) -> None:
    torch.manual_seed(0)
    bert = write_bert(tmp_path / "bert")
    config = AutoConfig.from_pretrained(bert)
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0  # its random order differs in chunks
    config.save_pretrained(bert)
    whole, chunks = train(tmp_path, "whole"), train(tmp_path, "chunks", "--gradient-cache", "3")
    for name, values in whole.items():
        torch.testing.assert_close(chunks[name], values, atol=1e-4, rtol=1e-3, msg=name)
    still = train(tmp_path, "still", "-lr", "0")
    moved = max(float((values - still[name]).abs().max()) for name, values in whole.items())
    assert moved > 0.001, "ten times the tolerance above"
