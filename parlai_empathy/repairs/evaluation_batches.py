"""Agents know how an evaluation batches its examples: a model's saved options say how its training did."""

from __future__ import annotations

import functools
from typing import Any


def tell_agents(eval_model: Any) -> None:
    """Pass on the options by which ``eval_model`` makes its batches, under names that no saved model has.

    An agent cannot use them under their own names: for these it gets the values saved with its model, unless they are
    typed, while the evaluation takes the defaults.
    """
    evaluate = eval_model.eval_model

    @functools.wraps(evaluate)
    def evaluate_as_told(opt: Any) -> Any:
        told = {f"evaluation_{name}": opt.get(name) for name in ("batchsize", "dynamic_batching")}
        return evaluate(type(opt)({**opt, **told}))

    eval_model.eval_model = evaluate_as_told
