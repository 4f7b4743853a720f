"""P@k,100 against the true replies of other examples, for rankers without vectors that could be kept.

The number of examples determines which of them compete. If it is known beforehand, a block can be ranked and discarded
as soon as its hundred examples have arrived.
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
    """The incomplete blocks of one protocol.

    :param protocol: ``shuffled`` or ``ordered``.
    :param total: number of examples in the fold.
    """

    protocol: str
    total: int

    def __post_init__(self) -> None:
        order = block_order(self.total, self.protocol)
        self._place = {int(position): divmod(place, BLOCK) for place, position in enumerate(order)}
        self._waiting: dict[int, dict[int, Example]] = {}

    def add(self, position: int, example: Example) -> list[Example] | None:
        """Add the fold's ``position``-th example, from 0, to its block; return the block if this completes it.

        Examples that the protocol leaves out, as part of the last, shorter block, belong to none.
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
    """Computes P@k,100 under ``shuffled`` and ``ordered``, from examples in the fold's order.

    :param total: number of examples in the fold.
    :param ranks: maps a block's examples to the ranks of their true replies among those of all, ``(100,)``.
    :param score: how replies are scored, for the signature.
    :param order: the examples' order, if not the fold's: see :mod:`~parlai_empathy.metrics.example_order`.
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
        """Add the next example; yield the metrics, with their names in reports, of the blocks that it completes."""
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
