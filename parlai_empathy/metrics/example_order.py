"""The order in which an evaluation reads its examples: it determines which of them are each other's candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parlai_empathy.metrics.evaluation_batches import evaluation_batchsize, evaluation_dynamic_batching


def example_order(opt: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the order's name for signatures; None if examples are read in the fold's order.

    ParlAI runs as many conversations in parallel as the batch size, each one turn further in each batch; and dynamic
    batches contain examples of similar length.

    :param opt: the agent's options.
    :param messages: a batch from the teacher.
    """
    if sorting := evaluation_dynamic_batching(opt):
        return f"dynamic-{sorting}"
    has_turns = not all(message.get("episode_done", True) for message in messages)
    size = evaluation_batchsize(opt)
    return f"side-by-side-{size}" if has_turns and size > 1 else None
