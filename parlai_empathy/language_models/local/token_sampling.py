"""Token sampling of a local model, by OpenAI's rules and independent of the rest of the batch.

Each answer has its own random numbers, determined by the seed and the prompt. One number per token is enough: tokens
are sampled by inverting the cumulative distribution.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor

from parlai_empathy.errors import LanguageModelError
from parlai_empathy.language_models.prompt import Sampling

_GREEDY = 1e-30  # below this temperature the division overflows; long before, only the most probable token is drawn


def random_source(seed: int, tokens: Sequence[int]) -> torch.Generator:
    """Return the random number generator of one answer.

    :param tokens: the prompt's token ids, so that prompts get different numbers with the same seed.
    """
    digest = hashlib.sha256(f"{seed} {list(tokens)}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)


def penalize(scores: Tensor, written: Tensor, sampling: Sampling) -> Tensor:
    """Subtract the penalties from the scores of tokens that occur in the answer so far.

    As in OpenAI's reference: ``score - count x frequency_penalty - (count > 0) x presence_penalty``. Tokens of the
    prompt are not counted.

    :param scores: ``(rows, vocabulary)``
    :param written: ``(rows, time)``, the tokens of the answers so far.
    :returns: ``(rows, vocabulary)``
    """
    if not (sampling.frequency_penalty or sampling.presence_penalty):
        return scores
    times = torch.zeros_like(scores).scatter_add_(1, written, torch.ones_like(written, dtype=scores.dtype))
    return scores - times * sampling.frequency_penalty - (times > 0) * sampling.presence_penalty


def keep_nucleus(scores: Tensor, share: float) -> Tensor:
    """Keep only the most probable tokens whose probabilities add up to ``share``, at least one.

    :param scores: ``(rows, vocabulary)``
    :returns: the same shape; the scores of all other tokens are minus infinity.
    """
    if share >= 1:
        return scores
    ordered, order = scores.sort(dim=1, descending=True)
    probabilities = ordered.softmax(dim=1)
    before = probabilities.cumsum(dim=1) - probabilities
    unwanted = (before >= share).scatter(1, order, before >= share)
    return scores.masked_fill(unwanted, -torch.inf)


def draw(scores: Tensor, numbers: Tensor) -> Tensor:
    """Sample a token for each row.

    :param scores: ``(rows, vocabulary)``; a token with minus infinity is never chosen.
    :param numbers: random numbers in [0, 1), ``(rows,)``.
    :returns: token ids, ``(rows,)``.
    """
    # In float64: float32 would lose the rare tokens of a large vocabulary.
    ends = scores.double().softmax(dim=1).cumsum(dim=1)
    places = numbers.to(ends).unsqueeze(1) * ends[:, -1:]
    return torch.searchsorted(ends, places, right=True).clamp(max=scores.size(1) - 1).squeeze(1)


class TokenSampler:
    """A logits processor that samples, so that Hugging Face's ``generate`` only has to decode greedily.

    :param prompt_width: the number of tokens before the answer, padding included.
    :param sources: random number generators, one per row.
    """

    def __init__(self, sampling: Sampling, prompt_width: int, sources: Sequence[torch.Generator]) -> None:
        self.sampling = sampling
        self.prompt_width = prompt_width
        self.sources = sources

    def __call__(self, tokens: Tensor, scores: Tensor) -> Tensor:
        """Return the scores of the next token, ``(rows, vocabulary)``; after sampling, all but one are minus infinity.

        :raises LanguageModelError: if a score of the model is NaN.
        """
        if scores.isnan().any():
            raise LanguageModelError("the model's logits contain NaN: use --precision float32, or another model")
        scores = penalize(scores.float(), tokens[:, self.prompt_width :], self.sampling)
        if self.sampling.temperature < _GREEDY:
            return scores
        scores = keep_nucleus(scores / self.sampling.temperature, self.sampling.top_p)
        numbers = torch.cat([torch.rand(1, generator=source, dtype=torch.float64) for source in self.sources])
        chosen = draw(scores, numbers).unsqueeze(1)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)
