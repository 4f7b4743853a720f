"""Shared fixture of the agents' tests: a minimal encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tiny_judge import write_bert


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a BERT with random weights, which are the same in each run."""
    torch.manual_seed(0)
    return write_bert(tmp_path_factory.mktemp("bert") / "bert")
