"""A hash of weights, which changes when any of them does."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import torch
from torch import Tensor, nn


def weights_fingerprint(model: nn.Module) -> str:
    """Return a hexadecimal hash of all parameters and buffers."""
    return state_fingerprint(model.state_dict())


def state_fingerprint(state: Mapping[str, Tensor]) -> str:
    """Return a hexadecimal hash of tensors and their names."""
    digest = hashlib.sha256()
    for name, values in sorted(state.items()):
        digest.update(name.encode())
        digest.update(values.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:16]
