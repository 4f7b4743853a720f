"""A training that is resumed. ParlAI forgets its best model, compares different metrics and tasks, resumes from an old
checkpoint although the model is newer, and draws the first examples once more.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def keep_best_model(train_model: Any) -> None:
    """Keep the best model when a resumed training finds no better one; ParlAI would overwrite it with the last one, and
    always evaluate the last one. Also keep the count of steps if ``--update-freq`` changes or is not given again.
    """
    begin = train_model.TrainLoop.__init__

    def __init__(self: Any, opt: Any) -> None:
        begin(self, opt)
        self.saved = self.best_valid is not None and train_model.PathManager.exists(opt["model_file"])
        self.opt["load_from_checkpoint"] = False  # already loaded; the model loaded at the end is the best one
        if self.valid_reports:
            self._last_valid_steps = self.valid_reports[-1].get("train_steps", 0)
        self.update_freq = self.agent.opt.get("update_freq", self.update_freq)  # from the saved options
        if self.parleys // self.update_freq != self._train_steps:
            self.parleys = self._train_steps * self.update_freq  # ParlAI derives its steps from these

    train_model.TrainLoop.__init__ = __init__


def forget_other_measure(train_model: Any) -> None:
    """Let a training resumed with another ``--validation-metric``, or validated on another task, choose its best model
    anew: ParlAI compares the new values with the best of the old ones, which may be out of reach. Until then the model
    stays as it is.
    """
    begin = train_model.TrainLoop.__init__

    def __init__(self: Any, opt: Any) -> None:
        before, now = _validated_before(opt), _validated_on(opt)
        begin(self, opt)
        is_other_task = bool(self._train_steps and before and before != now)
        if is_other_task:
            train_model.logging.warning(
                f"{opt['model_file']} was validated on {before}, and now is on {now}: its best model is chosen anew; "
                "--init-model would start a new training from it"
            )
        measured = [report.get(opt["validation_metric"]) for report in self.valid_reports]
        if is_other_task or (measured and self.best_valid not in measured):
            self.best_valid, self.impatience = None, 0

    train_model.TrainLoop.__init__ = __init__


def _validated_on(opt: Mapping[str, Any]) -> str | None:
    return opt.get("evaltask") or opt.get("task")


def _validated_before(opt: Mapping[str, Any]) -> str | None:
    """Return the task that the training to resume was validated on; None if there is none."""
    from parlai.core.opt import Opt

    path = str(opt.get("model_file"))
    if opt["load_from_checkpoint"] and os.path.exists(f"{path}.checkpoint"):  # as ParlAI chooses
        path += ".checkpoint"
    return _validated_on(Opt.load(f"{path}.opt")) if os.path.exists(f"{path}.opt") else None


def resume_from_newest(train_model: Any) -> None:
    """Resume from the model if it is newer than the checkpoint: ParlAI always prefers the checkpoint, and so takes the
    steps since an old one, such as that of an earlier Ctrl-C, once more.
    """
    begin = train_model.TrainLoop.__init__

    def __init__(self: Any, opt: Any) -> None:
        if _is_newer_than_checkpoint(opt.get("model_file")):
            opt["load_from_checkpoint"] = False
        begin(self, opt)

    train_model.TrainLoop.__init__ = __init__


def _is_newer_than_checkpoint(model_file: str | None) -> bool:
    if not (model_file and os.path.exists(model_file)):
        return False
    try:
        files = [Path(f"{model_file}{ending}.trainstats").read_bytes() for ending in ("", ".checkpoint")]
        model, checkpoint = (json.loads(file)["train_steps"] for file in files)
    except (OSError, ValueError, KeyError):  # one is missing or broken; ParlAI reads that of the checkpoint
        return False
    return bool(model > checkpoint)


def draw_other_examples(train_model: Any) -> None:
    """Let a resumed training with ``--seed`` draw other examples than at its beginning: ParlAI draws the same again, so
    that a training which is often stopped never sees some examples.
    """
    train_steps = train_model.TrainLoop.train_steps

    def seeded_train_steps(self: Any) -> Any:
        if self._train_steps and self.opt.get("seed") is not None:
            random.seed(f"{self.opt['seed']} {self._train_steps} {train_model.get_rank()}")
        return train_steps(self)

    train_model.TrainLoop.train_steps = seeded_train_steps
