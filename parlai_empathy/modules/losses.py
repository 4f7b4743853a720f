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
    (with its beta of 0 and gamma of 1), a step is taken against that term alone.

    :param logits: ``(n,)``
    :param is_positive: ``(n,)``, of truth values: False is unlabelled.
    :param prior: the share of positives among the unlabelled, between 0 and 1.
    :returns: a scalar; its value is the risk, its gradient that of the algorithm. Where there are positives alone, or
        unlabelled alone, it is the one mean that there is.
    """
    positive, unlabelled = logits[is_positive], logits[~is_positive]
    if not len(unlabelled):  # the second term would be below 0, and its step away from the positives
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
