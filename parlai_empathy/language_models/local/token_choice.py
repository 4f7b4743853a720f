"""How a local model chooses its tokens, by OpenAI's rules and in a way that does not depend on the rest of the batch.

Each answer has random numbers of its own, which follow from the seed and its prompt. One number a token is enough: it
falls on one of the tokens when they are laid side by side, each as wide as it is probable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor

from parlai_empathy.errors import LanguageModelError
from parlai_empathy.language_models.prompt import Sampling


def random_source(seed: int, tokens: Sequence[int]) -> torch.Generator:
    """The random numbers for one answer.

    :param tokens: the prompt's, so that other prompts get other numbers under the same seed.
    """
    digest = hashlib.sha256(f"{seed} {list(tokens)}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)


def penalize(scores: Tensor, written: Tensor, sampling: Sampling) -> Tensor:
    """Take the penalties off the scores of tokens that stand in the answer already.

    As OpenAI's reference defines them: ``score - times written x frequency_penalty - (written at all) x
    presence_penalty``. What the prompt says does not count.

    :param scores: ``(rows, vocabulary)``
    :param written: ``(rows, time)``, the tokens of the answers so far.
    :returns: ``(rows, vocabulary)``
    """
    if not (sampling.frequency_penalty or sampling.presence_penalty):
        return scores
    times = torch.zeros_like(scores).scatter_add_(1, written, torch.ones_like(written, dtype=scores.dtype))
    return scores - times * sampling.frequency_penalty - (times > 0) * sampling.presence_penalty


def keep_top(scores: Tensor, share: float) -> Tensor:
    """Leave only the most probable tokens that together have ``share`` of the probability, and at least one.

    :param scores: ``(rows, vocabulary)``
    :returns: the same; the others are minus infinity.
    """
    if share >= 1:
        return scores
    ordered, order = scores.sort(dim=1, descending=True)
    probabilities = ordered.softmax(dim=1)
    before = probabilities.cumsum(dim=1) - probabilities
    unwanted = (before >= share).scatter(1, order, before >= share)
    return scores.masked_fill(unwanted, -torch.inf)


def draw(scores: Tensor, numbers: Tensor) -> Tensor:
    """Choose a token for each row.

    :param scores: ``(rows, vocabulary)``; minus infinity is never chosen.
    :param numbers: ``(rows,)``, 0 and more, below 1.
    :returns: ``(rows,)``
    """
    # In doubles: single precision would lose the rare tokens of a large vocabulary.
    ends = scores.double().softmax(dim=1).cumsum(dim=1)
    places = numbers.to(ends).unsqueeze(1) * ends[:, -1:]
    return torch.searchsorted(ends, places, right=True).clamp(max=scores.size(1) - 1).squeeze(1)


class TokenChoice:
    """A logits processor for Hugging Face's ``generate``, which then only has to take the highest score.

    :param prompt_width: how many tokens each row has before its answer.
    :param sources: of random numbers, one for each row.
    """

    def __init__(self, sampling: Sampling, prompt_width: int, sources: Sequence[torch.Generator]) -> None:
        self.sampling = sampling
        self.prompt_width = prompt_width
        self.sources = sources

    def __call__(self, tokens: Tensor, scores: Tensor) -> Tensor:
        """Scores of the next token, ``(rows, vocabulary)``; after chance has chosen, of one token alone.

        :raises LanguageModelError: if the model's scores are no numbers.
        """
        if scores.isnan().any():
            raise LanguageModelError("the model's scores are no numbers: compute in float32, or take another model")
        scores = penalize(scores.float(), tokens[:, self.prompt_width :], self.sampling)
        if self.sampling.temperature == 0:
            return scores
        scores = keep_top(scores / self.sampling.temperature, self.sampling.top_p)
        numbers = torch.cat([torch.rand(1, generator=source, dtype=torch.float64) for source in self.sources])
        chosen = draw(scores, numbers).unsqueeze(1)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)
