"""EPITOME's bi-encoder: predicts the level of each mechanism of empathy in a response, and the rationale for it.

Sharma et al. 2020, section 5. A frozen encoder encodes the seeker's post, another encoder the response. Each token of
the response attends to the post, and the result is added to its state. One head predicts the level from the response,
the other predicts for each of its tokens whether it belongs to the rationale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from parlai_empathy.modules.pooling import masked_mean, token_mask
from parlai_empathy.modules.speed.inference_copy import for_inference, read_states
from parlai_empathy.modules.speed.length_buckets import length_buckets

LEVELS = 3
_STD = 0.02  # standard deviation of new weights, as in the original


class Epitome(nn.Module):
    """Encoders for posts and responses, then attention and two heads for each mechanism.

    :param seeker: a Hugging Face encoder for posts; it is frozen.
    :param responders: encoders for responses: one that all mechanisms share, or one for each.
    :param mechanisms: number of mechanisms.
    :param pooling: the level head's input: the state of the response's ``first`` token, or the ``mean`` of its states.
    :param dropout: dropout probability in the attention and before the heads' layers.
    """

    def __init__(self, seeker: Any, responders: Sequence[Any], mechanisms: int, pooling: str, dropout: float) -> None:
        super().__init__()
        self.seeker = seeker.requires_grad_(False).eval()
        self.responders = nn.ModuleList(responders)
        size = seeker.config.hidden_size
        self.mechanisms = nn.ModuleList(_Mechanism(size, pooling, dropout) for _ in range(mechanisms))
        self.mechanisms.apply(_begin)

    @property
    def encoder(self) -> Any:
        """One of the encoders: all are of the same kind."""
        return self.seeker

    def train(self, mode: bool = True) -> Epitome:
        """Set training or evaluation mode; the frozen encoder's dropout stays off in both."""
        super().train(mode)
        self.seeker.eval()
        return self

    def seeker_states(self, tokens: Tensor, lengths: Tensor, whole: bool = False) -> Tensor:
        """Return the frozen encoder's states of posts, which can be cached.

        :param tokens: ``(n, length)`` ids, padded on the right.
        :param lengths: ``(n,)``, the number of tokens of each post, at least 1.
        :param whole: whether to compute the states of padding too.
        :returns: ``(n, length, dim)``
        """
        with torch.no_grad():
            return (_read if whole else token_states)(self.seeker, tokens, lengths)

    def forward(
        self, posts: Tensor, seen: Tensor, post_of: Tensor, tokens: Tensor, lengths: Tensor, response_of: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Compute the logits of pairs of distinct posts and distinct responses.

        :param posts: ``(posts, post length, dim)``, from :meth:`seeker_states`.
        :param seen: ``(posts, post length)``, True for the states (the first ones) that responses may attend to.
        :param post_of: ``(n,)``, the index of each pair's post.
        :param tokens: ``(responses, length)`` ids, padded on the right; ``lengths``: ``(responses,)``.
        :param response_of: ``(n,)``, the index of each pair's response.
        :returns: logits of the levels, ``(n, mechanisms, 3)``, and of whether each token belongs to the rationale,
            ``(n, mechanisms, length, 2)``, in single precision.
        """
        keep = _chosen(token_mask(lengths, tokens.size(1)), response_of)
        read = [_chosen(token_states(encoder, tokens, lengths), response_of) for encoder in self.responders]
        chunks = length_buckets(seen.sum(dim=1)[post_of])
        judged = [
            self._judged([states[rows] for states in read], keep[rows], *_cut(posts, seen, post_of[rows]))
            for rows in chunks
        ]
        back = torch.cat(chunks).argsort()
        levels, rationales = (torch.cat(parts)[back].float() for parts in zip(*judged, strict=True))
        return levels, rationales

    def _judged(self, read: Sequence[Tensor], keep: Tensor, posts: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Apply all mechanisms to responses, whose states are ``(n, length, dim)``, and their posts, in order."""
        read = read if len(read) > 1 else [*read] * len(self.mechanisms)
        parts = [
            for_inference(part)(states, keep, posts, seen) for part, states in zip(self.mechanisms, read, strict=True)
        ]
        levels, rationales = zip(*parts, strict=True)
        return torch.stack(levels, dim=1), torch.stack(rationales, dim=1)


class _Mechanism(nn.Module):
    """Single-head attention from the response to the post, and the two output heads of one mechanism."""

    def __init__(self, size: int, pooling: str, dropout: float) -> None:
        super().__init__()
        self.pooling = pooling
        self.query, self.key, self.value, self.out = (nn.Linear(size, size) for _ in range(4))
        self.dropout = nn.Dropout(dropout)
        self.level = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(size, size), nn.ReLU(), nn.Dropout(dropout), nn.Linear(size, LEVELS)
        )
        self.rationale = nn.Sequential(nn.Dropout(dropout), nn.Linear(size, 2))

    def forward(self, states: Tensor, keep: Tensor, posts: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the logits of responses, whose states are ``(n, length, dim)``, to posts, ``(n, post length, dim)``.

        :returns: logits of the levels, ``(n, 3)``, and of the rationale, ``(n, length, 2)``.
        """
        keys, values = self.key(posts), self.value(posts)
        scores = self.query(states) @ keys.transpose(1, 2) / math.sqrt(states.size(-1))  # (n, length, post length)
        weights = scores.masked_fill(~seen.unsqueeze(1), -torch.inf).softmax(dim=-1)
        states = states + self.dropout(self.out(self.dropout(weights).to(values.dtype) @ values))
        vectors = states[:, 0] if self.pooling == "first" else masked_mean(states, keep)
        return self.level(vectors), self.rationale(states)


def _cut(posts: Tensor, seen: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
    """Select posts and trim columns masked in all of them."""
    seen = seen[places]
    longest = int(seen.sum(dim=1).max())
    return posts[places, :longest], seen[:, :longest]


def _chosen(rows: Tensor, places: Tensor) -> Tensor:
    """Select rows by index; without a copy if these are all rows, in order."""
    if places.device.type == "cpu" and torch.equal(places, torch.arange(len(rows))):  # would force a sync on a GPU
        return rows
    return rows[places]


def _begin(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=_STD)
        nn.init.zeros_(module.bias)


def token_states(encoder: Any, tokens: Tensor, lengths: Tensor) -> Tensor:
    """Return the hidden states of all tokens, ``(n, length, dim)``; zeros for padding that was not computed.

    :param tokens: ``(n, length)`` ids, padded on the right.
    :param lengths: ``(n,)``, at least 1.
    """
    chunks = length_buckets(lengths)
    if len(chunks) == 1:
        return _read(encoder, tokens, lengths)
    states = []
    for rows in chunks:
        longest = int(lengths[rows].max())
        read = _read(encoder, tokens[rows, :longest], lengths[rows])
        states.append(nn.functional.pad(read, (0, 0, 0, tokens.size(1) - longest)))
    return torch.cat(states)[torch.cat(chunks).argsort()]


def _read(encoder: Any, tokens: Tensor, lengths: Tensor) -> Tensor:
    return read_states(encoder, tokens, token_mask(lengths, tokens.size(1)))
