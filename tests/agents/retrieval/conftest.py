"""Shared fixture of the retrieval agent's tests: a model that was briefly trained on the built-in sample."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_retrieval import train


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("retrieval") / "model"
    train(path)
    return path
