"""The few largest of many numbers, row by row: what a search asks of the scores of a vocabulary at each step.

Torch's own ``topk`` keeps a queue over the whole row, and says nothing about equal numbers. Here the row is cut into
pieces first: the largest numbers lie in the pieces with the largest maxima, and looking for maxima is what a processor
does best. Of equal numbers those with the lowest places are taken, so that a search has one result.
"""

from __future__ import annotations

import torch
from torch import Tensor

_PIECE = 64  # numbers


def best_tokens(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest numbers of each row, in the order of their places.

    :param scores: ``(rows, n)``
    :param count: how many; all of them, where there are no more.
    :returns: the numbers and their places, both ``(rows, count)``; places rise along a row.
    """
    rows, n = scores.shape
    pieces = n // _PIECE
    if pieces <= count:
        return _largest(scores, count)
    whole = scores[:, : pieces * _PIECE].view(rows, pieces, _PIECE)
    _, chosen = _largest(whole.amax(dim=2), count)  # (rows, count)
    within = torch.arange(_PIECE, device=scores.device)
    places = (chosen.unsqueeze(2) * _PIECE + within).view(rows, -1)
    rest = torch.arange(pieces * _PIECE, n, device=scores.device).expand(rows, -1)
    places = torch.cat([places, rest], dim=1)  # the few that fill no piece are always looked at
    values, among = _largest(scores.gather(1, places), count)
    return values, places.gather(1, among)


def _largest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The same over whole rows."""
    if count >= scores.size(1):
        return scores, torch.arange(scores.size(1), device=scores.device).expand_as(scores)
    values, places = scores.topk(count + 1, dim=1)
    places = places[:, :count]
    unclear = (values[:, count - 1] == values[:, count]).nonzero().squeeze(1)
    if len(unclear):
        places = places.clone()
        places[unclear] = _first_of_equals(scores[unclear], values[unclear, count - 1], count)
    places = places.sort(dim=1).values
    return scores.gather(1, places), places


def _first_of_equals(scores: Tensor, least: Tensor, count: int) -> Tensor:
    """The places of all numbers above ``least``, and of the first that equal it: ``(rows, count)``.

    :param least: ``(rows,)``, the smallest number that is wanted.
    """
    above, equal = scores > least.unsqueeze(1), scores == least.unsqueeze(1)
    wanted = count - above.sum(dim=1, keepdim=True)
    keep = above | (equal & (equal.cumsum(dim=1) <= wanted))
    return keep.nonzero()[:, 1].view(len(scores), count)
