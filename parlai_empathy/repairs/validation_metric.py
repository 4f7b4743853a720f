"""The direction of ``--validation-metric``: of which metrics less is better."""

from __future__ import annotations

import functools
from typing import Any


def keep_the_lowest(train_model: Any) -> None:
    """Keep the model with the lowest value where less is better: ParlAI knows few such metrics, none of them by task,
    and of the others keeps the worst model.
    """
    begin = train_model.TrainLoop.__init__

    @functools.wraps(begin)
    def __init__(self: Any, opt: Any) -> None:
        from parlai_empathy.metrics.direction import is_less_better  # here: only trainings need it, not every command

        is_less = is_less_better(opt["validation_metric"], opt.get("validation_metric_mode"))
        begin(self, opt)  # only then: a resumed agent would keep the direction of its first metric
        if is_less:
            self.opt["validation_metric_mode"], self.valid_optim = "min", -1

    train_model.TrainLoop.__init__ = __init__
