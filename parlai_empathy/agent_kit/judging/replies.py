"""What a judge of replies chooses among: replies to one context, some of them true."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from parlai.utils.misc import warn_once
from torch import Tensor

from parlai_empathy.agent_kit.judging.examples import TextPair, labels_of
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.losses import binary_cross_entropy, nnpu_risk


@dataclass(frozen=True)
class Choice:
    """Different replies to one context, and of each whether it is true; others are wrong, or not known to be true."""

    turns: tuple[str, ...]
    replies: tuple[str, ...]
    is_true: tuple[bool, ...]

    @property
    def pairs(self) -> list[TextPair]:
        """Each reply in its context."""
        return [TextPair(self.turns, reply) for reply in self.replies]


def drawn_choices(messages: Sequence[Mapping[str, Any]], negatives: int, draw: random.Random) -> list[Choice]:
    """For each message its true reply, one of several by chance, and up to ``negatives`` others.

    The others are the message's own candidates first, then true replies of the other messages.

    :param messages: with the context's turns under ``lines``.
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
    """For each message all its candidates; where it has none, the true replies of all messages.

    :param messages: with the context's turns under ``lines``.
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
    return [true[0], *_without(true, [text for other in messages for text in labels_of(other)[:1]])]


def _without(left_out: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The other texts, each once."""
    unwanted = set(left_out)
    return list(dict.fromkeys(text for text in texts if text not in unwanted))


def _choice(message: Mapping[str, Any], replies: Sequence[str]) -> Choice:
    true = labels_of(message)
    return Choice(tuple(message["lines"]), tuple(replies), tuple(reply in true for reply in replies))


def reply_losses(logits: Tensor, choices: Sequence[Choice], loss: str, prior: float) -> Tensor:
    """Each choice's loss, ``(n,)``.

    :param logits: of the replies of one choice after another, ``(replies,)``.
    :param loss: ``ce``, the logistic loss of a choice's replies: true ones and others weigh half each, so that the
        probabilities do not sink with the number of others. Or ``nnpu``, the same risk for all choices, for which the
        replies that are not known to be true are unlabelled.
    :param prior: for ``nnpu``: how many of the unlabelled would do as well, 0..1.
    """
    is_true = torch.tensor([truth for choice in choices for truth in choice.is_true], device=logits.device)
    if loss == "nnpu":
        return nnpu_risk(logits, is_true, prior).expand(len(choices))
    losses = _by_choice(binary_cross_entropy(logits, is_true), choices)
    return torch.stack(
        [_balanced(part, truth) for part, truth in zip(losses, _by_choice(is_true, choices), strict=True)]
    )


def _balanced(losses: Tensor, is_true: Tensor) -> Tensor:
    """The mean of the means of true replies and of others; of the one kind if there is no other."""
    kinds = [losses[kind] for kind in (is_true, ~is_true)]
    return torch.stack([kind.mean() for kind in kinds if len(kind)]).mean()


def best_first(logits: Tensor, choices: Sequence[Choice]) -> list[list[str]]:
    """Each choice's replies, the most probable one first."""
    return [
        [choice.replies[place] for place in part.argsort(descending=True, stable=True).tolist()]
        for part, choice in zip(_by_choice(logits, choices), choices, strict=True)
    ]


def _by_choice(numbers: Tensor, choices: Sequence[Choice]) -> Sequence[Tensor]:
    """The numbers of each choice's replies."""
    return torch.split(numbers, [len(choice.replies) for choice in choices])
