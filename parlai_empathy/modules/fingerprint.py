"""A digest of weights: it changes when any of them does."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import torch
from torch import Tensor, nn


def weights_fingerprint(model: nn.Module) -> str:
    """A digest of all parameters, in hexadecimal."""
    return state_fingerprint(model.state_dict())


def state_fingerprint(state: Mapping[str, Tensor]) -> str:
    """A digest of tensors and their names, in hexadecimal."""
    digest = hashlib.sha256()
    for name, values in sorted(state.items()):
        digest.update(name.encode())
        digest.update(values.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:16]
