"""How an evaluation batches its examples, derived from the agent's options.

A training applies its options ``--eval-batchsize`` and ``--eval-dynamic-batching`` only to its validations and final
evaluation, and does not tell the agent. Other evaluations ignore them, though a saved model's options may hold them;
how these make their batches is in the agent's options ``evaluation_batchsize`` and ``evaluation_dynamic_batching``,
which :mod:`parlai_empathy.repairs.evaluation_batches` adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_of_training(opt: Mapping[str, Any]) -> bool:
    """Whether the agent is being trained, so that its evaluations are validations or the final evaluation."""
    datatype = str(opt.get("datatype"))
    return datatype.startswith("train") and "evalmode" not in datatype


def evaluation_batchsize(opt: Mapping[str, Any]) -> int:
    """Return the number of examples in an evaluation's batch."""
    own = opt.get("eval_batchsize" if is_of_training(opt) else "evaluation_batchsize")
    return int(own or opt["batchsize"])


def evaluation_dynamic_batching(opt: Mapping[str, Any]) -> str | None:
    """Return how an evaluation's batches are sorted by length, ``batchsort`` or ``full``; None if they are not."""
    if is_of_training(opt):
        sorting = opt.get("eval_dynamic_batching") or opt.get("dynamic_batching")
    else:
        sorting = opt.get("evaluation_dynamic_batching", opt.get("dynamic_batching"))
    return None if sorting == "off" else sorting
