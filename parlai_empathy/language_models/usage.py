"""Counts of a language model's requests and tokens, and their cost."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.completion import Answer, Completion


@dataclass
class Usage:
    """Thread-safe counters.

    :param prices: the price of a million tokens read, and of a million written, in any currency; None: unknown.
    :param requests: prompts answered by the model itself, including unusable answers.
    :param cached: prompts answered from the cache.
    :param retries: repeated attempts at the same prompt.
    :param prompt_tokens: tokens read for those requests.
    :param completion_tokens: tokens written for them.
    :param no_answers: requests with unusable answers.
    """

    prices: tuple[float, float] | None = None
    requests: int = 0
    cached: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    no_answers: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.prices is not None and not (len(self.prices) == 2 and all(0 <= price < 1e9 for price in self.prices)):
            given = ",".join(f"{price:g}" for price in self.prices)
            raise OptionError(
                f"--lm-prices {given}: must be two prices from 0 to below a billion: of a million tokens read, "
                "and of a million written"
            )

    @property
    def cost(self) -> float | None:
        """The cost in the currency of the prices; None without prices."""
        if self.prices is None:
            return None
        return (self.prompt_tokens * self.prices[0] + self.completion_tokens * self.prices[1]) / 1_000_000

    def add(self, answer: Answer) -> None:
        """Count an answer."""
        with self._lock:
            if isinstance(answer, Completion) and answer.cached:
                self.cached += 1
                return
            self.requests += 1
            if isinstance(answer, Completion):
                self.prompt_tokens += answer.prompt_tokens
                self.completion_tokens += answer.completion_tokens
            else:
                self.no_answers += 1

    def add_tokens(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Count the tokens of an unusable answer, which are charged as well."""
        with self._lock:
            self.prompt_tokens += prompt_tokens
            self.completion_tokens += completion_tokens

    def add_retry(self) -> None:
        """Count a retry."""
        with self._lock:
            self.retries += 1

    def summary(self) -> str:
        """Return one line for the log."""
        with self._lock:
            parts = [
                f"{self.requests} requests ({self.cached} more from the cache, {self.retries} retries)",
                f"{self.prompt_tokens} tokens read and {self.completion_tokens} written",
                f"{self.no_answers} without an answer",
            ]
            cost = self.cost
        return ", ".join(parts if cost is None else [*parts, f"cost {cost:.4f}"])
