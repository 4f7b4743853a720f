"""Weights of a model with a smaller dictionary."""

from __future__ import annotations

import torch

from parlai_empathy.agents.prepend.labels import with_new_words

OWN = {"words": torch.zeros(5, 2), "shared": torch.zeros(5, 2), "layer": torch.zeros(4, 2), "bias": torch.zeros(5)}


def test_enlarged_word_tables_keep_own_rows_for_new_words() -> None:
    theirs = {"words": torch.ones(3, 2), "shared": torch.ones(3, 2), "layer": torch.ones(4, 2), "bias": torch.ones(5)}
    found = with_new_words(theirs, OWN, count=2)
    for name in ("words", "shared"):
        assert found[name].tolist() == [[1, 1]] * 3 + [[0, 0]] * 2
    assert torch.equal(found["layer"], theirs["layer"])
    assert torch.equal(found["bias"], theirs["bias"])


def test_weights_are_unchanged_without_new_words() -> None:
    theirs = {"words": torch.ones(5, 2), "stranger": torch.ones(3, 2)}
    found = with_new_words(theirs, OWN, count=0)
    assert all(torch.equal(found[name], theirs[name]) for name in theirs)


def test_table_of_unexpected_size_is_left_unchanged() -> None:
    """A mismatch is left for the loader to report."""
    assert len(with_new_words({"words": torch.ones(2, 2)}, OWN, count=2)["words"]) == 2
