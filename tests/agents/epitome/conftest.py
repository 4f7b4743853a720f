"""Shared fixtures of the tests of EPITOME's judge: two judges with a minimal encoder, briefly trained on the sample."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_epitome import TASK, train


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory, bert: Path) -> Path:
    """A judge of all three mechanisms."""
    path = tmp_path_factory.mktemp("judge") / "model"
    train(path, bert)
    return path


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory, bert: Path) -> Path:
    """A judge of explorations only."""
    path = tmp_path_factory.mktemp("explorer") / "model"
    train(path, bert, task=f"{TASK}:Explorations")
    return path
