"""The latest posts of a dump. Most comments follow their parents within hours, so older posts can be forgotten."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """What is kept of a post.

    :param position: its number among all posts read from the dumps, from 1.
    :param text: cleaned and truncated; empty if there is a flaw.
    :param flaw: why it cannot be a context; None if it can.
    :param depth: its position in the thread, the submission's being 1; the lowest possible one if some earlier turns
        were unknown.
    """

    position: int
    parent: str | None
    text: str
    flaw: str | None
    depth: int


class Window:
    """The turns of the latest ``size`` posts of the dumps, by full name."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._turns: dict[str, Turn] = {}
        self._names: deque[str] = deque()  # in the order of their positions

    def move_to(self, position: int) -> None:
        """Forget posts that are more than ``size`` before this position. Positions must increase."""
        while self._names and self._turns[self._names[0]].position < position - self._size:
            del self._turns[self._names.popleft()]

    def __contains__(self, name: str) -> bool:
        return name in self._turns

    def __len__(self) -> int:
        return len(self._turns)

    def get(self, name: str | None) -> Turn | None:
        """Return the turn of that name; None if it is not, or no longer, in the window."""
        return self._turns.get(name) if name else None

    def add(self, name: str, turn: Turn) -> None:
        """Add a turn whose name is not in the window."""
        self._turns[name] = turn
        self._names.append(name)

    def turns_up_to(self, turn: Turn) -> Iterator[Turn]:
        """Yield the turn and those before it, until one is not in the window or cannot be a context."""
        found: Turn | None = turn
        while found and not found.flaw:
            yield found
            before = self.get(found.parent)
            # Follow only parents that were read before their children: an invalid file could contain circles.
            found = before if before and before.position < found.position else None
