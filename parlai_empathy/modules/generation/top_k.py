"""The k largest numbers of each row, as beam search needs them from the scores of a vocabulary at each step.

``torch.topk`` keeps a queue over the whole row, and leaves the choice between equal numbers undefined. Here the row is
first split into blocks: the largest numbers lie in the blocks with the largest maxima, and finding maxima is what a
processor does fastest. Of equal numbers those with the lowest indices are taken, so that a search is deterministic.
"""

from __future__ import annotations

import torch
from torch import Tensor

_PIECE = 64  # numbers


def top_k_tokens(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the largest numbers of each row, ordered by index.

    :param scores: ``(rows, n)``
    :param count: how many to return; all of them if a row has no more.
    :returns: the numbers and their indices, both ``(rows, count)``; indices ascend along a row.
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
    places = torch.cat([places, rest], dim=1)  # the rest, less than one block, is always included
    values, among = _largest(scores.gather(1, places), count)
    return values, places.gather(1, among)


def _largest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Do the same without blocks."""
    if count >= scores.size(1):
        return scores, torch.arange(scores.size(1), device=scores.device).expand_as(scores)
    values, places = scores.topk(count + 1, dim=1)
    places = places[:, :count]
    unclear = (values[:, count - 1] == values[:, count]).nonzero().squeeze(1)
    if len(unclear):
        places = places.clone()
        places[unclear] = _first_ties(scores[unclear], values[unclear, count - 1], count)
    places = places.sort(dim=1).values
    return scores.gather(1, places), places


def _first_ties(scores: Tensor, least: Tensor, count: int) -> Tensor:
    """Return the indices of all numbers above ``least`` and of the first ones equal to it: ``(rows, count)``.

    :param least: ``(rows,)``, the smallest of the ``count`` largest numbers.
    """
    above, equal = scores > least.unsqueeze(1), scores == least.unsqueeze(1)
    wanted = count - above.sum(dim=1, keepdim=True)
    keep = above | (equal & (equal.cumsum(dim=1) <= wanted))
    return keep.nonzero()[:, 1].view(len(scores), count)
