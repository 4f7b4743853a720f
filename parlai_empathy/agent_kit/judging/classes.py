"""A judge's classes: the training targets of a message, and the predictions from a model's logits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from parlai_empathy.agent_kit.judging.examples import labels_of
from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.modules.classifiers.losses import soft_cross_entropy, squared_error


@dataclass(frozen=True)
class JudgeClasses:
    """The classes of a judge, and the loss they are learnt with.

    :param names: at least two.
    :param loss: ``ce``, with one logit per class; or ``mse``, with a single logit, whose sigmoid is the position on the
        classes' scale.
    """

    names: tuple[str, ...]
    loss: str

    @cached_property
    def values(self) -> list[float] | None:
        """The classes as numbers; None if any is not a number."""
        return numbers(self.names)

    @property
    def outputs(self) -> int:
        """Number of logits per text."""
        return len(self.names) if self.loss == "ce" else 1

    def scores(self, logits: Tensor) -> Tensor:
        """Return the expected class on the classes' scale: ``(n, outputs)`` to ``(n,)``.

        :raises OptionError: if the classes are not numbers.
        """
        values = self._scale(logits)
        if self.loss == "ce":
            return logits.softmax(dim=1) @ values
        return values.min() + (values.max() - values.min()) * logits[:, 0].sigmoid()

    def probabilities(self, logits: Tensor) -> Tensor:
        """Return the class probabilities: ``(n, outputs)`` to ``(n, classes)``.

        :raises OptionError: if the loss is ``mse``, which gives only a position on the scale.
        """
        if self.loss != "ce":
            raise OptionError(
                f"this judge was trained with --loss {self.loss}: it gives scores, not probabilities; train one with "
                "--loss ce"
            )
        return logits.softmax(dim=1)

    def chosen(self, logits: Tensor) -> list[str]:
        """Return the predicted class of each text: the most probable, or for ``mse`` the one nearest to the score."""
        if self.loss == "ce":
            places = logits.argmax(dim=1)
        else:
            places = (self.scores(logits).unsqueeze(1) - self._scale(logits)).abs().argmin(dim=1)
        return [self.names[place] for place in places.tolist()]

    def in_words(self, logits: Tensor) -> list[str]:
        """Return each predicted class for display, with the score, or its probability if classes are not numbers."""
        beside = logits.softmax(dim=1).amax(dim=1) if self.values is None else self.scores(logits)
        return [f"{name} ({number:.2f})" for name, number in zip(self.chosen(logits), beside.tolist(), strict=True)]

    def losses(self, logits: Tensor, messages: Sequence[Mapping[str, Any]]) -> Tensor:
        """Return each message's loss, ``(n,)``."""
        targets = torch.tensor([shares(message, self.names) for message in messages], device=logits.device)
        if self.loss == "ce":
            return soft_cross_entropy(logits, targets)
        values = self._scale(logits)
        span = float(values.max() - values.min())
        return squared_error(logits[:, 0], (targets @ values - values.min()) / span, span)

    def _scale(self, like: Tensor) -> Tensor:
        """Return the classes as numbers, ``(classes,)``."""
        if self.values is None:
            raise OptionError(f"this judge's classes ({', '.join(self.names)}) are not numbers: it gives no score")
        return torch.tensor(self.values, device=like.device)


def numbers(classes: Sequence[str] | None) -> list[float] | None:
    """Return the classes as numbers; None if there are no classes or any is not a number."""
    try:
        values = [float(name) for name in classes or ()]
    except ValueError:
        return None
    return values if values and all(map(math.isfinite, values)) else None


def shares(message: Mapping[str, Any], classes: Sequence[str]) -> list[float]:
    """Return the target distribution of a message over the classes; it sums to 1.

    If the message has ``ratings``, they are weighted equally. If it has only their mean (``rating_mean``), the mass is
    split between the two nearest classes. Otherwise its labels are weighted equally: most messages have one label; a
    text with two emotions has two.

    :raises DataError: if a label or rating is not one of the classes, or the mean lies outside their range.
    """
    values = numbers(classes)
    if values and message.get("ratings"):
        return _of_ratings(message["ratings"], values)
    if values and message.get("rating_mean") is not None:
        return _of_mean(message["rating_mean"], values)
    labels = labels_of(message)
    if strange := [label for label in labels if label not in classes]:
        raise DataError(f"the label {strange[0]!r} is not one of this judge's classes ({', '.join(classes)}): {_CHECK}")
    return [labels.count(name) / len(labels) for name in classes]


def _of_ratings(ratings: Sequence[float], values: Sequence[float]) -> list[float]:
    if strange := [rating for rating in ratings if rating not in values]:
        raise DataError(f"the rating {strange[0]:g} is not one of this judge's classes ({_listed(values)}): {_CHECK}")
    return [list(ratings).count(value) / len(ratings) for value in values]


def _of_mean(mean: float, values: Sequence[float]) -> list[float]:
    """Return the distribution over the two values nearest to ``mean`` whose expectation is ``mean``."""
    if not min(values) <= mean <= max(values):
        raise DataError(f"the mean rating {mean:g} lies outside this judge's classes ({_listed(values)}): {_CHECK}")
    below = max(value for value in values if value <= mean)
    above = min(value for value in values if value >= mean)
    part = 0.0 if below == above else (mean - below) / (above - below)
    return [(value == below) * (1 - part) + (value == above) * part for value in values]


_CHECK = "check --task and --classes"


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
