"""Bells: whoever does something rings their partner's, so that the partner's page is updated at once.

They only shorten the delay. Listening pages also poll the store, since the partner may be served by another process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Bell:
    """Wakes up one listening page."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._rung = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Wait until it is rung, at most this long; return at once if it was rung since the last wait."""
        try:
            await asyncio.wait_for(self._rung.wait(), seconds)
        except (asyncio.TimeoutError, TimeoutError):
            return
        self._rung.clear()

    def ring(self) -> None:
        """Ring it, from any thread."""
        with suppress(RuntimeError):  # the loop is closed, and so is the page
            self._loop.call_soon_threadsafe(self._rung.set)


class Bells:
    """The bells of all listening pages, by their visitors' names."""

    def __init__(self) -> None:
        self._bells: dict[str, list[Bell]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def heard(self, name: str) -> Iterator[Bell]:
        """Register a bell in somebody's name while the ``with`` block runs."""
        bell = Bell()
        with self._lock:
            self._bells.setdefault(name, []).append(bell)
        try:
            yield bell
        finally:
            with self._lock:
                self._bells[name].remove(bell)
                if not self._bells[name]:
                    del self._bells[name]

    def listeners(self, name: str) -> int:
        """Return how many pages listen in somebody's name."""
        with self._lock:
            return len(self._bells.get(name, ()))

    def ring(self, name: str | None) -> None:
        """Ring all bells in somebody's name; None rings none."""
        with self._lock:
            bells = list(self._bells.get(name or "", ()))
        for bell in bells:
            bell.ring()
