"""How well a model's rationale, the words that it marks in a response, agrees with that of raters.

Two measures of Sharma et al. (2020, section 7), taken from DeYoung et al. (2020):

*token F1*
    ``2 TP / (2 TP + FP + FN)`` over the response's tokens.
*IOU F1*
    The F1 of whole spans, runs of adjacent tokens. A span is correct if its intersection over union with one of the
    other side's spans is at least one half.

Both are defined for responses in which raters marked something; a corpus's value is the mean over them.
"""

from __future__ import annotations

from collections.abc import Sequence

from parlai_empathy.errors import NotComputableError

Run = tuple[int, int]
"""Index of the first token, and of the one after the last."""

ENOUGH = 0.5
"""Minimum intersection over union for two spans to match (DeYoung et al. 2020, section 4.1)."""


def token_f1(chosen: Sequence[bool], true: Sequence[bool]) -> float:
    """Return the F1 of the marked tokens, 0..1.

    :param chosen: for each of the response's tokens, whether the model marked it; ``true``: whether raters did.
    :raises NotComputableError: if raters marked none, or the numbers of tokens differ.
    """
    _check(chosen, true)
    both = sum(one and other for one, other in zip(chosen, true, strict=True))
    return 2 * both / (sum(chosen) + sum(true))


def iou_f1(chosen: Sequence[bool], true: Sequence[bool]) -> float:
    """Return the F1 of the marked spans, 0..1; parameters and errors as for :func:`token_f1`."""
    _check(chosen, true)
    ours, theirs = runs(chosen), runs(true)
    if not ours:
        return 0.0
    precision = sum(any(_same(one, other) for other in theirs) for one in ours) / len(ours)
    recall = sum(any(_same(one, other) for one in ours) for other in theirs) / len(theirs)
    return 2 * precision * recall / (precision + recall) if precision else 0.0


def runs(marks: Sequence[bool]) -> list[Run]:
    """Return the runs of adjacent marked tokens, in order."""
    edges = [False, *map(bool, marks), False]
    turns = [place for place in range(len(marks) + 1) if edges[place] != edges[place + 1]]
    return list(zip(turns[::2], turns[1::2], strict=True))


def _same(one: Run, other: Run) -> bool:
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return shared >= ENOUGH * (one[1] - one[0] + other[1] - other[0] - shared)


def _check(chosen: Sequence[bool], true: Sequence[bool]) -> None:
    if len(chosen) != len(true):
        raise NotComputableError(
            f"rationales of {len(chosen)} and {len(true)} tokens: they belong to different responses"
        )
    if not any(true):
        raise NotComputableError("rationale F1: raters marked no word of this response")
