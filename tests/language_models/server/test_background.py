"""Running asynchronous work alongside synchronous code."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from parlai_empathy.language_models.server.background import results_of


async def three(give: Callable[[int], None]) -> None:
    for number in range(3):
        give(number)
        await asyncio.sleep(0)


def test_results_keep_their_order() -> None:
    assert list(results_of(three)) == [0, 1, 2]


def test_results_are_available_before_work_completes() -> None:
    taken = threading.Event()

    async def work(give: Callable[[int], None]) -> None:
        give(1)
        assert await asyncio.to_thread(taken.wait, 20)
        give(2)

    results = results_of(work)
    assert next(results) == 1
    taken.set()
    assert list(results) == [2]


def test_error_is_raised_after_earlier_results() -> None:
    async def work(give: Callable[[int], None]) -> None:
        give(1)
        raise KeyError("broken")

    results = results_of(work)
    assert next(results) == 1
    with pytest.raises(KeyError, match="broken"):
        next(results)


def test_closing_the_results_cancels_the_work() -> None:
    cancelled = threading.Event()

    async def work(give: Callable[[int], None]) -> None:
        give(1)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    results = results_of(work)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert cancelled.wait(20)
