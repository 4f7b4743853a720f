"""A GPU for the tests of this folder: a real one if available, otherwise a pretended one."""

from __future__ import annotations

import os

import pytest
import torch
from pretended_gpu import NoPretendedGpu, pretend_a_gpu


@pytest.fixture(scope="session", autouse=True)
def _gpu(tmp_path_factory: pytest.TempPathFactory) -> None:
    if torch.cuda.is_available():
        return
    # A new folder for each run: PyTorch would wait for ever for a build that an earlier run left unfinished.
    run = tmp_path_factory.getbasetemp()
    try:
        pretend_a_gpu((run.parent if "PYTEST_XDIST_WORKER" in os.environ else run) / "pretended_gpu")
    except NoPretendedGpu as error:
        pytest.skip(f"no GPU, and none can be pretended: {error}")
