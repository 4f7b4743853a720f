"""Word vectors of many parts of a batch, looked up at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn


@contextmanager
def looked_up_at_once(embedding: nn.Module, parts: Sequence[Tensor]) -> Iterator[None]:
    """Within, an embedding gives for each part, in their order, what a single look-up of all of them has found.

    The gradient of every look-up is as large as the vocabulary: it is filled with zeros, and added to the others. For a
    batch of 512 in 64 parts, and 250,000 words, that took more than half of a retriever's training.

    Where nothing is learnt, or there is one part, each is looked up by itself. So is whatever else is asked for: some
    encoders fill up the texts that they are given.

    :param embedding: gives vectors for token ids, ``(...)`` to ``(..., dim)``.
    :param parts: the token ids, as they are about to be looked up.
    """
    if len(parts) == 1 or not torch.is_grad_enabled() or not any(w.requires_grad for w in embedding.parameters()):
        yield
        return
    found = embedding(torch.cat([part.flatten() for part in parts])).split([part.numel() for part in parts])
    waiting = deque(zip(parts, found, strict=True))

    def give(_: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> Tensor | None:
        if not (waiting and inputs and torch.equal(inputs[0], waiting[0][0])):
            return None  # the output stays
        vectors: Tensor = waiting.popleft()[1].view_as(output)
        return vectors

    hook = embedding.register_forward_hook(give)
    try:
        yield
    finally:
        hook.remove()
