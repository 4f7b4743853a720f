"""What the tests of tasks share: no mirror but the test's own, and how an error has to look."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import parlai.utils.logging as parlais_logging
import pytest
from parlai.core.params import ParlaiParser
from parlai.core.teachers import create_task_agent_from_taskname


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have a mirror or a proxy: neither shall answer here."""
    monkeypatch.delenv("EMPATHY_MIRROR", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


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
def ed_mirror(tmp_path: Path, fixtures: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror that holds the invented EmpatheticDialogues files; a test may change its copies."""
    mirror = tmp_path / "mirror"
    shutil.copytree(fixtures / "empathetic_dialogues", mirror / "empatheticdialogues")
    monkeypatch.setenv("EMPATHY_MIRROR", str(mirror))
    return mirror


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """What ParlAI's logger says, which stands apart from Python's tree of loggers."""
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
def examples_of() -> Callable[[Any], list[dict[str, Any]]]:
    """A function that gives one epoch of a teacher; labels under one name for all folds."""

    def examples(teacher: Any) -> list[dict[str, Any]]:
        teacher.reset()
        found = []
        while not teacher.epoch_done():
            message = dict(teacher.act())
            message["labels"] = list(message.get("labels") or message.pop("eval_labels"))
            found.append(message)
        return found

    return examples
