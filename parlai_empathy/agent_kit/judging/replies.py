"""The candidates of a judge of replies: replies to one context, some of them true."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from parlai.core.metrics import AverageMetric, Metric
from parlai.utils.misc import warn_once
from torch import Tensor

from parlai_empathy.agent_kit.judging.examples import TextPair, labels_of
from parlai_empathy.errors import OptionError
from parlai_empathy.metrics.nnpu_risk import NnpuRisk
from parlai_empathy.modules.classifiers.losses import binary_cross_entropy, nnpu_risk


@dataclass(frozen=True)
class Choice:
    """Distinct replies to one context, and whether each is true; the others are wrong, or not known to be true."""

    turns: tuple[str, ...]
    replies: tuple[str, ...]
    is_true: tuple[bool, ...]

    @property
    def pairs(self) -> list[TextPair]:
        """Each reply paired with its context."""
        return [TextPair(self.turns, reply) for reply in self.replies]


def sampled_choices(messages: Sequence[Mapping[str, Any]], negatives: int, draw: random.Random) -> list[Choice]:
    """For each message, return one of its true replies at random and up to ``negatives`` others.

    The others are the message's own candidates first, then true replies of the other messages.

    :param messages: messages with the context's turns in ``lines``.
    """
    true = [draw.choice(labels_of(message)) for message in messages]
    choices = []
    for message, reply in zip(messages, true, strict=True):
        own = _without(labels_of(message), message.get("label_candidates") or ())
        others = _without([*labels_of(message), *own], true)
        own = draw.sample(own, min(len(own), negatives))
        others = draw.sample(others, min(len(others), negatives - len(own)))
        choices.append(_choice(message, [reply, *own, *others]))
    return choices


def full_choices(messages: Sequence[Mapping[str, Any]]) -> list[Choice]:
    """For each message, return all its candidates; if it has none, the true replies of all messages.

    :param messages: messages with the context's turns in ``lines``.
    :raises OptionError: if a message has neither candidates nor a true reply.
    """
    choices = []
    for message in messages:
        candidates = list(message.get("label_candidates") or ())
        if not candidates:
            candidates = _replies_of_all(message, messages)
        choices.append(_choice(message, list(dict.fromkeys(candidates))))
    return choices


def _replies_of_all(message: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> list[str]:
    true = labels_of(message)
    if not true:
        raise OptionError("there is nothing to choose from: this judge of replies needs a task with candidates")
    warn_once(
        "the task gives no candidates: replies are chosen among those of the same batch, so hits@1 and loss depend on "
        "--batchsize"
    )
    # In the batch's order: if the true reply always came first, a judge that cannot tell them apart would choose it.
    replies = [text for other in messages for text in labels_of(other)[:1]]
    return [text for text in replies if text == true[0] or text not in true]


def _without(left_out: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return the remaining texts, each once."""
    unwanted = set(left_out)
    return list(dict.fromkeys(text for text in texts if text not in unwanted))


def _choice(message: Mapping[str, Any], replies: Sequence[str]) -> Choice:
    true = labels_of(message)
    return Choice(tuple(message["lines"]), tuple(replies), tuple(reply in true for reply in replies))


def reply_losses(logits: Tensor, choices: Sequence[Choice], loss: str, prior: float) -> Tensor:
    """Return each choice's loss, ``(n,)``.

    :param logits: of all choices' replies, concatenated, ``(replies,)``.
    :param loss: ``ce``, the logistic loss of a choice's replies: the true ones and the others weigh half each, so that
        the probabilities do not shrink as the number of others grows. Or ``nnpu``, one risk shared by all choices,
        which treats replies not known to be true as unlabelled.
    :param prior: for ``nnpu``: the share of unlabelled replies that are positive, 0..1.
    """
    is_true = torch.tensor([truth for choice in choices for truth in choice.is_true], device=logits.device)
    if loss == "nnpu":
        return nnpu_risk(logits, is_true, prior).expand(len(choices))
    losses = _by_choice(binary_cross_entropy(logits, is_true), choices)
    return torch.stack(
        [_balanced(part, truth) for part, truth in zip(losses, _by_choice(is_true, choices), strict=True)]
    )


def loss_metrics(logits: Tensor, choices: Sequence[Choice], loss: str, prior: float) -> Sequence[Metric]:
    """Return each choice's contribution to the loss of a fold; parameters as for :func:`reply_losses`."""
    if loss != "nnpu":
        return [AverageMetric(value) for value in reply_losses(logits, choices, loss, prior).tolist()]
    found = []
    for probable, choice in zip(_by_choice(logits.double().sigmoid(), choices), choices, strict=True):
        is_true = torch.tensor(choice.is_true, dtype=torch.bool)
        found.append(NnpuRisk(probable[is_true].tolist(), probable[~is_true].tolist(), prior))
    return found


def _balanced(losses: Tensor, is_true: Tensor) -> Tensor:
    """Average the mean loss of the true replies and that of the others; if there is only one kind, return its mean."""
    kinds = [losses[kind] for kind in (is_true, ~is_true)]
    return torch.stack([kind.mean() for kind in kinds if len(kind)]).mean()


def best_first(logits: Tensor, choices: Sequence[Choice]) -> list[list[str]]:
    """Return each choice's replies, most probable first."""
    return [
        [choice.replies[place] for place in part.argsort(descending=True, stable=True).tolist()]
        for part, choice in zip(_by_choice(logits, choices), choices, strict=True)
    ]


def _by_choice(numbers: Tensor, choices: Sequence[Choice]) -> Sequence[Tensor]:
    """Split the numbers by choice."""
    return torch.split(numbers, [len(choice.replies) for choice in choices])
