"""Reads the EmpatheticDialogues authors' checkpoints (``.mdl``) and converts them to this package's models.

Such a file is a pickled dictionary: ``state_dict``, the weights; ``word_dict``, with ``words`` (word to index) and, for
BERT, its tokenizer; ``opt``, the command line; and the optimiser state. Only tensors and plain data are created:
a command line or a tokenizer is loaded as an empty object with its attributes, and no code is run.

With converted weights our models compute the same as the authors', up to rounding:

- Their Transformer does not scale its word embeddings; ours multiplies them by the square root of their size, so the
  converted ones are divided by it. (In further training their effective learning rate therefore differs.)
- With ``--normalize-sent-emb`` their vectors have length 1; ours do at a temperature of 1.
- Dropout, which the paper does not use, is applied in other places.

Preprocessing is not part of the weights; the caller must reproduce it: their words (:func:`their_words`), ``<SOC>``
between turns, and for BERT word pieces without ``[CLS]`` and ``[SEP]``, so that a text's vector is that of its first
word piece.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from parlai_empathy.errors import ModelFileError, one_line

PAD, UNKNOWN, BETWEEN_TURNS = "<PAD>", "<UNK>", "<SOC>"
"""A published Transformer's tokens for padding, for unknown words, and between turns."""

_TOWERS = {"contexts": "ctx", "replies": "cand"}  # our names and theirs
# Their names for entries of BERT's vocabulary, and BERT's own names, which are restored here.
_BERTS_OWN = {
    "<UNK>": "[UNK]",
    "<PAD>": "[PAD]",
    "<EOC>": "[SEP]",
    "<SOC>": "[unused1]",
    "__PAD__": "[unused2]",
    "<PER>": "[unused3]",
}


class _Attributes:
    """Stands in for an object in their file: it has the attributes but none of the methods."""


_TOKENIZERS = ("BertTokenizer", "BasicTokenizer", "WordpieceTokenizer")
_SAFE: list[Any] = [
    argparse.Namespace,
    *((_Attributes, f"pytorch_pretrained_bert.tokenization.{name}") for name in _TOKENIZERS),
]


@dataclass(frozen=True)
class Published:
    """A published retrieval model in terms of our modules.

    :param kind: ``transformer``, whose weights fit ``BiEncoder(len(words), words.index(PAD), **sizes)``; or ``bert``,
        whose weights fit a ``PretrainedBiEncoder`` of two towers.
    :param words: in the order of their indices.
    :param sizes: for a Transformer, the keyword arguments of ``BiEncoder``. For a BERT, ``config``, the arguments of
        Hugging Face's ``BertConfig``; and ``pooling``, ``projection`` and ``length``, arguments of ``PretrainedTower``.
    :param weights: by parameter name in our modules.
    """

    kind: str
    words: list[str]
    sizes: dict[str, Any]
    weights: dict[str, Tensor]


def read_published(path: str | Path) -> Published:
    """Read a checkpoint of the paper's authors, without executing any code in it.

    :raises ModelFileError: if it is missing, damaged, not such a checkpoint, or of an unsupported kind.
    """
    saved = _load(path)
    state, words, opt = _parts(path, saved)
    try:
        if any(".bert_model." in name for name in state):
            return _bert(state, words, opt)
        return _transformer(state, words, opt)
    except KeyError as error:
        raise ModelFileError(f"{path} lacks {error.args[0]}: it is not a retrieval checkpoint of the paper") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is not a retrieval checkpoint of the paper: {one_line(error)}") from error


def their_words(text: str) -> list[str]:
    """Split a text into words as their Transformers do: case is kept; punctuation and apostrophes are separate words.

    More than four consecutive spaces leave empty words, which the model treats as unknown.
    """
    spaced = re.sub(r"([.,;:!'?])", r" \1 ", text)
    return spaced.replace("  ", " ").replace("  ", " ").strip().split(" ")


# --- the file --------------------------------------------------------------------------------------------------------


