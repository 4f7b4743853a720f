"""The order in which an evaluation reads its examples: it determines which of them are each other's candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def example_order(opt: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the order's name for signatures; None if examples are read in the fold's order.

    ParlAI runs as many conversations in parallel as the batch size, each one turn further in each batch; and dynamic
    batches contain examples of similar length.

    :param opt: the evaluation's options.
    :param messages: a batch from the teacher.
    """
    if opt.get("dynamic_batching"):
        return f"dynamic-{opt['dynamic_batching']}"
    has_turns = not all(message.get("episode_done", True) for message in messages)
    return f"side-by-side-{opt['batchsize']}" if has_turns and opt["batchsize"] > 1 else None
