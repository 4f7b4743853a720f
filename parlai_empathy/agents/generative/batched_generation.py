"""Batched generation of replies, for searches that do not need ParlAI's own loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from parlai_empathy.agents.generative.options import DIVERSE_BEAM
from parlai_empathy.modules.generation.batched_beams import BatchedBeams, Beams, FinishedBeams
from parlai_empathy.modules.generation.decoding_steps import steps_of

# Finished hypotheses are dropped once they are this share of all, because dropping them copies the others' states.
_WORTH_LEAVING = 1 / 8

_TOGETHER = ("greedy", "beam", DIVERSE_BEAM)


def beams_of(opt: Mapping[str, Any], start: int, end: int) -> Beams | None:
    """Return the settings of the batched search; None for searches that only ParlAI's own loop supports.

    :param start: the dictionary's id of the start token; ``end``: of the end token.
    """
    method = opt["inference"]
    if method not in _TOGETHER:
        return None
    in_groups = method == DIVERSE_BEAM
    return Beams(
        start=start,
        end=end,
        size=1 if method == "greedy" else opt["beam_size"],
        groups=opt["beam_groups"] if in_groups else 1,
        strength=opt["diversity_strength"] if in_groups else 0.0,
        min_length=opt["beam_min_length"],
        length_penalty=opt["beam_length_penalty"],
        block_ngram=opt["beam_block_ngram"],
        context_block_ngram=opt["beam_context_block_ngram"],
    )


def write(
    model: Any, states: Any, beams: BatchedBeams, longest: int, logprobs: Callable[[Tensor], Tensor]
) -> list[FinishedBeams]:
    """Generate the replies of a batch.

    :param model: a generator with ParlAI's interface.
    :param states: its encoder's output for the contexts.
    :param longest: maximum tokens per reply, including the end token.
    :param logprobs: converts scores to log-probabilities, ``(rows, vocabulary)``.
    :returns: the finished beams of each example.
    """
    steps = steps_of(model, states, beams.how.size)
    rows = beams.is_alive().nonzero().squeeze(1)  # slots of the hypotheses in the decoder's batch
    row_of = torch.zeros_like(beams.is_alive(), dtype=torch.long)
    for number in range(longest):
        latent = steps.next(beams.tokens.flatten(0, 1)[rows])
        living = beams.is_alive()[rows].nonzero().squeeze(1)
        if len(living) < len(rows):
            latent = latent[living]
        parents = beams.advance(logprobs(model.output(latent.unsqueeze(1)).squeeze(1)), rows[living])
        left = beams.is_alive().nonzero().squeeze(1)
        if not len(left):
            break
        row_of[rows] = torch.arange(len(rows), device=rows.device)
        if number == 0 or len(rows) - len(left) >= len(rows) * _WORTH_LEAVING:
            rows = left
        steps.follow(row_of[parents[rows]], rows)
    beams.end()
    return beams.finished
