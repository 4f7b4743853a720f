"""What tests share: ParlAI plugged in, the fixtures' folder, and the real data where they are at hand."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from parlai_empathy import hook

hook.install()  # as the .pth does in an installed environment; before anything imports ParlAI

# The same examples in every run, so that what is green here is green elsewhere, however slow the machine is;
# pytest --hypothesis-profile search looks for new ones, and for more of them.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=1000, deadline=None)
settings.load_profile("same")

FIXTURES = Path(__file__).parent / "fixtures"
# Real, third-party data, never part of this repository: where EMPATHY_TEST_DATA says, or in shared/data beside it.
REAL_DATA = Path(os.environ.get("EMPATHY_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))

ON_A_GPU = Path(__file__).parent / "gpu"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--gpu", action="store_true", help="run the tests in tests/gpu alone; where no GPU is, pretend one"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Most tests compare with what they compute on the CPU: the agents are to compute there, too."""
    if not config.getoption("--gpu"):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Tests on a GPU have processes of their own."""
    is_elsewhere = collection_path.is_file() and config.getoption("--gpu") != (ON_A_GPU in collection_path.parents)
    return True if is_elsewhere else None


@pytest.fixture
def fixtures() -> Path:
    """The folder of small files, written for these tests in each data set's original format."""
    return FIXTURES


@pytest.fixture
def real_data() -> Path:
    """The folder of real data sets; the test is skipped where there is none."""
    if not REAL_DATA.is_dir():
        pytest.skip("no real data here: set EMPATHY_TEST_DATA")
    return REAL_DATA


@pytest.fixture(autouse=True)
def _log_level() -> Iterator[None]:
    """A test that runs a ParlAI command quietly must not silence the tests after it."""
    yield
    if "parlai.utils.logging" in sys.modules:
        logger = sys.modules["parlai.utils.logging"].logger
        logger.setLevel("INFO")
        logger._cache.clear()  # Python clears the caches of loggers that it knows; ParlAI's is not among them


@pytest.fixture
def process_group(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """torch's group of processes, with this one alone in it."""
    import torch.distributed

    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # torch puts its own there
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()
