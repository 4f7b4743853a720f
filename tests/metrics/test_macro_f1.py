"""Macro-F1, compared with scikit-learn's."""

from __future__ import annotations

import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, f1_score

from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.macro_f1 import MacroF1, confusion, macro_f1

_DECISIONS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=25)


@given(_DECISIONS)
def test_confusion_and_macro_f1_match_scikit_learn(decisions: list[tuple[int, int]]) -> None:
    true, chosen = zip(*decisions, strict=True)
    table = confusion(true, chosen, 3)
    assert (table == confusion_matrix(true, chosen, labels=[0, 1, 2])).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert macro_f1(table) == pytest.approx(f1_score(true, chosen, average="macro"))


@given(_DECISIONS, _DECISIONS)
def test_sum_of_metrics_matches_all_decisions_together(
    one: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    parts = [MacroF1(confusion(*zip(*decisions, strict=True), 3)) for decisions in (one, other)]
    together = confusion(*zip(*one, *other, strict=True), 3)
    assert (parts[0] + parts[1]).value() == macro_f1(together)
    assert (parts[0] + None).value() == parts[0].value()


def test_absent_class_is_left_out_of_the_mean() -> None:
    # Class 0: 2 TP, 1 FP: 4/5; class 1: 1 FN: 0; class 2 occurs neither as a label nor as a prediction.
    assert macro_f1(confusion([0, 0, 1], [0, 0, 0], 3)) == pytest.approx((4 / 5 + 0) / 2)


def test_several_decisions_are_averaged() -> None:
    right, wrong = confusion([0, 1], [0, 1], 2), confusion([0, 1], [1, 0], 2)
    assert macro_f1(np.stack([right, wrong])) == 0.5
    assert macro_f1(np.stack([right, np.zeros_like(right)])) == 1.0  # a decision without any item is excluded


def test_signature_counts_items_not_decisions() -> None:
    tables = np.stack([confusion([0, 1], [0, 1], 2), confusion([0], [0], 2)])
    assert MacroF1(tables, "EPITOME", "test").signature.startswith("macro-F1|of:EPITOME|classes:present|n:2|split:test")


def test_adding_keeps_settings_in_signature() -> None:
    metric = MacroF1(confusion([0, 1], [0, 0], 2), "ER", "valid")
    assert (metric + metric).signature.startswith("macro-F1|of:ER|classes:present|n:4|split:valid")


def test_pickling_keeps_the_signature() -> None:
    metric = MacroF1(confusion([0, 1], [0, 0], 2), "ER", "valid")
    assert pickle.loads(pickle.dumps(metric)).signature == metric.signature


def test_empty_table_raises_error_and_metric_is_nan_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[str] = []
    monkeypatch.setattr("parlai_empathy.metrics.macro_f1.warn_once", warned.append)
    with pytest.raises(NotComputableError, match="nothing to score"):
        macro_f1(np.zeros((3, 3)))
    assert math.isnan(MacroF1(np.zeros((3, 3), dtype=np.int64)).value())
    assert len(warned) == 1
