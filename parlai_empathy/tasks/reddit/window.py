"""The latest posts of a dump. Most comments follow what they answer within hours, so older posts can be forgotten."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """What is kept of a post.

    :param position: how many posts of the dumps were read up to it.
    :param text: cleaned and cut; empty if there is a flaw.
    :param flaw: why it can be no context; None if it can.
    :param depth: its place in the thread: 1 is the submission. Where the turns before were not known, the least.
    """

    position: int
    parent: str | None
    text: str
    flaw: str | None
    depth: int


class Window:
    """The turns by their posts' full names, as far as they are among the latest ``size`` posts of the dumps."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._turns: dict[str, Turn] = {}
        self._names: deque[str] = deque()  # in the order of their positions

    def move_to(self, position: int) -> None:
        """Forget what is more than ``size`` posts before this position. Positions must grow."""
        while self._names and self._turns[self._names[0]].position < position - self._size:
            del self._turns[self._names.popleft()]

    def __contains__(self, name: str) -> bool:
        return name in self._turns

    def __len__(self) -> int:
        return len(self._turns)

    def get(self, name: str | None) -> Turn | None:
        """The turn of that name; None if it is not, or no longer, known."""
        return self._turns.get(name) if name else None

    def add(self, name: str, turn: Turn) -> None:
        """Keep a turn, whose name is not known yet."""
        self._turns[name] = turn
        self._names.append(name)

    def back_from(self, turn: Turn) -> Iterator[Turn]:
        """The turn and those before it, as far as they are known and may be a context."""
        found: Turn | None = turn
        while found and not found.flaw:
            yield found
            before = self.get(found.parent)
            # A parent was read before its child. Whatever a file says, nobody goes round in a circle here.
            found = before if before and before.position < found.position else None
