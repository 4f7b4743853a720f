"""Counts of requests and tokens, and their cost."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.completion import Completion, NoAnswer
from parlai_empathy.language_models.usage import Usage


def test_usage_counts_requests_tokens_and_cost() -> None:
    usage = Usage(prices=(2.0, 8.0))
    usage.add(Completion("a", "stop", 1000, 100))
    usage.add(Completion("b", "length", 500, 50))
    usage.add(Completion("a", "stop", 1000, 100, cached=True))
    usage.add(NoAnswer("filtered"))
    usage.add_tokens(10, 1)
    usage.add_retry()
    assert (usage.requests, usage.cached, usage.retries, usage.no_answers) == (3, 1, 1, 1)
    assert (usage.prompt_tokens, usage.completion_tokens) == (1510, 151)
    # 1510 x 2 / 10^6 + 151 x 8 / 10^6 = .00302 + .001208
    assert usage.cost == pytest.approx(0.004228)
    assert usage.summary() == (
        "3 requests (1 more from the cache, 1 retries), 1510 tokens read and 151 written, 1 without an answer, "
        "cost 0.0042"
    )


def test_no_cost_without_prices() -> None:
    usage = Usage()
    usage.add(Completion("a", "stop", 1000, 100))
    assert usage.cost is None
    assert "cost" not in usage.summary()


def test_counts_are_thread_safe() -> None:
    usage = Usage()

    def work() -> None:
        for _ in range(2000):
            usage.add(Completion("a", "stop", 1, 1))
            usage.add_retry()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (usage.requests, usage.retries, usage.prompt_tokens) == (8000, 8000, 8000)


@pytest.mark.parametrize("prices", [(-1.0, 1.0), (1.0,), (float("nan"), 1.0), (1e9, 1.0)])
def test_invalid_prices_raise_option_error(prices: Any) -> None:
    with pytest.raises(OptionError, match="must be two prices from 0 to below a billion"):
        Usage(prices)
