"""What EPITOME's judge learns: true levels and rationales of messages, and how far off it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from parlai_empathy.agents.epitome.tokens import Tokens
from parlai_empathy.errors import DataError
from parlai_empathy.tasks.epitome.mechanisms import LEVELS

UNKNOWN = -100
"""What stands for a level or a token of which nothing is known: it is not learnt from."""


def true_levels(messages: Sequence[Mapping[str, Any]], mechanisms: Sequence[str]) -> Tensor:
    """The messages' levels, ``(n, mechanisms)``; :data:`UNKNOWN` for mechanisms that a message does not speak of.

    :raises DataError: if a message has no level of any of them, or one that does not exist.
    """
    return torch.tensor([_levels(message, mechanisms) for message in messages])


def _levels(message: Mapping[str, Any], mechanisms: Sequence[str]) -> list[int]:
    levels = message.get("levels") or {}
    if not set(levels) & set(mechanisms):
        raise DataError(
            f"a message without levels of {', '.join(mechanisms)}: take a --task that has them, such as empathy:epitome"
        )
    for mechanism, level in levels.items():
        if level not in LEVELS:
            raise DataError(f"a message's level of {mechanism} is {level!r}: must be 0, 1 or 2")
    return [levels.get(mechanism, UNKNOWN) for mechanism in mechanisms]


def true_marks(
    messages: Sequence[Mapping[str, Any]], mechanisms: Sequence[str], responses: Sequence[Tokens], length: int
) -> Tensor:
    """For each token of the responses 1 in the rationale and 0 outside of it, ``(n, mechanisms, length)``.

    Special tokens are outside. :data:`UNKNOWN` are padding, all of a response that shows a mechanism without a
    rationale, and mechanisms that a message does not speak of.
    """
    marks = torch.full((len(messages), len(mechanisms), length), UNKNOWN)
    for row, (message, tokens) in enumerate(zip(messages, responses, strict=True)):
        for column, mechanism in enumerate(mechanisms):
            spans = (message.get("rationales") or {}).get(mechanism)
            level = (message.get("levels") or {}).get(mechanism)
            if spans or (spans is not None and level == 0):
                marks[row, column, : len(tokens.ids)] = torch.tensor(tokens.marks(spans), dtype=torch.long)
    return marks


def level_losses(logits: Tensor, levels: Tensor) -> Tensor:
    """Cross-entropy, added up over the mechanisms: ``(n, mechanisms, 3)`` and ``(n, mechanisms)`` to ``(n,)``."""
    losses = F.cross_entropy(logits.flatten(0, 1), levels.flatten(), ignore_index=UNKNOWN, reduction="none")
    return losses.view_as(levels).sum(dim=1)


def rationale_losses(logits: Tensor, marks: Tensor) -> Tensor:
    """Cross-entropy of a token, added up over the mechanisms: a batch's tokens all count alike, as in the original.

    So the mean of what comes out is, for each mechanism, the mean over the batch's tokens.

    :param logits: ``(n, mechanisms, length, 2)``; ``marks``: ``(n, mechanisms, length)``.
    :returns: ``(n,)``
    """
    losses = F.cross_entropy(logits.flatten(0, 2), marks.flatten(), ignore_index=UNKNOWN, reduction="none")
    tokens = (marks != UNKNOWN).sum(dim=(0, 2)).clamp(min=1)  # (mechanisms,)
    return (losses.view_as(marks).sum(dim=2) / tokens).sum(dim=1) * len(marks)
