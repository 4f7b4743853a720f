"""The best value of ``--validation-metric``: of which metrics less is better, and which values are none."""

from __future__ import annotations

import functools
import math
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


def forget_undefined(train_model: Any) -> None:
    """Keep the first model whose value is a number: ParlAI compares all later ones with a NaN, which none exceeds, such
    as the correlation of a judge that begins with the same score for each text.
    """
    validate = train_model.TrainLoop.validate

    @functools.wraps(validate)
    def validate_anew(self: Any) -> bool:
        if self.best_valid is not None and math.isnan(self.best_valid):
            self.best_valid = None
        return bool(validate(self))

    train_model.TrainLoop.validate = validate_anew
