"""Bells that wake waiting pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from parlai_empathy.rating.collecting.notifications import Bells


def in_thread(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine in another thread: Playwright keeps an event loop in the tests' thread."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(lambda: asyncio.run(work())).result(60)


def test_bell_wakes_only_listeners_of_its_name_from_any_thread() -> None:
    async def work() -> None:
        bells = Bells()
        with bells.heard("ann") as ann, bells.heard("bob") as bob:
            await asyncio.to_thread(bells.ring, "ann")
            bells.ring("nobody")
            bells.ring(None)
            await asyncio.wait_for(ann.wait(1000), 20)
            await bob.wait(0.01)  # not rung: the wait times out without an error
            assert bells.listeners("bob") == 1
        assert bells.listeners("bob") == 0
        bells.ring("ann")

    in_thread(work)


def test_bell_rung_before_waiting_is_not_missed() -> None:
    async def work() -> None:
        bells = Bells()
        with bells.heard("ann") as one, bells.heard("ann") as two:
            bells.ring("ann")
            await asyncio.sleep(0)
            for bell in (one, two):
                await asyncio.wait_for(bell.wait(1000), 20)
            with pytest.raises((asyncio.TimeoutError, TimeoutError)):  # a ring is heard only once
                await asyncio.wait_for(one.wait(1000), 0.05)

    in_thread(work)


def test_ringing_listener_of_closed_loop_is_ignored() -> None:
    bells = Bells()
    context = []

    async def work() -> None:
        context.append(bells.heard("ann"))
        context[0].__enter__()

    in_thread(work)
    bells.ring("ann")