def _load(path: str | Path) -> Any:
    try:
        with torch.serialization.safe_globals(_SAFE):
            return torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read ({error.strerror}): name a checkpoint (.mdl)") from error
    except Exception as error:  # torch raises a different error for each kind of damage
        raise ModelFileError(
            f"{path} is damaged, or holds more than tensors and plain data ({one_line(error)}): fetch it again"
        ) from error


def _parts(path: str | Path, saved: Any) -> tuple[dict[str, Tensor], list[str], dict[str, Any]]:
    """Return the weights, the words in the order of their indices, and the options."""
    if not isinstance(saved, Mapping) or (missing := {"state_dict", "word_dict", "opt"} - set(saved)):
        lacking = f"lacks {min(missing)}" if isinstance(saved, Mapping) else "holds no dictionary"
        raise ModelFileError(f"{path} {lacking}: it is not a retrieval checkpoint of the paper")
    state, numbers, opt = saved["state_dict"], saved["word_dict"], saved["opt"]
    if not isinstance(state, Mapping) or not all(isinstance(weight, Tensor) for weight in state.values()):
        raise ModelFileError(f"{path}: its state_dict holds more than tensors: fetch it again")
    numbers = numbers.get("words") if isinstance(numbers, Mapping) else None
    if not isinstance(numbers, Mapping) or not _are_numbers(numbers.values()):
        raise ModelFileError(f"{path}: the words of its word_dict are not numbered from 0: fetch it again")
    options = dict(opt) if isinstance(opt, Mapping) else dict(vars(opt)) if hasattr(opt, "__dict__") else {}
    return dict(state), sorted(numbers, key=numbers.__getitem__), options


def _are_numbers(values: Any) -> bool:
    """Whether they are 0, 1, 2 and so on, in any order."""
    values = list(values)
    return all(isinstance(value, int) for value in values) and sorted(values) == list(range(len(values)))


# --- the Transformer -------------------------------------------------------------------------------------------------


def _transformer(state: Mapping[str, Tensor], words: list[str], opt: Mapping[str, Any]) -> Published:
    embedding = _shaped(state, "embeddings.weight", len(words), None)
    dim = embedding.size(1)
    layers = _count(state, "ctx_transformer.attentions")
    heads = int(opt["transformer_n_heads"])
    if PAD not in words or UNKNOWN not in words:
        raise KeyError(f"the word {PAD} or {UNKNOWN}")
    if layers < 1 or heads < 1 or dim % heads:
        raise ValueError(f"{layers} layers and {heads} heads for vectors of {dim} numbers")
    weights = {"embedding.weight": embedding / dim**0.5}
    for ours, theirs in _TOWERS.items():
        tower = _tower(state, f"{theirs}_transformer", layers, dim)
        weights.update({f"{ours}.{name}": weight for name, weight in tower.items()})
        weights[f"{ours}.embedding.weight"] = weights["embedding.weight"]
    sizes = {
        "embedding_size": dim,
        "n_layers": layers,
        "n_heads": heads,
        "ffn_size": weights["contexts.layers.0.linear1.weight"].size(0),
        "n_positions": weights["contexts.positions"].size(0),
        "dropout": float(opt.get("transformer_dropout") or 0),
        "temperature": 1.0 if opt.get("normalize_sent_emb") else None,
    }
    return Published("transformer", words, sizes, weights)


