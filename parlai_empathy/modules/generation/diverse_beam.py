"""Diverse beam search (Vijayakumar et al. 2018, algorithm 1) with Hamming diversity, as a ParlAI tree search.

The beam is split into groups. At each step the groups are searched one after another, and for each group a token costs
the strength times the number of times that earlier groups chose it in the same step. This makes the groups diverge.

The cost only affects which tokens are chosen. A hypothesis' score remains its log-probability, by which the hypotheses
of all groups are compared at the end, normalised by length as in ParlAI's other searches.
"""

from __future__ import annotations

from typing import Any

import torch
from parlai.core.torch_generator_agent import BeamSearch, TreeSearch, _PathSelection
from parlai.utils.torch import neginf
from torch import Tensor


class DiverseBeamSearch(TreeSearch):
    """Beam search in groups that avoid one another's tokens.

    A group searches as a beam of its size would, with the costs subtracted. It finishes independently of the others:
    when its best hypothesis has ended and the number of its finished hypotheses has reached its size. A single group is
    ParlAI's beam search.

    :param beam_size: number of hypotheses in all groups.
    :param groups: must divide the beam size.
    :param strength: the cost of a token, in nats, for each time that an earlier group chose it; at least 0.
    """

    def __init__(self, beam_size: int, *, groups: int, strength: float, **options: Any) -> None:
        super().__init__(beam_size, **options)
        self.strength = strength
        self.group_size = beam_size // groups
        self._beams = [BeamSearch(self.group_size, **{**options, "verbose": False}) for _ in range(groups)]
        self._eos_top = [False] * groups
        self._counted = 0  # finished hypotheses counted so far
        self._finished = [0] * groups

    def select_paths(self, logprobs: Tensor, prior_scores: Tensor, current_length: int) -> _PathSelection:
        """Choose the next tokens, group by group.

        :param logprobs: ``(beam, vocabulary)``
        :param prior_scores: ``(beam,)``, or ``(1,)`` in the first step, when all hypotheses are the same.
        """
        costs = torch.zeros_like(logprobs[0])
        selections = []
        for group, beam in enumerate(self._beams):
            rows = slice(group * self.group_size, (group + 1) * self.group_size)
            if self._is_over(group):
                selections.append(self._nothing(rows, logprobs))
                continue
            prior = prior_scores if prior_scores.numel() == 1 else prior_scores[rows]
            chosen = beam.select_paths(logprobs[rows] - costs, prior, current_length)
            # Tokens are chosen with their costs, but scored and described without them.
            chosen.scores = prior[chosen.hypothesis_ids] + logprobs[rows][chosen.hypothesis_ids, chosen.token_ids]
            if self.verbose:
                chosen.token_details = _details(logprobs[rows][chosen.hypothesis_ids], chosen.token_ids)
            costs.index_add_(0, chosen.token_ids, torch.full_like(chosen.scores, self.strength))
            chosen.hypothesis_ids = chosen.hypothesis_ids + rows.start
            selections.append(chosen)
        return _PathSelection(
            torch.cat([selection.hypothesis_ids for selection in selections]),
            torch.cat([selection.token_ids for selection in selections]),
            torch.cat([selection.scores for selection in selections]),
            [detail for selection in selections for detail in selection.token_details] if self.verbose else None,
        )

    def _nothing(self, rows: slice, logprobs: Tensor) -> _PathSelection:
        """Return placeholders for a finished group: hypotheses with scores close to minus infinity."""
        hypotheses = torch.arange(rows.start, rows.stop, device=logprobs.device)
        scores = torch.full((self.group_size,), neginf(logprobs.dtype), dtype=logprobs.dtype, device=logprobs.device)
        details = [{"token_logprob": 0.0, "token_rank": 0} for _ in hypotheses]
        return _PathSelection(hypotheses, torch.full_like(hypotheses, self.eos), scores, details)

    def advance(self, logprobs: Tensor, step: int) -> None:
        """Advance one step, and update which groups are finished."""
        super().advance(logprobs, step)
        for tail in self.finished[self._counted :]:
            self._finished[tail.hypid // self.group_size] += 1
        self._counted = len(self.finished)
        best = self.outputs[-1][:: self.group_size]
        self._eos_top = [before or bool(token == self.eos) for before, token in zip(self._eos_top, best, strict=True)]

    def _is_over(self, group: int) -> bool:
        """Whether a group is finished, by ParlAI's criterion for a whole beam."""
        return self._eos_top[group] and self._finished[group] >= self.group_size

    def is_done(self) -> bool:
        """Whether all groups are finished."""
        return all(map(self._is_over, range(len(self._beams))))


def _details(logprobs: Tensor, tokens: Tensor) -> list[Any]:
    """Describe chosen tokens as ParlAI does: each one's log-probability, and how many tokens are more probable.

    :param logprobs: ``(n, vocabulary)``
    :param tokens: ``(n,)``
    """
    logprobs = logprobs.log_softmax(dim=1)  # some tokens may be forbidden
    own = logprobs.gather(1, tokens.unsqueeze(1))
    ranks = (logprobs > own).sum(dim=1)
    pairs = zip(own.squeeze(1).tolist(), ranks.tolist(), strict=True)
    return [{"token_logprob": logprob, "token_rank": rank} for logprob, rank in pairs]
