"""Bells: who does something rings the other one's, so that the other one's page need not wait for its next look.

They are a help and no more. Who listens looks at the store from time to time in any case: the other one may be served
by another process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Bell:
    """What one page listens to."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._rung = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Wait until it is rung, or was since the last time; at most so long."""
        try:
            await asyncio.wait_for(self._rung.wait(), seconds)
        except (asyncio.TimeoutError, TimeoutError):
            return
        self._rung.clear()

    def ring(self) -> None:
        """Ring it, from whatever thread."""
        with suppress(RuntimeError):  # the loop has ended, and so has the page
            self._loop.call_soon_threadsafe(self._rung.set)


class Bells:
    """The bells of all who listen, by their names."""

    def __init__(self) -> None:
        self._bells: dict[str, list[Bell]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def heard(self, name: str) -> Iterator[Bell]:
        """A bell, as long as somebody listens to it."""
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
        """How many pages listen in somebody's name."""
        with self._lock:
            return len(self._bells.get(name, ()))

    def ring(self, name: str | None) -> None:
        """Ring all bells of somebody; of nobody, none."""
        with self._lock:
            bells = list(self._bells.get(name or "", ()))
        for bell in bells:
            bell.ring()
