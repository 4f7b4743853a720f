"""In which order an evaluation meets its examples: it decides which of them are one another's candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def example_order(opt: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> str | None:
    """The order's name for signatures; None where examples come as they stand in the fold.

    ParlAI leads as many conversations side by side as a batch has places, each a turn further from batch to batch; and
    dynamic batches hold what is of like length.

    :param opt: of the evaluation.
    :param messages: a batch of the teacher's.
    """
    if opt.get("dynamic_batching"):
        return f"dynamic-{opt['dynamic_batching']}"
    goes_on = not all(message.get("episode_done", True) for message in messages)
    return f"side-by-side-{opt['batchsize']}" if goes_on and opt["batchsize"] > 1 else None
