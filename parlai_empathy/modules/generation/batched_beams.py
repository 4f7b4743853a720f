"""Beam search and diverse beam search over a whole batch at once, with the same replies as one search per example.

ParlAI runs a separate search for each example, and each search loops over its hypotheses token by token. Here all
examples advance together. A step needs only a few of the scores: a group avoids only tokens that earlier groups chose,
and these are fewer than the beam size. So with a beam of size n, the n best tokens of each hypothesis contain every
token that any group can choose (:func:`~parlai_empathy.modules.generation.top_k.top_k_tokens`).

Ties are broken in favour of the lower hypothesis number, then the lower token id. ParlAI leaves them to ``torch.topk``,
which may break them in another way: only then can the replies differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from parlai.utils.torch import neginf
from torch import Tensor

from parlai_empathy.modules.generation.top_k import top_k_tokens

Finished = tuple[Tensor, Tensor, None]
"""Token ids from the start to the end token, ``(length,)``; normalised log-probability; None for token details."""


@dataclass(frozen=True)
class Beams:
    """Search settings; see :class:`~parlai_empathy.modules.generation.diverse_beam.DiverseBeamSearch`.

    :param size: number of hypotheses in all groups.
    :param groups: must divide the size. One group without a strength is plain beam search; with size 1, greedy search.
    :param strength: the cost of a token, in nats, for each time that an earlier group chose it in the same step.
    :param block_ngram: no n-gram of this length occurs twice in a reply; below 1: no blocking.
    :param context_block_ngram: no n-gram of this length is copied from the context; below 1: no blocking.
    """

    start: int
    end: int
    size: int = 1
    groups: int = 1
    strength: float = 0.0
    min_length: int = 0
    length_penalty: float = 0.65
    block_ngram: int = -1
    context_block_ngram: int = -1


class _Chosen(NamedTuple):
    """The continuations chosen in a step; each field is ``(examples, n)``."""

    hypotheses: Tensor
    """The hypotheses that they continue."""
    tokens: Tensor
    scores: Tensor


class FinishedBeams:
    """The finished hypotheses of one example, with the interface that ParlAI expects of a search."""

    def __init__(self, length_penalty: float) -> None:
        self._length_penalty = length_penalty
        self._found: list[Finished] = []

    def add(self, tokens: Tensor, logprob: Tensor) -> None:
        """Add a finished hypothesis, its score normalised by length as in ParlAI (Wu et al. 2016, section 7)."""
        penalty = math.pow((1 + len(tokens)) / 6, self._length_penalty)
        self._found.append((tokens, logprob / penalty, None))

    def __len__(self) -> int:
        return len(self._found)

    def get_rescored_finished(self, n_best: int | None = None) -> list[Finished]:
        """Return the ``n_best`` finished hypotheses (default: all), best first."""
        return sorted(self._found, key=lambda found: float(found[1]), reverse=True)[:n_best]


class BatchedBeams:
    """The hypotheses of a whole batch.

    Each hypothesis has a slot, ``example * size + hypothesis``; the slots of a group are adjacent.

    :param count: number of examples.
    :param contexts: token ids ``(count, length)``, for ``context_block_ngram``.
    """

    def __init__(self, count: int, how: Beams, device: torch.device, contexts: Tensor | None = None) -> None:
        self.how = how
        self.tokens = torch.full((count, how.size, 1), how.start, device=device)
        """``(examples, size, time)``: all hypotheses so far, start token included."""
        self.finished = [FinishedBeams(how.length_penalty) for _ in range(count)]
        """The finished hypotheses of each example."""
        self._contexts = contexts
        self._scores = torch.zeros(count, how.size, device=device)  # log-probabilities
        self._best_ended = torch.zeros(count, how.groups, dtype=torch.bool, device=device)
        self._ended = torch.zeros(count, how.groups, dtype=torch.long, device=device)

    @property
    def _is_over(self) -> Tensor:
        """Whether each group is finished, ``(examples, groups)``, by ParlAI's criterion for a beam."""
        return self._best_ended & (self._ended >= self.how.size // self.how.groups)

    @property
    def _is_first(self) -> bool:
        return self.tokens.size(2) == 1

    def is_alive(self) -> Tensor:
        """Whether each slot belongs to an unfinished group, ``(examples * size,)``.

        In the first step all hypotheses of an example are the same, and only its first slot is active.
        """
        if self._is_first:
            hypotheses = torch.arange(self.tokens.size(0) * self.how.size, device=self.tokens.device) % self.how.size
            return hypotheses == 0
        return ~self._is_over.repeat_interleave(self.how.size // self.how.groups, dim=1).view(-1)

    def advance(self, logprobs: Tensor, slots: Tensor) -> Tensor:
        """Advance all examples by one step.

        :param logprobs: ``(slots, vocabulary)``, changed in place.
        :param slots: the active slots, in ascending order.
        :returns: the slot that each slot now continues, ``(examples * size,)``.
        """
        self._forbid(logprobs, slots)
        values, ids = top_k_tokens(logprobs, self.how.size)
        if self._is_first:
            values, ids = (part.unsqueeze(1).expand(-1, self.how.size, -1) for part in (values, ids))
        else:
            values, ids = (self._in_slots(part, slots) for part in (values, ids))
        chosen = self._choose(values, ids)
        examples = torch.arange(len(ids), device=ids.device).unsqueeze(1)
        so_far = self.tokens[examples, chosen.hypotheses]
        self.tokens = torch.cat([so_far, chosen.tokens.unsqueeze(2)], dim=2)
        self._scores = chosen.scores
        self._record_ends(chosen.tokens, chosen.scores)
        return (examples * self.how.size + chosen.hypotheses).view(-1)

    def _in_slots(self, part: Tensor, slots: Tensor) -> Tensor:
        """Scatter the rows of the active slots to all slots: ``(examples, size, n)``."""
        count = self.tokens.size(0) * self.how.size
        if len(slots) == count:
            return part.view(-1, self.how.size, part.size(1))
        wide = part.new_zeros(count, part.size(1))
        wide[slots] = part
        return wide.view(-1, self.how.size, part.size(1))

    def _choose(self, values: Tensor, ids: Tensor) -> _Chosen:
        """Choose continuations group by group.

        :param values: ``(examples, size, n)``, log-probabilities of each hypothesis' best tokens.
        :param ids: the ids of these tokens, in ascending order.
        """
        dead = self.tokens[:, :, -1] == self.how.end
        prior = self._scores.masked_fill(dead, neginf(self._scores.dtype))
        size = self.how.size // self.how.groups
        said = ids.new_empty(len(ids), 0)  # by earlier groups
        parts: list[_Chosen] = []
        for group, over in enumerate(self._is_over.chunk(self.how.groups, dim=1)):
            first = group * size
            rows = slice(first, first + (1 if self._is_first else size))
            chosen = self._chosen_in_group(values[:, rows], ids[:, rows], prior[:, rows], said)
            said = torch.cat([said, chosen.tokens.masked_fill(over, -1)], dim=1)
            own = torch.arange(size, device=ids.device)
            parts.append(
                _Chosen(
                    torch.where(over, own, chosen.hypotheses) + (0 if self._is_first else first),
                    chosen.tokens.masked_fill(over, self.how.end),
                    chosen.scores.masked_fill(over, neginf(values.dtype)),
                )
            )
        return _Chosen(*(torch.cat(kind, dim=1) for kind in zip(*parts, strict=True)))

    def _chosen_in_group(self, values: Tensor, ids: Tensor, prior: Tensor, said: Tensor) -> _Chosen:
        """Choose with the costs of tokens that earlier groups chose; score without the costs."""
        cost = self.how.strength * _count(said, ids) if self.how.strength and said.size(1) else 0.0
        totals = (values - cost + prior.unsqueeze(2)).flatten(1)
        # A stable sort breaks ties by hypothesis number, then by token id.
        best = totals.sort(dim=1, descending=True, stable=True).indices[:, : self.how.size // self.how.groups]
        hypotheses = best // ids.size(2)
        scores = prior.gather(1, hypotheses) + values.flatten(1).gather(1, best)
        return _Chosen(hypotheses, ids.flatten(1).gather(1, best), scores)

    def _record_ends(self, tokens: Tensor, scores: Tensor) -> None:
        ends = (tokens == self.how.end) & (scores > neginf(scores.dtype))
        for example, hypothesis in ends.nonzero().tolist():
            self.finished[example].add(self.tokens[example, hypothesis], scores[example, hypothesis])
        groups = (len(tokens), self.how.groups, -1)
        self._ended = self._ended + ends.view(groups).sum(dim=2)
        self._best_ended = self._best_ended | (tokens == self.how.end).view(groups)[:, :, 0]

    def end(self) -> None:
        """End the best hypothesis of each example that has no finished one: the length limit is reached."""
        for example, found in enumerate(self.finished):
            if not len(found):
                tokens = self.tokens[example, 0].clone()
                tokens[-1] = self.how.end
                found.add(tokens, self._scores[example, 0])

    # --- blocked tokens ----------------------------------------------------------------------------------------------

    def _forbid(self, logprobs: Tensor, slots: Tensor) -> None:
        """Set the log-probabilities of tokens that the options forbid close to minus infinity, in place."""
        if self.tokens.size(2) - 1 < self.how.min_length:
            logprobs[:, self.how.end] = neginf(logprobs.dtype)
        so_far = self.tokens.flatten(0, 1)[slots]
        if self.how.block_ngram > 0:
            _block(logprobs, so_far, so_far, self.how.block_ngram)
        if self.how.context_block_ngram > 0 and self._contexts is not None:
            _block(logprobs, so_far, self._contexts[slots // self.how.size], self.how.context_block_ngram)


def _count(said: Tensor, ids: Tensor) -> Tensor:
    """Count how often ``said``, ``(examples, n)``, contains each of ``ids``, ``(examples, hypotheses, tokens)``."""
    return (ids.unsqueeze(3) == said[:, None, None, :]).sum(dim=3)


def _block(logprobs: Tensor, so_far: Tensor, source: Tensor, n: int) -> None:
    """Block each token that would complete an n-gram of length ``n`` that occurs in the source.

    :param logprobs: ``(rows, vocabulary)``, changed in place.
    :param so_far: ``(rows, time)``, the reply so far.
    :param source: ``(rows, length)``
    """
    if source.size(1) < n or so_far.size(1) < n - 1:
        return
    runs = source.unfold(1, n, 1)  # (rows, places, n)
    begun = so_far[:, so_far.size(1) - (n - 1) :].unsqueeze(1)
    rows, places = (runs[:, :, :-1] == begun).all(dim=2).nonzero(as_tuple=True)
    logprobs[rows, runs[rows, places, -1]] = neginf(logprobs.dtype)


def best_of(beams: Iterable[FinishedBeams]) -> list[Finished]:
    """Return the best hypothesis of each example."""
    return [found.get_rescored_finished(1)[0] for found in beams]
