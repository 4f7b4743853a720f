"""Shared fixtures of the rating tests: a PostgreSQL server, stores of both kinds, a manual clock, captured logs."""

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

from parlai_empathy.rating.storage.store import Store, open_store
from parlai_empathy.rating.study.study import Study
from parlai_empathy.rating.study.study_file import read_study


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server for all tests; tests that use it are skipped if PostgreSQL is not installed."""
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser, closed after each module: Playwright keeps the only event loop that this thread can have."""
    with chromium() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store: once an SQLite file, once a PostgreSQL database."""
    if request.param == "sqlite":
        return str(tmp_path / "ratings.db")
    url: str = request.getfixturevalue("postgres").new_database()
    return url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An empty store, once of each kind."""
    store = open_store(store_url)
    yield store
    store.close()


@pytest.fixture
def write_log(tmp_path: Path) -> Callable[..., str]:
    """Writes a log of invented replies: ``write_log("A", 3)`` writes three, each with a different context."""

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
    """Makes a study: ``study_of(LIKERT, minutes=1)`` is that study with the given keys added or replaced."""

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
    """The lines of ParlAI's log, whose logger is outside Python's hierarchy, so that ``caplog`` misses them."""
    handler = _Lines()
    parlai_logging.logger.addHandler(handler)
    yield handler.lines
    parlai_logging.logger.removeHandler(handler)
