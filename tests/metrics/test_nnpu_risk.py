"""The risk of a fold, compared with that of all its replies in one batch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.metrics.nnpu_risk import NnpuRisk
from parlai_empathy.modules.classifiers.losses import nnpu_risk

LOGITS = st.lists(st.floats(-6, 6), max_size=5)


@given(st.tuples(LOGITS, LOGITS), st.tuples(LOGITS, LOGITS), st.floats(0.01, 0.99))
def test_sum_of_parts_is_the_risk_of_all(
    first: tuple[list[float], list[float]], second: tuple[list[float], list[float]], prior: float
) -> None:
    true, others = first[0] + second[0], first[1] + second[1]
    parts = [NnpuRisk(*(torch.tensor(each).sigmoid().tolist() for each in part), prior) for part in (first, second)]
    is_true = torch.tensor([True] * len(true) + [False] * len(others), dtype=torch.bool)
    expected = nnpu_risk(torch.tensor(true + others), is_true, prior) if len(is_true) else 0.0
    assert float(parts[0] + parts[1]) == pytest.approx(float(expected), abs=1e-5)


def test_no_other_metric_adds_nothing() -> None:
    assert float(NnpuRisk([0.75], [0.25], 0.4) + None) == pytest.approx(0.4 * 0.25)  # and .25 - .4 x .75 is clipped
    assert NnpuRisk([0.5], [], 0.4).macro_average
