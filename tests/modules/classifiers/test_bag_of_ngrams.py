"""The bag of n-grams, a mean of embedding rows, by hand."""

from __future__ import annotations

import pytest
import torch

from parlai_empathy.modules.classifiers.bag_of_ngrams import BagOfNgrams


def test_features_are_mean_of_embedding_rows() -> None:
    model = BagOfNgrams(4, 2, 3, sparse=False)
    with torch.no_grad():
        model.embedding.weight.copy_(torch.tensor([[1.0, 0], [0, 1], [3, 3], [9, 9]]))
        model.head.weight.copy_(torch.tensor([[1.0, 0], [0, 2], [1, 1]]))
        rows, starts = torch.tensor([0, 1, 2, 2]), torch.tensor([0, 3, 3])
        # Three texts: rows 0, 1 and 2; no rows; row 2.
        assert model.features(rows, starts).tolist() == [
            [pytest.approx(4 / 3), pytest.approx(4 / 3)],
            [0, 0],
            [3, 3],
        ]
        assert model(rows, starts)[2].tolist() == [3, 6, 6]


def test_texts_without_rows_give_zero_logits() -> None:
    model = BagOfNgrams(4, 2, 3, sparse=True)
    assert model(torch.tensor([], dtype=torch.long), torch.tensor([0, 0])).tolist() == [[0, 0, 0]] * 2


def test_initialisation_matches_fasttext() -> None:
    model = BagOfNgrams(5000, 4, 3, sparse=True)
    assert model.head.weight.abs().max() == 0
    assert model.head.bias is None
    assert 0.249 < model.embedding.weight.abs().max() <= 0.25
    assert model.embedding.weight.mean().abs() < 0.01


@pytest.mark.parametrize("sparse", [True, False])
def test_gradient_covers_only_rows_in_the_batch(sparse: bool) -> None:
    model = BagOfNgrams(4, 2, 3, sparse=sparse)
    torch.nn.init.ones_(model.head.weight)
    model(torch.tensor([2, 2]), torch.tensor([0])).sum().backward()
    gradient = model.embedding.weight.grad
    assert gradient is not None
    assert gradient.is_sparse == sparse
    dense = gradient.to_dense() if sparse else gradient
    assert dense.tolist() == [[0, 0], [0, 0], [3, 3], [0, 0]]
