"""The judges' losses: by hand, against torch's, and against the papers' formulas in NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from parlai_empathy.modules.classifiers.losses import binary_cross_entropy, nnpu_risk, soft_cross_entropy, squared_error

Floats = NDArray[np.float64]


# --- cross-entropy and squared error ---------------------------------------------------------------------------------


def test_cross_entropy_with_one_hot_targets_matches_torch() -> None:
    torch.manual_seed(0)
    logits, classes = torch.randn(7, 5), torch.tensor([0, 4, 2, 2, 1, 3, 0])
    shares = torch.nn.functional.one_hot(classes, 5).float()
    expected = torch.nn.CrossEntropyLoss(reduction="none")(logits, classes)
    assert torch.allclose(soft_cross_entropy(logits, shares), expected)


def test_cross_entropy_with_soft_targets_matches_hand_calculation() -> None:
    # The softmax of (0, ln 3) is (1/4, 3/4): half of ln 4 plus half of ln 4/3.
    loss = soft_cross_entropy(torch.tensor([[0.0, math.log(3)]]), torch.tensor([[0.5, 0.5]]))
    assert loss.item() == pytest.approx((math.log(4) + math.log(4 / 3)) / 2)


def test_squared_error_is_measured_in_steps_of_the_scale() -> None:
    # The logit 0 is the middle of the scale, 3 of 1..5; the target at three quarters is 4, one step away. The logit ln
    # 9 is at nine tenths, 4.6; to 1 it is 3.6 steps, and 3.6 x 3.6 = 12.96.
    losses = squared_error(torch.tensor([0.0, math.log(9)]), torch.tensor([0.75, 0.0]), span=4.0)
    assert losses.tolist() == pytest.approx([1.0, 12.96])


def test_binary_cross_entropy_matches_hand_calculation() -> None:
    losses = binary_cross_entropy(torch.tensor([0.0, math.log(3), math.log(3)]), torch.tensor([True, True, False]))
    assert losses.tolist() == pytest.approx([math.log(2), math.log(4 / 3), math.log(4)])


# --- positive-unlabelled learning ------------------------------------------------------------------------------------


def sigmoid_loss(margin: Floats) -> Floats:
    """Return 1 / (1 + e^z) (Kiryo et al. 2017, section 4)."""
    return 1 / (1 + np.exp(margin))


def parts(logits: Floats, is_positive: NDArray[np.bool_], prior: float) -> tuple[float, float]:
    """Return both terms of equation 6: that of the positives, and the other before it is clipped at 0."""
    positive, unlabelled = logits[is_positive], logits[~is_positive]
    negative_part = sigmoid_loss(-unlabelled).mean() - prior * sigmoid_loss(-positive).mean()
    return prior * sigmoid_loss(positive).mean(), negative_part


def risk(logits: Floats, is_positive: NDArray[np.bool_], prior: float) -> float:
    """Return the risk of equation 6."""
    positive_part, negative_part = parts(logits, is_positive, prior)
    return positive_part + max(0.0, negative_part)


def algorithm_1(logits: Floats, is_positive: NDArray[np.bool_], prior: float) -> Floats:
    """Return the gradient of the paper's algorithm 1, with beta 0 and gamma 1, by finite differences."""

    def goal(moved: Floats) -> float:
        positive_part, negative_part = parts(moved, is_positive, prior)
        return positive_part + negative_part if keep_both else -negative_part

    keep_both = parts(logits, is_positive, prior)[1] >= 0
    steps = 1e-6 * np.eye(len(logits))
    return np.array([(goal(logits + step) - goal(logits - step)) / 2e-6 for step in steps])


def ours(logits: Floats, is_positive: NDArray[np.bool_], prior: float) -> tuple[float, Floats]:
    tensor = torch.tensor(logits, requires_grad=True)
    value = nnpu_risk(tensor, torch.tensor(is_positive), prior)
    value.backward()  # type: ignore[no-untyped-call]
    assert tensor.grad is not None
    return value.item(), tensor.grad.numpy()


def test_nnpu_risk_matches_hand_calculation() -> None:
    # l(ln 3) = 1/4 and l(-ln 3) = 3/4. Positives: ln 3; unlabelled: 0 and ln 3; prior .4. .4 x 1/4 = .1; the unlabelled
    # mean of l(-0) = 1/2 and l(-ln 3) = 3/4 is .625; .625 - .4 x 3/4 = .325.
    logits, is_positive = np.log([3.0, 1.0, 3.0]), np.array([True, False, False])
    assert ours(logits, is_positive, 0.4)[0] == pytest.approx(0.425)


def test_nnpu_risk_clips_negative_second_term_at_zero() -> None:
    # The positive is at ln 3, the unlabelled at -ln 3: 1/4 - .4 x 3/4 = -.05 is clipped, so that .1 remains.
    logits, is_positive = np.log([3.0, 1 / 3]), np.array([True, False])
    value, gradient = ours(logits, is_positive, 0.4)
    assert value == pytest.approx(0.1)
    # The gradient reverses that of the second term: the unlabelled logit is to rise again, the positive one to fall.
    # With s'(z) = s(z)(1 - s(z)) = 3/16 for both: d/dz of -(s(u) - .4 s(p)) is -3/16 for u and .4 x 3/16 for p.
    assert gradient == pytest.approx([0.4 * 3 / 16, -3 / 16])


CASES = st.tuples(
    st.lists(st.floats(-6, 6), min_size=1, max_size=6),
    st.lists(st.floats(-6, 6), min_size=1, max_size=6),
    st.floats(0.01, 0.99),
)


@given(CASES)
def test_nnpu_value_and_gradient_match_the_paper(case: tuple[list[float], list[float], float]) -> None:
    positive, unlabelled, prior = case
    logits = np.array(positive + unlabelled)
    is_positive = np.array([True] * len(positive) + [False] * len(unlabelled))
    value, gradient = ours(logits, is_positive, prior)
    assert value == pytest.approx(risk(logits, is_positive, prior), abs=1e-9)
    if abs(parts(logits, is_positive, prior)[1]) > 1e-4:  # at 0 itself, a finite difference mixes both sides
        assert gradient == pytest.approx(algorithm_1(logits, is_positive, prior), abs=1e-6)


def test_nnpu_gradient_only_raises_positives_without_unlabelled() -> None:
    value, gradient = ours(np.array([0.0, 2.0]), np.array([True, True]), 0.3)
    assert value == pytest.approx(0.3 * sigmoid_loss(np.array([0.0, 2.0])).mean())
    assert (gradient < 0).all(), "a step against the gradient raises them"


def test_nnpu_treats_unlabelled_as_negative_without_positives() -> None:
    value, gradient = ours(np.array([0.0, 2.0]), np.array([False, False]), 0.3)
    assert value == pytest.approx(sigmoid_loss(np.array([0.0, -2.0])).mean())
    assert (gradient > 0).all()
