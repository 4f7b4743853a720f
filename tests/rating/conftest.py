"""What the tests of ratings share: a PostgreSQL server, stores of both kinds, a clock that is set by hand, logs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import parlai.utils.logging as parlai_logging
import pytest
import yaml
from chromium_browser import chromium
from postgres_server import PostgresServer, postgres_server
from tiny_studies import Clock

from parlai_empathy.rating.store import Store, open_store
from parlai_empathy.rating.study import Study
from parlai_empathy.rating.study_file import read_study


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server for all tests; skipped where there is no PostgreSQL."""
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser. It ends with its file's tests: Playwright keeps an event loop in this thread, and only one."""
    with chromium() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store may lie: once a file, once a server's database."""
    if request.param == "sqlite":
        return str(tmp_path / "ratings.db")
    url: str = request.getfixturevalue("postgres").new_database()
    return url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An empty store of either kind."""
    store = open_store(store_url)
    yield store
    store.close()


@pytest.fixture
def write_log(tmp_path: Path) -> Callable[..., str]:
    """Writes a log of invented replies: ``write_log("A", 3)`` has three, each in a context of its own."""

    def write(name: str, count: int, references: bool = True) -> str:
        path = tmp_path / f"{name}.jsonl"
        records = [
            {
                "context": [f"I saw a heron today, number {number}."],
                "reply": f"{name} says {number}.",
                **({"reference": f"Herons are lovely, all {number} of them."} if references else {}),
            }
            for number in range(1, count + 1)
        ]
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return str(path)

    return write


@pytest.fixture
def study_of(tmp_path: Path) -> Callable[..., Study]:
    """Makes a study: ``study_of(LIKERT, minutes=1)`` is the one of that file, with one key more or another one."""

    def make(base: dict[str, Any], **keys: Any) -> Study:
        path = tmp_path / "herons.yaml"
        path.write_text(yaml.safe_dump({**base, **keys}))
        return read_study(path)

    return make


@pytest.fixture
def clock() -> Clock:
    return Clock()


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.getMessage()}")


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """The lines of ParlAI's log, which is none of Python's own."""
    handler = _Lines()
    parlai_logging.logger.addHandler(handler)
    yield handler.lines
    parlai_logging.logger.removeHandler(handler)
