"""What a judge is trained to make small."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def soft_cross_entropy(logits: Tensor, shares: Tensor) -> Tensor:
    """Cross-entropy against a distribution over the classes. Both ``(n, classes)``; returns ``(n,)``."""
    return -(shares * logits.log_softmax(dim=1)).sum(dim=1)


def squared_error(logits: Tensor, values: Tensor, span: float) -> Tensor:
    """Squared error of a rating, in squared steps of its scale.

    The sigmoid of a logit is the rating's place between the scale's ends. So what was trained to tell true replies from
    others begins with ratings at the ends, where they belong.

    :param logits: ``(n,)``
    :param values: ``(n,)``, the true places, 0..1.
    :param span: the length of the scale: 4 for 1..5.
    :returns: ``(n,)``
    """
    return ((logits.sigmoid() - values) * span) ** 2


def nnpu_risk(logits: Tensor, is_positive: Tensor, prior: float) -> Tensor:
    """The non-negative risk of learning from positive and unlabelled examples (Kiryo et al. 2017, equation 6).

    The unlabelled hold positives too, a share ``prior`` of them. With the sigmoid loss ``l(z) = sigmoid(-z)``::

        prior * mean_P l(z)  +  max(0, mean_U l(-z) - prior * mean_P l(-z))

    Where the second term falls below 0, the model begins to remember its examples; then, as in the paper's algorithm 1
    (with its gamma of 1), a step is taken against that term alone.

    :param logits: ``(n,)``
    :param is_positive: ``(n,)``, of truth values: False is unlabelled.
    :param prior: the share of positives among the unlabelled, between 0 and 1.
    :returns: a scalar; its value is the risk, its gradient that of the algorithm. A side without examples counts 0.
    """
    positive, unlabelled = logits[is_positive], logits[~is_positive]
    as_positive = _mean(torch.sigmoid(-positive), logits)
    negative_part = _mean(torch.sigmoid(unlabelled), logits) - prior * _mean(torch.sigmoid(positive), logits)
    risk = prior * as_positive + negative_part.clamp(min=0)
    if negative_part < 0:
        return risk.detach() - negative_part + negative_part.detach()
    return risk


def _mean(values: Tensor, like: Tensor) -> Tensor:
    return values.mean() if len(values) else (like * 0).sum()


def binary_cross_entropy(logits: Tensor, is_positive: Tensor) -> Tensor:
    """Logistic loss of each example. Both ``(n,)``; returns ``(n,)``."""
    return F.binary_cross_entropy_with_logits(logits, is_positive.to(logits.dtype), reduction="none")
