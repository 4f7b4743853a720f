"""A GPU for each test of this folder: the machine's own, or a pretended one."""

from __future__ import annotations

import os

import pytest
import torch
from gpu.pretended import NoPretendedGpu, pretend_a_gpu


@pytest.fixture(scope="session", autouse=True)
def _gpu(tmp_path_factory: pytest.TempPathFactory) -> None:
    if torch.cuda.is_available():
        return
    # A folder of this run: what an earlier one left half built would be waited for without an end.
    run = tmp_path_factory.getbasetemp()
    try:
        pretend_a_gpu((run.parent if "PYTEST_XDIST_WORKER" in os.environ else run) / "pretended_gpu")
    except NoPretendedGpu as error:
        pytest.skip(f"no GPU, and none can be pretended: {error}")
