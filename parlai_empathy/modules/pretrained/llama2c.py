"""Conversion of llama2.c models, such as stories260K.bin, to Hugging Face models.

llama2.c (https://github.com/karpathy/llama2.c) trains small Llamas and stores each in two files: the weights, without
their names (its "legacy" format, version 0), and the tokenizer. This module converts them to a folder that any Hugging
Face program can load::

    python -m parlai_empathy.modules.pretrained.llama2c stories260K.bin tok512.bin stories260K
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from parlai_empathy.errors import EmpathyError, ModelFileError, one_line
from parlai_empathy.modules.pretrained.hugging_face import transformers_library
from parlai_empathy.modules.pretrained.llama2c_tokenizer import BEGIN, END, UNKNOWN, read_tokenizer

_HEADER = struct.Struct("<7i")
_NUMBER = np.dtype("<f4")
_LARGEST = 2**24  # a greater number in the header means another kind of file


@dataclass(frozen=True)
class Sizes:
    """The header of a model file: seven four-byte integers.

    :param vocab_size: negative in the file if embedding and classifier are separate matrices.
    """

    dim: int
    hidden_dim: int
    n_layers: int
    n_heads: int
    n_kv_heads: int
    vocab_size: int
    seq_len: int

    @property
    def head_dim(self) -> int:
        """The size of an attention head."""
        return self.dim // self.n_heads

    @property
    def kv_dim(self) -> int:
        """The total size of all keys."""
        return self.n_kv_heads * self.head_dim


def convert(model: str | Path, tokenizer: str | Path, folder: str | Path) -> None:
    """Convert a llama2.c model to a Hugging Face Llama.

    :param model: a llama2.c model in the legacy format.
    :param tokenizer: the tokenizer of that model.
    :param folder: output folder for config.json, model.safetensors and tokenizer.json; created if missing.
    :raises ModelFileError: if a file cannot be read or written, is truncated or of another kind, or if model and
        tokenizer do not match.
    """
    library = transformers_library()
    sizes, weights = read_model(Path(model))
    words = read_tokenizer(Path(tokenizer))
    if words.vocab_size != sizes.vocab_size:
        raise ModelFileError(
            f"{tokenizer} has {words.vocab_size} pieces, but {model} has a vocabulary of {sizes.vocab_size}: name the "
            "tokenizer that it was trained with"
        )
    library.logging.disable_progress_bar()
    llama = library.LlamaForCausalLM(_config(library, sizes, tied="lm_head.weight" not in weights))
    llama.load_state_dict({"lm_head.weight": weights["model.embed_tokens.weight"], **weights})
    try:
        llama.save_pretrained(folder)
        words.save_pretrained(folder)
    except Exception as error:  # safetensors and tokenizers have errors of their own
        reason = getattr(error, "strerror", None) or one_line(error)
        raise ModelFileError(f"{folder} cannot be written ({reason}): name another folder") from error


def _config(library: Any, sizes: Sizes, tied: bool) -> Any:
    return library.LlamaConfig(
        vocab_size=sizes.vocab_size,
        hidden_size=sizes.dim,
        intermediate_size=sizes.hidden_dim,
        num_hidden_layers=sizes.n_layers,
        num_attention_heads=sizes.n_heads,
        num_key_value_heads=sizes.n_kv_heads,
        max_position_embeddings=sizes.seq_len,
        rms_norm_eps=1e-5,
        tie_word_embeddings=tied,
        bos_token_id=BEGIN,
        eos_token_id=END,
        unk_token_id=UNKNOWN,
    )


def read_model(path: Path) -> tuple[Sizes, dict[str, Tensor]]:
    """Read the weights of a model file, under the names that Hugging Face's Llama uses.

    :returns: the header, with a positive ``vocab_size``, and the weights; ``lm_head.weight`` only if it is separate
        from the embedding.
    :raises ModelFileError: if the file cannot be read, is truncated, or is of another kind.
    """
    content = _content(path)
    sizes, shared = _header(path, content)
    layout = [(name, shape, math.prod(shape)) for name, shape in _layout(sizes, shared)]
    expected = _HEADER.size + _NUMBER.itemsize * sum(count for _, _, count in layout)
    if len(content) != expected:
        raise ModelFileError(
            f"{path} has {len(content)} bytes, but by its header it should have {expected}: fetch the file again"
        )
    weights: dict[str, Tensor] = {}
    place = _HEADER.size
    for name, shape, count in layout:
        values = np.frombuffer(content, _NUMBER, count, offset=place).reshape(shape).astype(np.float32)
        weights.update(_named(name, values, sizes))
        place += values.nbytes
    return sizes, weights


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read ({error.strerror}): name a llama2.c model") from error


def _header(path: Path, content: bytes) -> tuple[Sizes, bool]:
    """Return the header with a positive ``vocab_size``, and whether embedding and classifier share one matrix."""
    if len(content) < _HEADER.size:
        raise ModelFileError(f"{path} is too short for a llama2.c model: fetch the file again")
    *numbers, vocab_size, seq_len = _HEADER.unpack_from(content)
    sizes = Sizes(*(*numbers, abs(vocab_size), seq_len))
    fits = all(0 < number < _LARGEST for number in astuple(sizes)) and (
        sizes.dim % sizes.n_heads == 0 and sizes.n_heads % sizes.n_kv_heads == 0 and sizes.head_dim % 2 == 0
    )
    if not fits:
        raise ModelFileError(
            f"{path} is not a llama2.c model in the legacy format (version 0): export it in that format"
        )
    return sizes, vocab_size > 0


def _layout(sizes: Sizes, shared: bool) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the name and shape of each entry of the file, in order. Entries with an empty name are skipped."""
    layers, dim, hidden = sizes.n_layers, sizes.dim, sizes.hidden_dim
    yield "model.embed_tokens", (sizes.vocab_size, dim)
    yield "input_layernorm", (layers, dim)
    yield "self_attn.q_proj", (layers, dim, dim)
    yield "self_attn.k_proj", (layers, sizes.kv_dim, dim)
    yield "self_attn.v_proj", (layers, sizes.kv_dim, dim)
    yield "self_attn.o_proj", (layers, dim, dim)
    yield "post_attention_layernorm", (layers, dim)
    yield "mlp.gate_proj", (layers, hidden, dim)
    yield "mlp.down_proj", (layers, dim, hidden)
    yield "mlp.up_proj", (layers, hidden, dim)
    yield "model.norm", (dim,)
    # Cosines and sines of the positions; Hugging Face computes them itself.
    yield "", (2, sizes.seq_len, sizes.head_dim // 2)
    if not shared:
        yield "lm_head", (sizes.vocab_size, dim)


def _named(name: str, values: NDArray[np.float32], sizes: Sizes) -> Iterator[tuple[str, Tensor]]:
    """Yield one entry of the file as Hugging Face weights: an entry for all layers is split into one per layer."""
    if not name:
        return
    whole = torch.from_numpy(values)
    if name.startswith(("model.", "lm_head")):
        yield f"{name}.weight", whole
        return
    heads = {"self_attn.q_proj": sizes.n_heads, "self_attn.k_proj": sizes.n_kv_heads}.get(name)
    for layer, weight in enumerate(whole):
        yield f"model.layers.{layer}.{name}.weight", weight if heads is None else _halves(weight, heads)


def _halves(weight: Tensor, heads: int) -> Tensor:
    """Reorder rows, ``(heads * head_dim, dim)``, for Hugging Face's layout of rotary position embeddings.

    llama2.c rotates pairs of adjacent dimensions of a head, Hugging Face the dimensions i and i + head_dim / 2.
    """
    return weight.view(heads, -1, 2, weight.size(1)).transpose(1, 2).reshape(weight.shape).contiguous()


def main(arguments: list[str]) -> int:
    """Convert the files given on the command line."""
    if len(arguments) != 3:
        print(
            "usage: python -m parlai_empathy.modules.pretrained.llama2c MODEL.bin TOKENIZER.bin FOLDER", file=sys.stderr
        )
        return 2
    try:
        convert(*arguments)
    except EmpathyError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The model is in {arguments[2]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
