"""Initialisation from another model's dictionary, or from pretrained vectors."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from parlai_empathy.agents.generative.initialisation import begin_with_vectors, check_words
from parlai_empathy.errors import ModelFileError


def test_vectors_are_rescaled_to_match_random_initialisation(tmp_path: Path) -> None:
    # The mean square of 6, 6, 6, 6 and 2, 2, 2, 2 is 20; random vectors of 4 numbers have 1/4: all times 1 / sqrt(80).
    (tmp_path / "vectors.txt").write_text("dog 6 6 6 6\ncat 2 2 2 2\nelsewhere 1 1 1 1\n")
    weight = torch.full((3, 4), 0.1)
    assert begin_with_vectors(str(tmp_path / "vectors.txt"), {"none": 0, "cat": 1, "dog": 2}, weight) == 2
    assert weight[:, 0].tolist() == pytest.approx([0.1, 2 / 80**0.5, 6 / 80**0.5])


def test_zero_vectors_leave_other_weights_unchanged(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("cat 0 0 0 0\n")
    weight = torch.full((3, 4), 0.1)
    begin_with_vectors(str(tmp_path / "vectors.txt"), {"none": 0, "cat": 1, "dog": 2}, weight)
    assert weight.isfinite().all()
    assert weight[2].tolist() == pytest.approx([0.1] * 4)


def test_vocabulary_size_mismatch_raises_model_file_error() -> None:
    weights = {"embeddings.weight": torch.zeros(1234, 2)}
    check_words(weights, 1234, "a/model")
    check_words({}, 7, "a/model")  # a Hugging Face model: its tokenizer is kept with it
    with pytest.raises(ModelFileError, match=r"^a/model: it has 1,234 words, but its dictionary has 7: "):
        check_words(weights, 7, "a/model")
