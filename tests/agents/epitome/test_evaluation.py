"""The metrics of an evaluation, compared with scikit-learn and with manual calculation."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score
from torch.nn import functional as F

from parlai_empathy.agents.epitome.evaluation import level_metrics, loss_metrics, rationale_metrics
from parlai_empathy.agents.epitome.targets import UNKNOWN, token_losses

ALL = ["emotional_reactions", "interpretations", "explorations"]


def total(values: list[Any]) -> Any:
    return reduce(add, [value for value in values if value is not None])


def test_loss_is_that_of_the_whole_fold_as_one_batch() -> None:
    torch.manual_seed(5)
    logits, marks = torch.randn(5, 2, 6, 2), torch.randint(0, 2, (5, 2, 6))
    marks[1, :, 2:] = marks[3, 0] = UNKNOWN
    levels = torch.rand(5)
    found = []
    for rows in (slice(0, 3), slice(3, 5)):
        totals, tokens = token_losses(logits[rows], marks[rows])
        found += loss_metrics(levels[rows], 0.5 * totals, tokens)["loss"]
    # Torch's mean is over the labelled tokens.
    means = [
        F.cross_entropy(logits[:, column].flatten(0, 1), marks[:, column].flatten(), ignore_index=UNKNOWN)
        for column in (0, 1)
    ]
    assert total(found).value() == pytest.approx(float(levels.mean() + 0.5 * sum(means)))


def test_fold_without_rationales_has_the_loss_of_its_levels() -> None:
    found = loss_metrics(torch.tensor([1.0, 2.0]), torch.zeros(2, 1), torch.zeros(2, 1))
    assert total(found["loss"]).value() == 1.5


def test_level_metrics_match_scikit_learn() -> None:
    torch.manual_seed(2)
    chosen, true = torch.randint(0, 3, (30, 3)), torch.randint(0, 3, (30, 3))
    found = level_metrics(chosen, true, ALL, "valid")
    f1s = []
    for column, short in enumerate(("er", "ip", "ex")):
        ours, theirs = chosen[:, column], true[:, column]
        f1s.append(f1_score(theirs, ours, average="macro"))
        assert total(found[f"{short}_accuracy"]).value() == pytest.approx(accuracy_score(theirs, ours))
        assert total(found[f"{short}_f1"]).value() == pytest.approx(f1s[-1])
        assert f"of:{short.upper()}|classes:present|n:30|split:valid" in total(found[f"{short}_f1"]).signature
    assert total(found["macro_f1"]).value() == pytest.approx(sum(f1s) / 3)
    assert set(found) == {"macro_f1"} | {
        f"{short}_{kind}" for short in ("er", "ip", "ex") for kind in ("accuracy", "f1")
    }


def test_unknown_levels_are_excluded_from_metrics() -> None:
    chosen, true = torch.tensor([[1, 0], [1, 0]]), torch.tensor([[1, UNKNOWN], [2, 0]])
    found = level_metrics(chosen, true, ALL[:2], None)
    assert found["ip_accuracy"][0] is None
    assert found["ip_f1"][0] is None
    assert total(found["ip_accuracy"]).value() == 1.0
    assert total(found["er_accuracy"]).value() == 0.5
    # ER: class 1 has 1 TP and 1 FP, 2/3; class 2 has 1 FN, 0. IP: all correct.
    assert total(found["macro_f1"]).value() == pytest.approx((1 / 3 + 1) / 2)


def test_rationale_metrics_skip_responses_without_rationales() -> None:
    true = torch.tensor([[[0, 1, 1, 0, UNKNOWN]], [[0, 0, 0, 0, 0]], [[UNKNOWN] * 5]])
    chosen = torch.tensor([[[0, 1, 0, 0, 1]], [[0, 1, 1, 0, 0]], [[1, 1, 1, 1, 1]]])
    found = rationale_metrics(chosen, true, ["explorations"])
    assert found["ex_rationale_f1"][1:] == found["ex_rationale_iou"][1:] == [None, None]
    assert total(found["ex_rationale_f1"]).value() == pytest.approx(2 / 3)  # 1 TP, 1 FN; padding is ignored
    assert total(found["ex_rationale_iou"]).value() == 1.0  # 1 of 2 tokens
