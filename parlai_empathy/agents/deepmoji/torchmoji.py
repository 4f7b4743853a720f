"""DeepMoji's published weights, in torchMoji's format: ``pytorch_model.bin`` and ``vocabulary.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from parlai_empathy.agents.deepmoji.words import MASK, UNKNOWN
from parlai_empathy.errors import ModelFileError, one_line
from parlai_empathy.files.user_path import user_path

WEIGHTS, VOCABULARY = "pytorch_model.bin", "vocabulary.json"

_KINDS = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
_LSTM = tuple(f"{kind}{direction}" for kind in _KINDS for direction in ("", "_reverse"))


@dataclass(frozen=True)
class TorchMoji:
    """The published model without its last layer, which predicts emoji.

    :param words: in the order of their indices.
    :param weights: by parameter name in our :class:`parlai_empathy.modules.classifiers.deepmoji.DeepMoji`.
    """

    words: list[str]
    weights: dict[str, Tensor]

    @property
    def embedding_size(self) -> int:
        """Dimension of the word vectors."""
        return self.weights["embedding.weight"].size(1)

    @property
    def hidden_size(self) -> int:
        """Units of each LSTM in each direction."""
        return self.weights["lstm_0.weight_hh_l0"].size(1)


def read_vocabulary(folder: str | Path) -> list[str]:
    """Read the published vocabulary, in the order of its indices.

    :raises ModelFileError: if the file is missing or damaged.
    """
    path = user_path(folder) / VOCABULARY
    try:
        numbers = json.loads(path.read_text(encoding="utf-8"))
        words = sorted(numbers, key=numbers.__getitem__)
        if [numbers[word] for word in words] != list(range(len(words))) or words[:2] != [MASK, UNKNOWN]:
            raise ValueError(f"its words are not numbered from 0, beginning with {MASK} and {UNKNOWN}")
    except (OSError, AttributeError, TypeError, ValueError) as error:
        raise _wrong(path, error) from error
    return words


def read_torchmoji(folder: str | Path) -> TorchMoji:
    """Read the published model, without executing any code in it.

    :raises ModelFileError: if a file is missing or damaged, or if the two do not belong together.
    """
    words = read_vocabulary(folder)
    path = user_path(folder) / WEIGHTS
    try:
        saved: Any = torch.load(path, map_location="cpu", weights_only=True)
        return TorchMoji(words, _ours(saved, len(words)))
    except KeyError as error:
        raise ModelFileError(f"{path} lacks {error.args[0]}: it is not a torchMoji model") from error
    except Exception as error:  # torch raises a different error for each kind of damage
        raise _wrong(path, error) from error


def _ours(saved: Mapping[str, Tensor], words: int) -> dict[str, Tensor]:
    embedding = saved["embed.weight"]
    dim, hidden = embedding.size(1), saved["lstm_0.weight_hh_l0"].size(1)
    weights = {"embedding.weight": embedding[:words], "attention.vector": saved["attention_layer.attention_vector"]}
    for layer, inputs in (("lstm_0", dim), ("lstm_1", 2 * hidden)):
        for name in _LSTM:
            weights[f"{layer}.{name}"] = weight = saved[f"{layer}.{name}"]
            columns = (inputs,) if "_ih_" in name else (hidden,)
            _check_shape(f"{layer}.{name}", weight, (4 * hidden, *(() if "bias" in name else columns)))
    _check_shape("attention_layer.attention_vector", weights["attention.vector"], (4 * hidden + dim,))
    if len(embedding) < words:
        raise ValueError(f"embed.weight has {len(embedding):,} words, but {VOCABULARY} {words:,}")
    return {name: weight.float() for name, weight in weights.items()}


def _check_shape(name: str, weight: Tensor, shape: tuple[int, ...]) -> None:
    if tuple(weight.shape) != shape:
        raise ValueError(f"{name} is {tuple(weight.shape)}, not {shape}")


def _wrong(path: Path, error: Exception) -> ModelFileError:
    return ModelFileError(
        f"--deepmoji-weights: {path} cannot be used ({one_line(error)}): name a folder with torchMoji's {WEIGHTS} and "
        f"{VOCABULARY}"
    )
