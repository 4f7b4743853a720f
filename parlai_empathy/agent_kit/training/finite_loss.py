"""Stops training when the loss is no longer finite, before the weights are corrupted and saved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai.core.torch_agent import TorchAgent
from torch import Tensor

from parlai_empathy.errors import TrainingError


class FiniteLoss(TorchAgent):
    """Mixin that checks each loss before its gradients are used. List it before the agent's other bases."""

    def backward(self, loss: Tensor, **kwargs: Any) -> None:
        """Run ParlAI's backward pass; then check the loss, since until a check a GPU works on its own.

        :raises TrainingError: if the loss is NaN or infinite.
        """
        super().backward(loss, **kwargs)
        if not bool(loss.isfinite().all()):
            raise TrainingError(_error(float(loss.detach().sum()), self.opt, self._number_training_updates))


def _error(loss: float, opt: Mapping[str, Any], updates: int) -> str:
    path = opt.get("model_file")
    kept = f"; {path} is as last saved, and the same command resumes from it" if path and _is_saved(path) else ""
    return (
        f"the loss is {loss} after {updates:,} updates: "
        f"try a lower --learningrate (now {opt.get('learningrate'):g}) or --gradient-clip 1{kept}"
    )


def _is_saved(path: str) -> bool:
    return any(Path(path + ending).is_file() for ending in (".checkpoint", ""))
