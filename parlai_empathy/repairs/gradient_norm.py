"""ParlAI computes the norm of the gradients, a metric, weight by weight, and waits for a GPU after each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def compute_norm_at_once(torch_agent: Any) -> None:
    """Compute it for all weights together, which takes a millisecond instead of five."""

    def compute_grad_norm(parameters: Iterable[Any], norm_type: float = 2.0) -> float:
        from torch.nn.utils import get_total_norm

        weights = [parameters] if hasattr(parameters, "grad") else parameters
        gradients = [one.grad for one in weights if one is not None and one.grad is not None]
        dense = [grad.coalesce().values() if grad.is_sparse else grad for grad in gradients]
        return float(get_total_norm(dense, norm_type))

    torch_agent.compute_grad_norm = compute_grad_norm
