"""Optimisers that go over the weights once for each step, in place of once for each of its operations."""

from __future__ import annotations

from typing import Any

from parlai.core.torch_agent import TorchAgent

_HAVE_ONE = ("adam", "adamw")


class FusedOptimizer(TorchAgent):
    """Put before an agent's other bases: Adam and AdamW then take a step in one pass, on a CPU far faster."""

    def init_optim(self, *args: Any, **kwargs: Any) -> bool:
        """ParlAI's. What it computes stays the same."""
        was_reset: bool = super().init_optim(*args, **kwargs)
        if self.opt["optimizer"] in _HAVE_ONE:
            for group in self.optimizer.param_groups:
                group["fused"] = True
        return was_reset
