"""Evaluation metrics of EPITOME's judge: loss, accuracy and macro-F1 of levels, F1 and IoU of rationales."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from parlai.core.metrics import AverageMetric, Metric
from torch import Tensor

from parlai_empathy.agents.epitome.targets import UNKNOWN
from parlai_empathy.metrics.macro_f1 import MacroF1, confusion
from parlai_empathy.metrics.means import SumOfMeans
from parlai_empathy.metrics.rationale_f1 import iou_f1, token_f1
from parlai_empathy.modules.classifiers.epitome import LEVELS
from parlai_empathy.tasks.epitome.mechanisms import SHORT

Recorded = dict[str, list[Metric | None]]
"""Metrics by name, one per example; None for examples that a metric excludes."""


def loss_metrics(levels: Tensor, rationales: Tensor, tokens: Tensor) -> Recorded:
    """Return the loss that the whole fold would have as one batch.

    :param levels: each response's loss of its levels, ``(n,)``.
    :param rationales: the weighted losses summed over its tokens, ``(n, mechanisms)``; ``tokens``: their number.
    """
    rows = zip(levels.tolist(), rationales.tolist(), tokens.tolist(), strict=True)
    return {"loss": [SumOfMeans([level, *losses], [1, *numbers]) for level, losses, numbers in rows]}


def level_metrics(chosen: Tensor, true: Tensor, mechanisms: Sequence[str], split: str | None) -> Recorded:
    """Return accuracy and macro-F1 per mechanism (``er_accuracy``, ``er_f1``), and their mean F1 (``macro_f1``).

    :param chosen: predicted levels, ``(n, mechanisms)``; ``true`` has the same shape, with some :data:`UNKNOWN`.
    :param split: the fold, for signatures.
    """
    tables = np.array([[_table(*each) for each in zip(*rows, strict=True)] for rows in _rows(true, chosen)])
    found: Recorded = {"macro_f1": [MacroF1(table, "EPITOME", split) for table in tables]}
    for column, mechanism in enumerate(mechanisms):
        short, known = SHORT[mechanism], (true[:, column] != UNKNOWN).tolist()
        right = (chosen[:, column] == true[:, column]).tolist()
        f1s = [MacroF1(table, short, split) for table in tables[:, column]]
        found[f"{short.lower()}_accuracy"] = [
            AverageMetric(hit) if is_known else None for hit, is_known in zip(right, known, strict=True)
        ]
        found[f"{short.lower()}_f1"] = [f1 if is_known else None for f1, is_known in zip(f1s, known, strict=True)]
    return found


def rationale_metrics(chosen: Tensor, true: Tensor, mechanisms: Sequence[str]) -> Recorded:
    """Return token and span F1 (``er_rationale_f1``, ``er_rationale_iou``) of responses that have a rationale.

    :param chosen: whether a token is in the predicted rationale, ``(n, mechanisms, length)``; ``true`` has the same
        shape: 1, 0, or :data:`UNKNOWN` for padding.
    """
    found: Recorded = {}
    for column, mechanism in enumerate(mechanisms):
        rows = [
            (ours[theirs != UNKNOWN].bool().tolist(), theirs[theirs != UNKNOWN].bool().tolist())
            for ours, theirs in zip(chosen[:, column], true[:, column], strict=True)
        ]
        for name, measure in (("f1", token_f1), ("iou", iou_f1)):
            found[f"{SHORT[mechanism].lower()}_rationale_{name}"] = [
                AverageMetric(measure(ours, theirs)) if any(theirs) else None for ours, theirs in rows
            ]
    return found


def _rows(true: Tensor, chosen: Tensor) -> list[tuple[list[int], list[int]]]:
    return list(zip(true.tolist(), chosen.tolist(), strict=True))


def _table(true: int, chosen: int) -> NDArray[np.int64]:
    known = true != UNKNOWN
    return confusion([true] * known, [chosen] * known, LEVELS)
