"""Fixtures of the task tests: mirrors and loaded teachers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import parlai.utils.logging as parlais_logging
import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.teachers import create_task_agent_from_taskname

from parlai_empathy.tasks import builder


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignore a mirror or proxy that the environment sets."""
    monkeypatch.delenv("EMPATHY_MIRROR", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def ed_mirror(mirror_of: Callable[[Path, str], Path], fixtures: Path) -> Path:
    """A mirror that holds the invented EmpatheticDialogues files; a test may change its copies."""
    return mirror_of(fixtures / "empathetic_dialogues", "empatheticdialogues").parent


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """Capture ParlAI's logger too, which is outside Python's logger hierarchy."""
    monkeypatch.setattr(parlais_logging.logger, "handlers", [*parlais_logging.logger.handlers, caplog.handler])
    return caplog


@pytest.fixture
def load_teacher(tmp_path: Path) -> Callable[..., Any]:
    """A function that loads a teacher as ParlAI's scripts do: from the text after ``-t`` and the options.

    Options of other parsers, such as a trainer's ``seed``, go into ``others``.
    """

    def load(
        task: str, datatype: str = "train:ordered", others: Mapping[str, Any] | None = None, **options: Any
    ) -> Any:
        parser = ParlaiParser(add_parlai_args=True, add_model_args=False)
        options = {"datapath": str(tmp_path / "data"), **options}
        opt = parser.parse_kwargs(task=task, datatype=datatype, **options)
        opt.update(others or {})
        return create_task_agent_from_taskname(opt)[0]

    return load


@pytest.fixture
def load(load_teacher: Callable[..., Any]) -> Callable[..., Any]:
    """A function that loads a teacher by fold, with its examples in order."""
    datatypes = {"train": "train:ordered", "valid": "valid", "test": "test"}
    return lambda task, fold="train", **options: load_teacher(task, **{"datatype": datatypes[fold], **options})


@pytest.fixture
def opt(tmp_path: Path) -> Opt:
    """Options that name a data folder which does not exist yet."""
    return Opt({"datapath": str(tmp_path / "data"), "edition": "full"})


@pytest.fixture
def mirror_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, str], Path]:
    """A function that puts a copy of a folder on a mirror, under the name given; a test may change the copy."""

    def copied(source: Path, folder: str) -> Path:
        monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
        return Path(shutil.copytree(source, tmp_path / "mirror" / folder))

    return copied


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requested addresses; nothing uses the network, and every address returns the same bytes."""
    addresses = []

    def answer(url: str, target: Path) -> None:
        addresses.append(url)
        target.write_bytes(b"what came")

    monkeypatch.setattr(builder, "_download_once", answer)
    return addresses
