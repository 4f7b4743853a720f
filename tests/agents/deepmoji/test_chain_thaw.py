"""The stages of chain-thaw, as in the paper's figure 3."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.agents.deepmoji.chain_thaw import LAYERS, ChainThaw, check_patience
from parlai_empathy.errors import OptionError


def test_stages_thaw_one_layer_at_a_time_then_all() -> None:
    chain = ChainThaw(patience=1)
    seen = []
    assert not chain.validated(0.1)
    while not chain.is_over:
        seen.append(tuple(chain.layers))
        assert chain.validated(0.1), "no gain: the next stage begins"
    assert seen == [("head",), ("embedding",), ("lstm_0",), ("lstm_1",), ("attention",), LAYERS]


def test_stage_ends_after_patience_validations_without_gain() -> None:
    chain = ChainThaw(patience=2)
    steps = [
        (0.1, False),
        (0.2, False),
        (0.15, False),
        (0.2, True),
        (0.19, False),
        (0.3, False),
        (0.3, False),
        (0.1, True),
    ]
    for score, moves in steps:
        assert chain.validated(score) == moves, score
    assert (chain.stage, chain.best, chain.waited) == (2, 0.3, 0)


@given(st.lists(st.floats(0, 1), max_size=40), st.integers(1, 3), st.integers(0, 40))
def test_restored_state_continues_like_an_uninterrupted_run(scores: list[float], patience: int, killed: int) -> None:
    whole, first, second = (ChainThaw(patience) for _ in range(3))
    for score in scores:
        whole.validated(score)
    for score in scores[:killed]:
        first.validated(score)
    second.load(first.state())
    for score in scores[killed:]:
        second.validated(score)
    assert second.state() == whole.state()


def test_best_score_of_another_measure_is_forgotten() -> None:
    """A negative loss never exceeds an accuracy: each validation would begin the next stage."""
    accuracy, loss = ChainThaw(2, "accuracy on a task"), ChainThaw(2, "loss on a task")
    for score in (0.4, 0.3, 0.3, 0.3):
        accuracy.validated(score)
    loss.load(accuracy.state())
    assert (loss.stage, loss.waited) == (1, 0)
    assert not loss.validated(-3.4)
    assert not loss.validated(-3.3)


def test_validation_patience_must_outlast_all_stages() -> None:
    check_patience(1, 10)
    check_patience(1, 7)
    check_patience(5, 0)
    check_patience(5, -1)
    with pytest.raises(OptionError, match="--validation-patience 10: --thaw-patience 2 may need 12 validations"):
        check_patience(2, 10)
    with pytest.raises(OptionError, match=r"set --validation-patience 0$"):
        check_patience(1, 6)
