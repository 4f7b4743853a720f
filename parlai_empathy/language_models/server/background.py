"""Runs asynchronous work for synchronous code, which gets each result as soon as it is available."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")

THREAD = "language model requests"
"""The name of the threads that wait for servers, as debuggers show it."""


@dataclass(frozen=True)
class _End:
    error: BaseException | None


@dataclass
class _Thread(Generic[T]):
    """A thread with its own event loop, so that it works where another loop is already running, as in a notebook."""

    work: Callable[[Callable[[T], None]], Coroutine[Any, Any, None]]
    results: SimpleQueue[T | _End] = field(default_factory=SimpleQueue)
    cancelled: threading.Event = field(default_factory=threading.Event)
    stop: Callable[[], object] = bool

    def run(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:  # not only Exception: the consumer waits for the end
            self.results.put(_End(error))
        else:
            self.results.put(_End(None))

    async def _main(self) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        self.stop = lambda: None if loop.is_closed() else loop.call_soon_threadsafe(task.cancel)
        if not self.cancelled.is_set():
            await self.work(self.results.put)

    def cancel(self) -> None:
        self.cancelled.set()
        self.stop()


def results_of(work: Callable[[Callable[[T], None]], Coroutine[Any, Any, None]]) -> Iterator[T]:
    """Run asynchronous work in its own thread, and yield its results.

    The work is cancelled when the consumer closes the generator or presses Control-C.

    :param work: called with a function to which it passes its results.
    :returns: the results as they arrive; if the work failed, its error is raised after them.
    """
    thread = _Thread(work)
    # A daemon thread, so that a hanging server does not keep the program from exiting.
    threading.Thread(target=thread.run, name=THREAD, daemon=True).start()
    try:
        while not isinstance(result := thread.results.get(), _End):
            yield result
        if result.error is not None:
            raise result.error
    finally:
        thread.cancel()
