"""Runs asynchronous work beside an ordinary program, which gets each result as soon as it is there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class _End:
    error: BaseException | None


@dataclass
class _Thread(Generic[T]):
    """A thread with an event loop of its own, so that it works where another loop runs already, as in a notebook."""

    work: Callable[[Callable[[T], None]], Coroutine[Any, Any, None]]
    results: SimpleQueue[T | _End] = field(default_factory=SimpleQueue)
    cancelled: threading.Event = field(default_factory=threading.Event)
    stop: Callable[[], object] = bool

    def run(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:  # also what is no Exception: the program waits for it
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
    """Do asynchronous work in a thread of its own.

    Whoever takes no more results, or presses Control-C meanwhile, ends the work too.

    :param work: gets a function, to which it gives its results.
    :returns: the results, in the order in which they come; then an error of the work is raised.
    """
    thread = _Thread(work)
    # A daemon: the end of the program does not wait for a server that hangs.
    threading.Thread(target=thread.run, daemon=True).start()
    try:
        while not isinstance(result := thread.results.get(), _End):
            yield result
        if result.error is not None:
            raise result.error
    finally:
        thread.cancel()
