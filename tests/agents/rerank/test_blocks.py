"""Blocks are ranked as soon as they are complete, and are the same as in a plain computation."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_empathy.agents.rerank.blocks import BlockPrecisions, Blocks
from parlai_empathy.metrics.precision_at_k import BLOCK, block_order, block_ranks, key, precision_at


@settings(max_examples=30)
@given(st.integers(0, 450), st.sampled_from(["shuffled", "ordered"]))
def test_each_complete_block_is_returned_once(total: int, protocol: str) -> None:
    blocks: Blocks[int] = Blocks(protocol, total)
    found = [block for position in range(total) if (block := blocks.add(position, position))]
    expected = block_order(total, protocol).view(-1, BLOCK).tolist()
    assert sorted(found) == sorted(expected)


def test_ordered_block_completes_with_its_last_example() -> None:
    blocks: Blocks[str] = Blocks("ordered", 250)
    complete = [position for position in range(250) if blocks.add(position, "x")]
    assert complete == [99, 199]


def test_returned_block_is_no_longer_kept() -> None:
    """An evaluation may have any number of examples, each with its context's vector."""

    class Example:
        pass

    blocks: Blocks[Example] = Blocks("ordered", 2 * BLOCK)
    added = []
    for position in range(BLOCK):
        example = Example()
        added.append(weakref.ref(example))
        complete = blocks.add(position, example)
    assert complete
    assert all(reference() for reference in added)
    del complete, example
    gc.collect()
    assert not any(reference() for reference in added)


def test_block_precisions_match_vector_ranking() -> None:
    """Examples are numbers with random vectors: the ranks of both methods must agree."""
    draw = torch.Generator().manual_seed(2)
    contexts, replies = torch.randn(330, 4, generator=draw), torch.randn(330, 4, generator=draw)

    def ranks(block: list[int]) -> torch.Tensor:
        scores = contexts[block] @ replies[block].T
        return (scores > scores.diagonal().unsqueeze(1)).sum(dim=1) + 1

    precisions: BlockPrecisions[int] = BlockPrecisions(330, ranks, "any", "test")
    found: dict[str, float] = {}
    totals: dict[str, object] = {}
    for place in range(330):
        for name, metric in precisions.add(place):
            totals[name] = metric + totals.get(name)  # type: ignore[operator]
    found = {name: float(metric) for name, metric in totals.items()}  # type: ignore[arg-type]
    for protocol in ("shuffled", "ordered"):
        expected = block_ranks(contexts, replies, protocol)
        for k in (1, 3, 10):
            assert found[key(k, protocol)] == pytest.approx(precision_at(k, expected))
            assert "n:300" in totals[key(k, protocol)].signature  # type: ignore[attr-defined]


def test_signatures_contain_split_and_order() -> None:
    ranks = torch.ones(BLOCK, dtype=torch.long)
    precisions: BlockPrecisions[int] = BlockPrecisions(BLOCK, lambda _: ranks, "any", "valid", "side-by-side-4")
    signatures = [metric.signature for place in range(BLOCK) for _, metric in precisions.add(place)]
    assert len(signatures) == 6
    for signature in signatures:
        assert "|split:valid|" in signature
        assert "|order:side-by-side-4|" in signature
