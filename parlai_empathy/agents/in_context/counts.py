"""Counts over all prompts, reported when an evaluation ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from parlai_empathy.agents.in_context.truncation import Fitted


@dataclass
class Tally:
    """Counts of prompts, and of what was dropped from them."""

    prompts: int = 0
    shortened: int = 0
    dropped_examples: int = 0
    dropped_turns: int = 0
    no_answers: int = 0

    def add(self, prompts: Sequence[Fitted]) -> None:
        """Count prompts."""
        self.prompts += len(prompts)
        for prompt in prompts:
            self.shortened += prompt.is_shortened
            self.dropped_examples += prompt.dropped_examples
            self.dropped_turns += prompt.dropped_turns

    def warnings(self) -> Iterator[str]:
        """Yield a warning for everything that may affect how results should be read."""
        if self.shortened:
            yield (
                f"{self.shortened:,} of {self.prompts:,} prompts were too long: {self.dropped_examples:,} examples and "
                f"{self.dropped_turns:,} turns were left out"
            )
        if self.no_answers:
            yield f"{self.no_answers:,} of {self.prompts:,} prompts have no answer and are excluded from scores"
