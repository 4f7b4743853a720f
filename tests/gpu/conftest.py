"""A GPU for each test of this folder: the machine's own, or a pretended one."""

from __future__ import annotations

import pytest
import torch
from gpu.pretended import NoPretendedGpu, pretend_a_gpu


@pytest.fixture(scope="session", autouse=True)
def _gpu() -> None:
    if torch.cuda.is_available():
        return
    try:
        pretend_a_gpu()
    except NoPretendedGpu as error:
        pytest.skip(f"no GPU, and none can be pretended: {error}")