def _tower(state: Mapping[str, Tensor], prefix: str, layers: int, dim: int) -> dict[str, Tensor]:
    """Return one tower's weights under the names of our :class:`TransformerEncoder`."""
    weights = {"positions": _shaped(state, f"{prefix}.position_embeddings.weight", None, dim)}
    hidden = _shaped(state, f"{prefix}.ffns.0.lin1.weight", None, dim).size(0)
    for number in range(layers):
        attention, ffn = f"{prefix}.attentions.{number}", f"{prefix}.ffns.{number}"
        for kind, shape in (("weight", (dim, dim)), ("bias", (dim,))):
            parts = [_shaped(state, f"{attention}.{part}_lin.{kind}", *shape) for part in "qkv"]
            weights[f"layers.{number}.self_attn.in_proj_{kind}"] = torch.cat(parts)
            weights[f"layers.{number}.self_attn.out_proj.{kind}"] = _shaped(
                state, f"{attention}.out_lin.{kind}", *shape
            )
            for norm in (1, 2):
                name = f"{prefix}.layer_norm{norm}.{number}.{kind}"
                weights[f"layers.{number}.norm{norm}.{kind}"] = _shaped(state, name, dim)
        weights[f"layers.{number}.linear1.weight"] = _shaped(state, f"{ffn}.lin1.weight", hidden, dim)
        weights[f"layers.{number}.linear1.bias"] = _shaped(state, f"{ffn}.lin1.bias", hidden)
        weights[f"layers.{number}.linear2.weight"] = _shaped(state, f"{ffn}.lin2.weight", dim, hidden)
        weights[f"layers.{number}.linear2.bias"] = _shaped(state, f"{ffn}.lin2.bias", dim)
    return weights


# --- BERT ------------------------------------------------------------------------------------------------------------


def _bert(state: Mapping[str, Tensor], words: list[str], opt: Mapping[str, Any]) -> Published:
    if any(".additional_transformer_layer." in name for name in state):
        raise ValueError("it has --bert-add-transformer-layer, unsupported here and unused in the paper")
    weights: dict[str, Tensor] = {}
    for ours, theirs in _TOWERS.items():
        prefix = f"{theirs}_bert.bert_model."
        for name, weight in state.items():
            if name.startswith(prefix):
                # The library's first releases used TensorFlow's names for layer norm parameters.
                own = name.removeprefix(prefix).replace(".gamma", ".weight").replace(".beta", ".bias")
                weights[f"{ours}.encoder.{own}"] = weight
        for kind in ("weight", "bias"):
            weights[f"{ours}.projection.{kind}"] = state[f"{theirs}_bert.additional_linear_layer.{kind}"]
    config = _bert_config(weights, len(words))
    length = 1.0 if opt.get("normalize_sent_emb") else None
    projection = weights["contexts.projection.weight"].size(0)
    sizes = {"config": config, "pooling": "first", "projection": projection, "length": length}
    return Published("bert", [_BERTS_OWN.get(word, word) for word in words], sizes, weights)


def _bert_config(weights: Mapping[str, Tensor], words: int) -> dict[str, Any]:
    embeddings = "contexts.encoder.embeddings"
    hidden = _shaped(weights, f"{embeddings}.word_embeddings.weight", words, None).size(1)
    inner = _shaped(weights, "contexts.encoder.encoder.layer.0.intermediate.dense.weight", None, hidden)
    return {
        "vocab_size": words,
        "hidden_size": hidden,
        "num_hidden_layers": _count(weights, "contexts.encoder.encoder.layer"),
        "num_attention_heads": max(1, hidden // 64),  # true of all BERT sizes; the weights do not determine it
        "intermediate_size": inner.size(0),
        "max_position_embeddings": weights[f"{embeddings}.position_embeddings.weight"].size(0),
        "type_vocab_size": weights[f"{embeddings}.token_type_embeddings.weight"].size(0),
    }


# --- both ------------------------------------------------------------------------------------------------------------


def _shaped(weights: Mapping[str, Tensor], name: str, *shape: int | None) -> Tensor:
    """Return the weight after checking its shape; None matches any size."""
    weight = weights[name]
    if weight.dim() != len(shape) or any(
        size not in (None, own) for size, own in zip(shape, weight.shape, strict=True)
    ):
        wanted = " x ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} is {' x '.join(map(str, weight.shape))}, not {wanted}")
    return weight.float()


def _count(weights: Mapping[str, Tensor], prefix: str) -> int:
    """Return the number of layers under a prefix."""
    found = (re.match(rf"{re.escape(prefix)}\.(\d+)\.", name) for name in weights)
    return max((int(match[1]) + 1 for match in found if match), default=0)
