"""The emotion head, and loading weights that have a different head or none."""

from __future__ import annotations

import torch

from parlai_empathy.modules.classifiers.emotion_head import EmotionHead, keep_own_head


def test_parameter_count_matches_paper() -> None:
    """ "+9.6k" in Table 7: 300 x 32 weights and 32 biases."""
    assert sum(weights.numel() for weights in EmotionHead(300, 32).parameters()) == 9_632


def test_head_is_linear_layer_after_dropout_of_20_percent() -> None:
    torch.manual_seed(0)
    head = EmotionHead(3, 2)
    vectors = torch.randn(5, 3)
    expected = vectors @ head.linear.weight.T + head.linear.bias
    torch.testing.assert_close(head.eval()(vectors), expected)
    ones = torch.ones(1, 100_000)
    dropped = EmotionHead(100_000, 2).train().dropout(ones)
    assert abs(float((dropped == 0).float().mean()) - 0.2) < 0.01
    head.train().dropout.p = 1.0
    assert torch.equal(head(vectors), head.linear.bias.expand(5, 2))


OWN = {"a": torch.zeros(2), "emotion_head.linear.weight": torch.zeros(4, 3), "emotion_head.linear.bias": torch.zeros(4)}
HEAD = {"emotion_head.linear.weight": torch.ones(4, 3), "emotion_head.linear.bias": torch.ones(4)}


def test_missing_head_keeps_its_initial_weights() -> None:
    found = keep_own_head({"a": torch.ones(2)}, OWN)
    assert found.keys() == OWN.keys()
    assert found["a"].sum() == 2
    assert found["emotion_head.linear.weight"].sum() == 0


def test_matching_head_is_loaded() -> None:
    assert keep_own_head({"a": torch.ones(2), **HEAD}, OWN)["emotion_head.linear.bias"].sum() == 4


def test_head_of_other_size_is_not_loaded() -> None:
    other = {"emotion_head.linear.weight": torch.ones(7, 3), "emotion_head.linear.bias": torch.ones(7)}
    found = keep_own_head({"a": torch.ones(2), **other}, OWN)
    assert {name: values.shape for name, values in found.items()} == {n: v.shape for n, v in OWN.items()}


def test_head_is_dropped_for_model_without_one() -> None:
    assert keep_own_head({"a": torch.ones(2), **HEAD}, {"a": torch.zeros(2)}).keys() == {"a"}


def test_other_mismatches_are_left_unchanged() -> None:
    """Other mismatches are left for the loading code to report."""
    assert keep_own_head({"b": torch.ones(1)}, OWN).keys() == {"b", *HEAD}
