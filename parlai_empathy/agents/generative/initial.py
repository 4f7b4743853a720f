"""Beginning with another model's words, or with ready-made vectors of them."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from parlai_empathy.errors import ModelFileError
from parlai_empathy.modules.vectors import copy_vectors


def check_words(weights: Mapping[str, Tensor], words: int, path: str) -> None:
    """Raise :class:`ModelFileError` for a model of other words.

    :param weights: of the model's file.
    :param words: how many its dictionary holds.
    """
    rows = weights.get("embeddings.weight")
    if rows is not None and len(rows) != words:
        raise ModelFileError(
            f"{path}: it knows {len(rows):,} words, and its dictionary holds {words:,}: "
            f"put the dictionary that it was trained with into {path}.dict"
        )


def begin_with_vectors(path: str, ids: Mapping[str, int], weight: Tensor) -> int:
    """Copy word vectors from a file, and bring them all together to the size of random ones.

    The model also scores the next word with these vectors. With numbers as large as GloVe's it would be sure of a word
    before it has learnt anything.

    :param ids: words to rows.
    :param weight: ``(vocabulary, dim)``, changed in place.
    :returns: how many words were found.
    :raises ModelFileError: as :func:`parlai_empathy.modules.vectors.copy_vectors`.
    """
    before = weight.detach().clone()
    found = copy_vectors(path, ids, weight)
    with torch.no_grad():
        rows = (weight != before).any(dim=1)
        size = weight[rows].square().mean().sqrt()
        if size > 0:  # also false where nothing was found
            weight[rows] *= weight.size(1) ** -0.5 / size
    return found
