"""EPITOME's bi-encoder: how much of each mechanism of empathy a response shows, and in which words.

Sharma et al. 2020, section 5. A frozen encoder reads the seeker's post, another one the response. Each token of the
response attends to the post; what it finds there is added to its state. One head reads the level from the response, the
other tells for each of its tokens whether it belongs to the rationale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from parlai_empathy.modules.transformer import masked_mean

LEVELS = 3
_STD = 0.02  # of new weights, as the original has them

# A CPU's time goes with the number of tokens, padding included: texts of like length go together, so many at a time.
# Not fewer, for in bfloat16 the frozen weights are rounded anew for each chunk.
_CPU_CHUNK = 32
# Torch prepares its CPU kernels anew for each shape of a batch, so lengths are rounded up: there are fewer shapes then.
_STEP = 8


class Epitome(nn.Module):
    """Posts and responses through two encoders, then attention and two heads for each mechanism.

    :param seeker: a Hugging Face encoder for posts, which learns nothing.
    :param responders: encoders for responses: one that all mechanisms share, or one for each.
    :param mechanisms: how many there are.
    :param pooling: what the level's head reads of the response: the ``first`` token's state, or the ``mean``.
    :param dropout: of the attention, and before the heads' layers.
    """

    def __init__(self, seeker: Any, responders: Sequence[Any], mechanisms: int, pooling: str, dropout: float) -> None:
        super().__init__()
        self.seeker = seeker.requires_grad_(False).eval()
        self.responders = nn.ModuleList(responders)
        size = seeker.config.hidden_size
        self.mechanisms = nn.ModuleList(_Mechanism(size, pooling, dropout) for _ in range(mechanisms))
        self.mechanisms.apply(_begin)

    def train(self, mode: bool = True) -> Epitome:
        """Switch between training and use; the frozen encoder's dropout stays off in both."""
        super().train(mode)
        self.seeker.eval()
        return self

    def seeker_states(self, tokens: Tensor, lengths: Tensor, whole: bool = False) -> Tensor:
        """What the frozen encoder makes of posts, to be remembered.

        :param tokens: ``(n, length)`` ids, padded on the right.
        :param lengths: ``(n,)``, how many tokens each has, at least 1.
        :param whole: whether the states of padding are asked for as well.
        :returns: ``(n, length, dim)``
        """
        with torch.no_grad():
            return (_read if whole else token_states)(self.seeker, tokens, lengths)

    def forward(
        self, posts: Tensor, seen: Tensor, post_of: Tensor, tokens: Tensor, lengths: Tensor, response_of: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Judge pairs of different posts and different responses.

        :param posts: ``(posts, post length, dim)``, of :meth:`seeker_states`.
        :param seen: ``(posts, post length)``, which of these the responses may attend to.
        :param post_of: ``(n,)``, which post each pair has.
        :param tokens: ``(responses, length)`` ids, padded on the right; ``lengths``: ``(responses,)``.
        :param response_of: ``(n,)``, which response each pair has.
        :returns: logits of the levels, ``(n, mechanisms, 3)``, and of each token's being part of the rationale or not,
            ``(n, mechanisms, length, 2)``, in single precision.
        """
        keep = _chosen(_keep(lengths, tokens.size(1)), response_of)
        read = [_chosen(token_states(encoder, tokens, lengths), response_of) for encoder in self.responders]
        read = read if len(read) > 1 else read * len(self.mechanisms)
        parts = [part(states, keep, posts, seen, post_of) for part, states in zip(self.mechanisms, read, strict=True)]
        levels, rationales = zip(*parts, strict=True)
        return torch.stack(levels, dim=1).float(), torch.stack(rationales, dim=1).float()


class _Mechanism(nn.Module):
    """Attention of one head from the response to the post, and the heads of one mechanism."""

    def __init__(self, size: int, pooling: str, dropout: float) -> None:
        super().__init__()
        self.pooling = pooling
        self.query, self.key, self.value, self.out = (nn.Linear(size, size) for _ in range(4))
        self.dropout = nn.Dropout(dropout)
        self.level = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(size, size), nn.ReLU(), nn.Dropout(dropout), nn.Linear(size, LEVELS)
        )
        self.rationale = nn.Sequential(nn.Dropout(dropout), nn.Linear(size, 2))

    def forward(
        self, states: Tensor, keep: Tensor, posts: Tensor, seen: Tensor, post_of: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Judge responses, whose states are ``(n, length, dim)``.

        :returns: logits of the levels, ``(n, 3)``, and of the rationale, ``(n, length, 2)``.
        """
        keys, values = (_chosen(part(posts), post_of) for part in (self.key, self.value))  # (n, post length, dim)
        scores = self.query(states) @ keys.transpose(1, 2) / math.sqrt(states.size(-1))  # (n, length, post length)
        weights = scores.masked_fill(~_chosen(seen, post_of).unsqueeze(1), -torch.inf).softmax(dim=-1)
        states = states + self.dropout(self.out(self.dropout(weights).to(values.dtype) @ values))
        vectors = states[:, 0] if self.pooling == "first" else masked_mean(states, keep)
        return self.level(vectors), self.rationale(states)


def _chosen(rows: Tensor, places: Tensor) -> Tensor:
    """The rows at these places; without a copy where they are all rows, each once and in order."""
    if places.device.type == "cpu" and torch.equal(places, torch.arange(len(rows))):  # on a GPU one would have to wait
        return rows
    return rows[places]


def _begin(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=_STD)
        nn.init.zeros_(module.bias)


def _keep(lengths: Tensor, longest: int) -> Tensor:
    """Which places hold tokens, ``(n, longest)``."""
    return torch.arange(longest, device=lengths.device) < lengths.unsqueeze(1)


def token_states(encoder: Any, tokens: Tensor, lengths: Tensor) -> Tensor:
    """The states of all tokens, ``(n, length, dim)``; those of padding are zeros where nothing had to be computed.

    :param tokens: ``(n, length)`` ids, padded on the right.
    :param lengths: ``(n,)``, at least 1.
    """
    if tokens.device.type != "cpu" or len(tokens) <= 1:
        return _read(encoder, tokens, lengths)
    order = lengths.argsort(stable=True)  # shortest first
    chunks = []
    for rows in torch.split(order, _CPU_CHUNK):
        longest = min(-(-int(lengths[rows[-1]]) // _STEP) * _STEP, tokens.size(1))
        states = _read(encoder, tokens[rows, :longest], lengths[rows])
        chunks.append(nn.functional.pad(states, (0, 0, 0, tokens.size(1) - longest)))
    return torch.cat(chunks)[order.argsort()]


def _read(encoder: Any, tokens: Tensor, lengths: Tensor) -> Tensor:
    states: Tensor = encoder(input_ids=tokens, attention_mask=_keep(lengths, tokens.size(1)).long()).last_hidden_state
    return states
