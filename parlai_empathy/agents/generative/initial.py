"""Beginning with another model, or with ready-made word vectors: what has to fit, and what comes along."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path

import parlai.utils.logging as logging
import torch
from parlai.core.opt import Opt
from torch import Tensor

from parlai_empathy.errors import ModelFileError
from parlai_empathy.modules.vectors import copy_vectors

# How texts become tokens: a model that learnt it one way cannot be asked in another.
_READING = ("hf_model", "hf_kind", "dict_tokenizer", "dict_lower", "dict_maxtokens", "dict_minfreq")


def with_dictionary_of(opt: Opt, init_model: str) -> Opt:
    """The options with what ``--init-model`` says of its tokens: its dictionary is what the new model has.

    :param init_model: its ``.opt`` is read, if there is one.
    """
    opt = copy.deepcopy(opt)
    if not Path(f"{init_model}.opt").is_file():
        return opt
    theirs = Opt.load(f"{init_model}.opt")
    for name in _READING:
        if name in theirs and theirs[name] != opt.get(name):
            logging.info(f"--{name.replace('_', '-')} {theirs[name]}: as --init-model {init_model} has it")
            opt[name] = theirs[name]
    return opt


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

    The same vectors score the next word: as large as GloVe's are, they would be sure of it before anything is learnt.

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
