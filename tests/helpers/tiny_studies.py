"""Minimal studies, and a manual clock, for the tests of ratings."""

from __future__ import annotations

LIKERT = {
    "title": "Herons",
    "kind": "likert",
    "questions": [{"id": "liking", "text": "Do you like it?", "kind": "likert"}],
}
PAIRWISE = {
    "title": "Herons",
    "kind": "pairwise",
    "questions": [{"id": "better", "text": "Which is better?", "kind": "preference"}],
}


class Clock:
    """A clock that only moves when ``now`` is set."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now
