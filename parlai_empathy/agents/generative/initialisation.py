"""Initialising the vocabulary from another model, or its embeddings from pretrained vectors."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from parlai_empathy.errors import ModelFileError
from parlai_empathy.modules.pretrained.vectors import copy_vectors


def check_words(weights: Mapping[str, Tensor], words: int, path: str) -> None:
    """Raise :class:`ModelFileError` if a model's vocabulary size does not match its dictionary.

    :param weights: from the model file.
    :param words: size of the dictionary.
    """
    rows = weights.get("embeddings.weight")
    if rows is not None and len(rows) != words:
        raise ModelFileError(
            f"{path}: it has {len(rows):,} words, but its dictionary has {words:,}: "
            f"put the dictionary that it was trained with into {path}.dict"
        )


def begin_with_vectors(path: str, ids: Mapping[str, int], weight: Tensor) -> int:
    """Copy word vectors from a file, scaled together to the magnitude of random ones.

    The model also scores the next word with these vectors. With magnitudes like GloVe's it would be overconfident
    before it has learnt anything.

    :param ids: words to rows.
    :param weight: ``(vocabulary, dim)``, changed in place.
    :returns: number of words found.
    :raises ModelFileError: as :func:`parlai_empathy.modules.pretrained.vectors.copy_vectors`.
    """
    before = weight.detach().clone()
    found = copy_vectors(path, ids, weight)
    with torch.no_grad():
        rows = (weight != before).any(dim=1)
        size = weight[rows].square().mean().sqrt()
        if size > 0:
            weight[rows] *= weight.size(1) ** -0.5 / size
    return found
