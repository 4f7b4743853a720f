"""Perplexity, compared with numbers derived here."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from parlai.core.metrics import Metrics

from parlai_empathy import __version__
from parlai_empathy.metrics.perplexity import Perplexity, example_losses


def test_example_losses_ignore_padding() -> None:
    losses = torch.tensor([[1.0, 3.0, 7.0], [4.0, 9.0, 9.0]])
    is_token = torch.tensor([[True, True, False], [True, False, False]])
    assert example_losses(losses, is_token).tolist() == [2.0, 4.0]


def test_replies_weigh_equally_regardless_of_length() -> None:
    """Means of 2 (3 tokens) and 4 (1 token): exp(3). Over tokens it would be exp((3 * 2 + 4) / 4) = exp(2.5)."""
    total = Perplexity(2.0) + Perplexity(4.0)
    assert total.value() == pytest.approx(math.exp(3))


@given(st.lists(st.floats(0, 10), min_size=1, max_size=20))
def test_metric_aggregates_to_exponential_of_mean_loss(losses: list[float]) -> None:
    metrics = Metrics()
    for loss in losses:
        metrics.add("ppl_peers", Perplexity(loss))
    assert metrics.report()["ppl_peers"].value() == pytest.approx(math.exp(sum(losses) / len(losses)))


def test_perplexity_without_tokens_is_no_number_and_adds_nothing() -> None:
    nothing = Perplexity(0.0, 0)
    assert math.isnan(nothing.value())
    assert (nothing + Perplexity(2.0)).value() == pytest.approx(math.exp(2))


def test_tokens_weigh_equally_if_they_are_counted() -> None:
    """Losses of 6 (3 tokens) and 4 (1 token): exp(10 / 4)."""
    assert (Perplexity(6.0, 3) + Perplexity(4.0, 1)).value() == pytest.approx(math.exp(2.5))


def test_adding_keeps_settings_and_counts_examples_in_signature() -> None:
    one = Perplexity(6.0, 3, {"mean": "tokens", "tokens": "re", "precision": None}, "valid")
    assert (one + one + None).signature == f"PPL|mean:tokens|tokens:re|n:2|split:valid|version:{__version__}"
    rounded = Perplexity(2.0, 1, {"mean": "examples", "precision": "bfloat16"}, "valid")
    assert (rounded + rounded + rounded).signature == (
        f"PPL|mean:examples|precision:bfloat16|n:3|split:valid|version:{__version__}"
    )
