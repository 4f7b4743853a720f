"""The peers' perplexity, compared with numbers derived here."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from parlai.core.metrics import Metrics

from parlai_empathy import __version__
from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.peers_perplexity import PeersPerplexity, example_losses


def test_example_losses_ignore_padding() -> None:
    losses = torch.tensor([[1.0, 3.0, 7.0], [4.0, 9.0, 9.0]])
    is_token = torch.tensor([[True, True, False], [True, False, False]])
    assert example_losses(losses, is_token).tolist() == [2.0, 4.0]


def test_replies_weigh_equally_regardless_of_length() -> None:
    """Means of 2 (3 tokens) and 4 (1 token): exp(3). Over tokens it would be exp((3 * 2 + 4) / 4) = exp(2.5)."""
    total = PeersPerplexity(2.0) + PeersPerplexity(4.0)
    assert total.value() == pytest.approx(math.exp(3))


@given(st.lists(st.floats(0, 10), min_size=1, max_size=20))
def test_metric_aggregates_to_exponential_of_mean_loss(losses: list[float]) -> None:
    metrics = Metrics()
    for loss in losses:
        metrics.add("ppl_peers", PeersPerplexity(loss))
    assert metrics.report()["ppl_peers"].value() == pytest.approx(math.exp(sum(losses) / len(losses)))


def test_perplexity_without_examples_raises_error() -> None:
    with pytest.raises(NotComputableError):
        PeersPerplexity(0.0, 0).value()


def test_adding_keeps_settings_in_signature() -> None:
    one = PeersPerplexity(2.0, 1, "peers", 99, "valid")
    made = "PPL|mean:examples|case:lower|tokens:peers|vocabulary:99"
    assert (one + one + None).signature == f"{made}|n:2|split:valid|version:{__version__}"
    rounded = PeersPerplexity(2.0, 1, "peers", 99, "valid", "bfloat16")
    assert (rounded + rounded).signature == f"{made}|precision:bfloat16|n:2|split:valid|version:{__version__}"
