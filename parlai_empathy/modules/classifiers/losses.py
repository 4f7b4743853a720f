"""Losses for training judges."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def soft_cross_entropy(logits: Tensor, shares: Tensor) -> Tensor:
    """Cross-entropy against a distribution over the classes. Both ``(n, classes)``; returns ``(n,)``."""
    return -(shares * logits.log_softmax(dim=1)).sum(dim=1)


def squared_error(logits: Tensor, values: Tensor, span: float) -> Tensor:
    """Squared error of a rating, in squared steps of its scale.

    The sigmoid of a logit is the rating's position between the ends of the scale. So a model that was pretrained to
    tell true replies from others starts with ratings near the right ends.

    :param logits: ``(n,)``
    :param values: ``(n,)``, the true positions, 0..1.
    :param span: the length of the scale: 4 for 1..5.
    :returns: ``(n,)``
    """
    return ((logits.sigmoid() - values) * span) ** 2


def nnpu_risk(logits: Tensor, is_positive: Tensor, prior: float) -> Tensor:
    """The non-negative risk for learning from positive and unlabelled examples (Kiryo et al. 2017, equation 6).

    A share ``prior`` of the unlabelled examples is positive. With the sigmoid loss ``l(z) = sigmoid(-z)``::

        prior * mean_P l(z)  +  max(0, mean_U l(-z) - prior * mean_P l(-z))

    When the second term falls below 0, the model starts to overfit; then, as in the paper's algorithm 1 (with its beta
    of 0 and gamma of 1), a step is taken against that term alone.

    :param logits: ``(n,)``
    :param is_positive: ``(n,)`` booleans; False is unlabelled.
    :param prior: the share of positives among the unlabelled, between 0 and 1.
    :returns: a scalar; its value is the risk, its gradient that of the algorithm. If all examples are positive, it is
        ``prior * mean_P l(z)``; if all are unlabelled, ``mean_U l(-z)``.
    """
    positive, unlabelled = logits[is_positive], logits[~is_positive]
    if not len(unlabelled):  # the second term would be negative, and its step would lead away from the positives
        return prior * torch.sigmoid(-positive).mean()
    if not len(positive):
        return torch.sigmoid(unlabelled).mean()
    positive_part = prior * torch.sigmoid(-positive).mean()
    negative_part = torch.sigmoid(unlabelled).mean() - prior * torch.sigmoid(positive).mean()
    if negative_part < 0:
        return positive_part.detach() - negative_part + negative_part.detach()
    return positive_part + negative_part


def binary_cross_entropy(logits: Tensor, is_positive: Tensor) -> Tensor:
    """Logistic loss of each example. Both ``(n,)``; returns ``(n,)``."""
    return F.binary_cross_entropy_with_logits(logits, is_positive.to(logits.dtype), reduction="none")
