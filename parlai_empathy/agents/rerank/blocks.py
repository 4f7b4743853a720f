"""P@k,100 against the true replies of other examples, for a ranker that has no vectors to keep.

The number of examples decides which of them compete. Where it is known beforehand, a block can be ranked as soon as
its hundred examples are there, and then be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from torch import Tensor

from parlai_empathy.metrics.precision_at_k import (
    BLOCK,
    CUTOFFS,
    RankedPrecision,
    block_order,
    key,
)

Example = TypeVar("Example")


@dataclass
class Blocks(Generic[Example]):
    """The blocks of one protocol that are not complete yet.

    :param protocol: ``shuffled`` or ``ordered``.
    :param total: how many examples the fold has.
    """

    protocol: str
    total: int

    def __post_init__(self) -> None:
        order = block_order(self.total, self.protocol)
        self._place = {int(position): divmod(place, BLOCK) for place, position in enumerate(order)}
        self._waiting: dict[int, dict[int, Example]] = {}

    def add(self, position: int, example: Example) -> list[Example] | None:
        """Put the fold's ``position``-th example, from 0, into its block; returns the block if it is complete now.

        An example that the protocol leaves out, as part of the last, shorter block, is in none.
        """
        if position not in self._place:
            return None
        number, place = self._place[position]
        block = self._waiting.setdefault(number, {})
        block[place] = example
        if len(block) < BLOCK:
            return None
        del self._waiting[number]
        return [block[place] for place in range(BLOCK)]


class BlockPrecisions(Generic[Example]):
    """P@k,100 under ``shuffled`` and ``ordered``, from examples in the fold's order.

    :param total: how many examples the fold has.
    :param ranks: makes of a block's examples the rank of each one's true reply among those of all, ``(100,)``.
    :param score: how replies are scored, for the signature.
    :param order: the examples' order, if it is another: see :mod:`~parlai_empathy.metrics.example_order`.
    """

    def __init__(
        self,
        total: int,
        ranks: Callable[[list[Example]], Tensor],
        score: str,
        split: str | None,
        order: str | None = None,
    ) -> None:
        self._blocks: list[Blocks[Example]] = [Blocks(protocol, total) for protocol in ("shuffled", "ordered")]
        self._ranks = ranks
        self._score = score
        self._split = split
        self._order = order
        self._seen = 0

    def add(self, example: Example) -> Iterator[tuple[str, RankedPrecision]]:
        """Take the next example; yields the numbers, by their names in reports, of blocks that it completes."""
        for blocks in self._blocks:
            if complete := blocks.add(self._seen, example):
                ranks = self._ranks(complete)
                for k in CUTOFFS:
                    hits = int((ranks <= k).sum())
                    yield (
                        key(k, blocks.protocol),
                        RankedPrecision(
                            hits, BLOCK, blocks.protocol, self._score, split=self._split, order=self._order
                        ),
                    )
        self._seen += 1
