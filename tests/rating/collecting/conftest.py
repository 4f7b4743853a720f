"""Shared fixtures of the tests of collecting dialogues: a lab without a server, and a served site."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from collecting_lab import Lab
from tiny_studies import Clock


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Callable[..., Lab]]:
    """Makes a lab; a second one shares the store and clock of the first, as after a restart."""
    labs: list[Lab] = []

    def make(clock: Any = None, **options: Any) -> Lab:
        clock = clock or (labs[0].clock if labs else Clock())
        labs.append(Lab(tmp_path / "ratings.db", clock, **options))
        return labs[-1]

    yield make
    for one in labs:
        one.store.close()


@pytest.fixture
def served(lab: Callable[..., Lab]) -> Iterator[Callable[..., tuple[Lab, str]]]:
    """Serves a lab's site with the real clock; returns the lab and the site's address."""
    servers: list[tuple[uvicorn.Server, threading.Thread]] = []

    def serve(**options: Any) -> tuple[Lab, str]:
        one = lab(clock=time.time, **options)
        config = uvicorn.Config(one.app, port=0, log_level="error", access_log=False, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        servers.append((server, thread))
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        return one, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"

    yield serve
    for server, thread in servers:
        server.should_exit = True
        thread.join(10)
