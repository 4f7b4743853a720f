"""Opens a language model by the name of its backend."""

from __future__ import annotations

import math
from pathlib import Path

from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.cache import Cache
from parlai_empathy.language_models.cached_model import CachedModel
from parlai_empathy.language_models.echo import EchoModel
from parlai_empathy.language_models.language_model import Backend, LanguageModel
from parlai_empathy.language_models.server.openai_model import OpenAIModel
from parlai_empathy.language_models.usage import Usage

BACKENDS = ("hf", "openai", "echo")
"""A Hugging Face model on this computer; an OpenAI-compatible server; no model at all, it repeats what was said."""


def open_language_model(
    backend: str,
    model: str,
    *,
    cache: str | Path | None = None,
    device: str | None = None,
    precision: str = "auto",
    timeout: float = 60.0,
    retries: int = 5,
    concurrency: int = 8,
    prices: tuple[float, float] | None = None,
    context_length: int | None = None,
) -> LanguageModel:
    """Open a language model.

    :param backend: one of :data:`BACKENDS`.
    :param model: ``hf``: a folder, or a name on the hub; ``openai``: the name at the server; ``echo``: anything.
    :param cache: a file in which answers are kept and found again; None: none is kept.
    :param device: ``hf``: as torch names it; None is the GPU if there is one.
    :param precision: ``hf``: ``auto`` (bfloat16 where the device is made for it), ``float32`` or ``bfloat16``.
    :param timeout: ``openai``: seconds until a whole answer must be there.
    :param retries: ``openai``: how often a request that failed is repeated.
    :param concurrency: how many prompts are worked at once: requests under way, or prompts in a batch.
    :param prices: of a million tokens read and a million written, for the cost in :class:`Usage`.
    :param context_length: how many tokens prompt and answer may have together, where the model does not say.
    :raises OptionError: if one of these cannot be.
    :raises ModelFileError: if a local model cannot be loaded.
    :raises DataError: if the cache's file cannot be used.
    """
    _check(backend, model, timeout, retries, concurrency, context_length)
    usage = Usage(prices)
    opened: Backend
    if backend == "echo":
        opened = EchoModel(model, context_length, usage)
    elif backend == "openai":
        opened = OpenAIModel(model, timeout, retries, concurrency, context_length, usage)
    else:
        from parlai_empathy.language_models.local.local_model import LocalModel  # torch takes a second to import

        opened = LocalModel(model, device, precision, concurrency, context_length, usage)
    return CachedModel(opened, Cache(cache)) if cache is not None else opened


def _check(
    backend: str, model: str, timeout: float, retries: int, concurrency: int, context_length: int | None
) -> None:
    if backend not in BACKENDS:
        raise OptionError(f"--lm-backend {backend}: must be one of {', '.join(BACKENDS)}")
    if not model and backend != "echo":
        raise OptionError(f"--lm-model is missing: --lm-backend {backend} needs the name of a model")
    if not (timeout > 0 and math.isfinite(timeout)):
        raise OptionError(f"--lm-timeout {timeout}: must be seconds, more than 0")
    if retries < 0:
        raise OptionError(f"--lm-retries {retries}: must be 0 or more")
    if concurrency < 1:
        raise OptionError(f"concurrency {concurrency}: must be 1 or more")
    if context_length is not None and context_length < 1:
        raise OptionError(f"--lm-context-length {context_length}: must be 1 or more")
