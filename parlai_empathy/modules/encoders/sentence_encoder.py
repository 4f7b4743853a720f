"""Sentence embeddings, compared by cosine similarity: MiniLM, or any sentence-transformers model.

The default needs no library except transformers: MiniLM's embedding is the mean of its tokens' hidden states, scaled to
length 1. Other models define their pooling in separate files, which the library sentence-transformers reads.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from tqdm import tqdm

from parlai_empathy.errors import MissingDependencyError, ModelFileError, one_line
from parlai_empathy.files.text_file import as_unicode
from parlai_empathy.files.user_path import user_path
from parlai_empathy.modules.encoders.pair_encoder import TextReader
from parlai_empathy.modules.pretrained.hugging_face import MINILM, is_hub_reachable, load_encoder, load_tokenizer

MINILM_TOKENS = 256
"""MiniLM's maximum number of tokens per text, special tokens included, as in its authors' settings."""

_CHUNK = 256  # texts encoded between two updates of the progress bar
_MANY = 2_000  # number of texts from which on a progress bar is shown

Vectors = NDArray[np.float32]


class SentenceEncoder(Protocol):
    """Encodes texts.

    ``model`` holds the weights, and ``settings`` describes everything else that the vectors depend on: together they
    identify an encoder.
    """

    name: str
    model: nn.Module
    settings: str

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of length 1, ``(n, dim)``. A text that is too long loses its start: its newest turn counts."""


def load_sentence_encoder(name: str, device: str | None = None) -> SentenceEncoder:
    """Load an encoder.

    :param name: :data:`~parlai_empathy.modules.pretrained.hugging_face.MINILM`, or any sentence-transformers model: a
        folder, or a name on the Hugging Face hub.
    :param device: such as ``cpu`` or ``cuda:0``; by default the GPU, if there is one.
    :raises ModelFileError: if the model does not exist, or cannot be read or downloaded.
    :raises MissingDependencyError: if a library is not installed.
    """
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if name != MINILM:
        return LibraryEncoder(name, device)
    try:
        return MiniLM(load_tokenizer(name), load_encoder(name), device)
    except ModelFileError as error:
        raise ModelFileError(str(error).replace("--hf-model", "--sentence-encoder")) from error


class MiniLM:
    """The default encoder (22.7M parameters, vectors of size 384).

    :param tokenizer: MiniLM's tokenizer.
    :param encoder: MiniLM as a Hugging Face model.
    """

    def __init__(self, tokenizer: Any, encoder: Any, device: str) -> None:
        self.name = MINILM
        self.settings = f"mean, last {MINILM_TOKENS} tokens"
        self._reader = TextReader(encoder, "mean").to(device).eval()
        self.model: nn.Module = self._reader
        self._tokenizer = tokenizer
        self._tokenizer.padding_side = "right"
        self._tokenizer.truncation_side = "left"
        self._device = device

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of length 1, ``(n, 384)``, in single precision."""
        vectors = np.zeros((len(texts), self._reader.encoder.config.hidden_size), dtype=np.float32)
        longest_first = np.argsort([-len(text) for text in texts], kind="stable")
        with tqdm(total=len(texts), desc="Encoding", unit=" texts", disable=len(texts) < _MANY) as bar:
            for start in range(0, len(texts), _CHUNK):
                places = longest_first[start : start + _CHUNK]
                vectors[places] = self._read([texts[place] for place in places])
                bar.update(len(places))
        return vectors

    @torch.no_grad()
    def _read(self, texts: list[str]) -> Vectors:
        valid = list(map(as_unicode, texts))
        read = self._tokenizer(valid, truncation=True, max_length=MINILM_TOKENS, padding=True, return_tensors="pt")
        tokens: Tensor = read["input_ids"].to(self._device)
        lengths: Tensor = read["attention_mask"].sum(dim=1).to(self._device)
        vectors = self._reader.vectors(tokens, torch.zeros_like(tokens), lengths)
        unit: Vectors = nn.functional.normalize(vectors, dim=1).cpu().numpy()
        return unit


class LibraryEncoder:
    """A sentence-transformers model, run by that library.

    :param name: a folder, or a name on the Hugging Face hub.
    """

    def __init__(self, name: str, device: str) -> None:
        self.name = name
        self.model, self.settings = _library_model(name, device)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of length 1, ``(n, dim)``, in single precision."""
        vectors: Vectors = self.model.encode(
            list(map(as_unicode, texts)),
            batch_size=32,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=len(texts) >= _MANY,
        )
        return vectors.astype(np.float32, copy=False)


def _library_model(name: str, device: str) -> tuple[Any, str]:
    """Return the model, and a description of what its vectors depend on besides its weights."""
    try:
        import sentence_transformers
    except ImportError as error:
        raise MissingDependencyError(
            f'--sentence-encoder {name} needs sentence-transformers: pip install "parlai-empathy[sentences]"'
        ) from error
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)  # it would log its device
    folder = str(user_path(name))
    is_folder = Path(folder).is_dir()
    try:
        model = sentence_transformers.SentenceTransformer(
            folder if is_folder else name, device=device, local_files_only=not is_folder and not is_hub_reachable()
        )
        if hasattr(model.tokenizer, "truncation_side"):  # those of models without a Transformer have none
            model.tokenizer.truncation_side = "left"
        parts = " ".join(repr(model).split())  # such as the pooling
        prompt = model.prompts.get(model.default_prompt_name or "")
        return model, f"{parts} last {model.max_seq_length} tokens {prompt or ''}"
    except Exception as error:  # the library raises many kinds of errors for unusable models
        raise ModelFileError(
            f"--sentence-encoder {name} cannot be loaded ({one_line(error)}): name a folder with a "
            "sentence-transformers model, or one on the Hugging Face hub, which must be reachable"
        ) from error
