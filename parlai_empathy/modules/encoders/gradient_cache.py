"""Training on batches whose activations would not fit into memory (Gao et al. 2021, "gradient caching").

A contrastive loss needs the vectors of a whole batch, but not the activations that led to them. So texts are encoded in
chunks without keeping activations; the loss gives the gradient of each vector; then the chunks are encoded again, and
each backpropagates its gradient. The resulting gradients are those of one large batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch import Tensor, nn


def average_gradients(model: nn.Module) -> None:
    """Average the gradient of each weight over all processes.

    ``DistributedDataParallel`` does this only for a single forward pass through its wrapper.
    """
    for weights in model.parameters():
        if weights.requires_grad:
            if weights.grad is None:
                weights.grad = torch.zeros_like(weights)
            dist.all_reduce(weights.grad)
            weights.grad /= dist.get_world_size()


class CachedEncoding:
    """The vectors of a batch, which can backpropagate gradients although no activations are kept.

    :param encode: maps ``(n, length)`` token ids to ``(n, dim)``; dropout draws the same numbers in both passes.
    :param tokens: ``(batch, length)``
    :param chunk: number of texts to encode at a time.
    """

    def __init__(self, encode: Callable[[Tensor], Tensor], tokens: Tensor, chunk: int) -> None:
        self._encode = encode
        self._chunks = torch.split(tokens, chunk)
        self._draws: list[_Draws] = []
        with torch.no_grad():
            vectors = torch.cat([self._first(tokens) for tokens in self._chunks])
        self.vectors = vectors.requires_grad_()
        """``(batch, dim)``: the input of the loss."""

    def _first(self, tokens: Tensor) -> Tensor:
        self._draws.append(_Draws(tokens.device))
        return self._encode(tokens)

    def backward(self) -> None:
        """Backpropagate the vectors' gradient to the encoder's weights."""
        assert self.vectors.grad is not None
        gradients = torch.split(self.vectors.grad, [len(tokens) for tokens in self._chunks])
        for tokens, gradient, draws in zip(self._chunks, gradients, self._draws, strict=True):
            with draws.again():
                vectors = self._encode(tokens)
            torch.autograd.backward(vectors, gradient)


class _Draws:
    """The states of the random number generators, so that the same numbers can be drawn again."""

    def __init__(self, device: torch.device) -> None:
        self._devices = [device] if device.type == "cuda" else []
        self._cpu = torch.get_rng_state()
        self._gpu = [torch.cuda.get_rng_state(device) for device in self._devices]

    @contextmanager
    def again(self) -> Iterator[None]:
        with torch.random.fork_rng(self._devices):
            torch.set_rng_state(self._cpu)
            for device, state in zip(self._devices, self._gpu, strict=True):
                torch.cuda.set_rng_state(state, device)
            yield
