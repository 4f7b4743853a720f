"""Training targets of EPITOME's judge, levels and rationales, and their losses."""

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
"""Target of a level or token without a label, ignored by the losses."""


def true_levels(messages: Sequence[Mapping[str, Any]], mechanisms: Sequence[str]) -> Tensor:
    """Return the messages' levels, ``(n, mechanisms)``; :data:`UNKNOWN` if a message has no level of a mechanism.

    :raises DataError: if a message has no level of any mechanism, or an invalid one.
    """
    return torch.tensor([_levels(message, mechanisms) for message in messages])


def _levels(message: Mapping[str, Any], mechanisms: Sequence[str]) -> list[int]:
    levels = message.get("levels") or {}
    if not set(levels) & set(mechanisms):
        raise DataError(
            f"a message has no levels of {', '.join(mechanisms)}: use a --task that has them, such as empathy:epitome"
        )
    for mechanism, level in levels.items():
        if level not in LEVELS:
            raise DataError(f"a message's level of {mechanism} is {level!r}: must be 0, 1 or 2")
    return [levels.get(mechanism, UNKNOWN) for mechanism in mechanisms]


def rationale_targets(
    messages: Sequence[Mapping[str, Any]], mechanisms: Sequence[str], responses: Sequence[Tokens], length: int
) -> Tensor:
    """Return token targets, ``(n, mechanisms, length)``: 1 inside the rationale, 0 outside.

    Special tokens are outside. The target is :data:`UNKNOWN` for padding, for all tokens of a response that shows a
    mechanism but has no rationale, and for mechanisms that a message has no level of.
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
    """Return cross-entropy summed over the mechanisms: ``(n, mechanisms, 3)`` and ``(n, mechanisms)`` to ``(n,)``."""
    losses = F.cross_entropy(logits.flatten(0, 1), levels.flatten(), ignore_index=UNKNOWN, reduction="none")
    return losses.view_as(levels).sum(dim=1)


def rationale_losses(logits: Tensor, marks: Tensor) -> Tensor:
    """Return token cross-entropy summed over the mechanisms; all tokens of a batch weigh equally, as in the original.

    The mean of the result is thus the sum over mechanisms of the mean loss per token in the batch.

    :param logits: ``(n, mechanisms, length, 2)``; ``marks``: ``(n, mechanisms, length)``.
    :returns: ``(n,)``
    """
    totals, tokens = token_losses(logits, marks)
    return (totals / tokens.sum(dim=0).clamp(min=1)).sum(dim=1) * len(marks)


def token_losses(logits: Tensor, marks: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cross-entropy summed over the labelled tokens, and their number; parameters as above.

    :returns: both ``(n, mechanisms)``
    """
    losses = F.cross_entropy(logits.flatten(0, 2), marks.flatten(), ignore_index=UNKNOWN, reduction="none")
    return losses.view_as(marks).sum(dim=2), (marks != UNKNOWN).sum(dim=2)
