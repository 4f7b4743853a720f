"""Shared set-up: the import hook, the fixtures' folder, the real data if they are available, a check of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from parlai_empathy import hook

hook.install()  # as the .pth file does in an installed environment; must precede any import of ParlAI

# The same examples in every run and no deadline, so that results do not depend on the machine;
# pytest --hypothesis-profile search tries new examples, and more of them.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=1000, deadline=None)
settings.load_profile("same")

FIXTURES = Path(__file__).parent / "fixtures"
# Real, third-party data, never part of this repository: in EMPATHY_TEST_DATA, or in shared/data beside the repository.
REAL_DATA = Path(os.environ.get("EMPATHY_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))

# How names of environment variables begin that change what commands do: mirrors, servers and their keys, WordNet.
SETTINGS = ("EMPATHY_", "OPENAI_", "HF_HUB_OFFLINE", "WNHOME", "WNSEARCHDIR")

ON_A_GPU = Path(__file__).parent / "gpu"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--gpu", action="store_true", help="run the tests in tests/gpu alone; where no GPU is, pretend one"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Ignore the user's settings, and hide GPUs: most tests compare agents with references computed on the CPU."""
    for name in [name for name in os.environ if name.startswith(SETTINGS) and name != "EMPATHY_TEST_DATA"]:
        del os.environ[name]
    if not config.getoption("--gpu"):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect either the tests in tests/gpu or all others: they need separate processes."""
    is_elsewhere = collection_path.is_file() and config.getoption("--gpu") != (ON_A_GPU in collection_path.parents)
    return True if is_elsewhere else None


@pytest.fixture
def fixtures() -> Path:
    """The folder of small files in each data set's original format, written for these tests."""
    return FIXTURES


@pytest.fixture
def real_data() -> Path:
    """The folder of real data sets; without it the test is skipped."""
    if not REAL_DATA.is_dir():
        pytest.skip("no real data here: set EMPATHY_TEST_DATA")
    return REAL_DATA


@pytest.fixture
def assert_one_line() -> Callable[..., None]:
    """A check that an error's message is one line and that it names each of the given parts."""

    def check(error: BaseException, *parts: object) -> None:
        message = str(error)
        assert len(message.splitlines()) == 1, message
        for part in parts:
            assert str(part) in message, f"{part!r} is not in {message!r}"

    return check


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """Capture ParlAI's logger too, which is outside Python's logger hierarchy."""
    import parlai.utils.logging as parlais_logging

    monkeypatch.setattr(parlais_logging.logger, "handlers", [*parlais_logging.logger.handlers, caplog.handler])
    return caplog


@pytest.fixture(autouse=True)
def _log_level() -> Iterator[None]:
    """Reset ParlAI's log level: a test that lowers it must not silence the tests after it."""
    yield
    if "parlai.utils.logging" in sys.modules:
        logger = sys.modules["parlai.utils.logging"].logger
        logger.setLevel("INFO")
        logger._cache.clear()  # ParlAI's logger is not registered with Python's logging, which would clear this cache


@pytest.fixture
def process_group(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Initialise torch's process group, with this process as its only member."""
    import torch.distributed

    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # torch replaces it
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()
