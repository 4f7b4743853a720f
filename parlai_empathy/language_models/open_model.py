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
"""A local Hugging Face model; an OpenAI-compatible server; no model, which repeats the last message."""


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
    :param model: ``hf``: a folder, or a name on the hub; ``openai``: the name on the server; ``echo``: anything.
    :param cache: the file in which answers are cached; None: no cache.
    :param device: ``hf``: a torch device; None: the GPU if there is one.
    :param precision: ``hf``: ``auto`` (bfloat16 if the device supports it natively), ``float32`` or ``bfloat16``.
    :param timeout: ``openai``: the time limit for a complete answer, in seconds.
    :param retries: ``openai``: the number of retries of a failed request.
    :param concurrency: the number of prompts processed at once: concurrent requests, or the batch size.
    :param prices: the price of a million tokens read, and of a million written, for the cost in :class:`Usage`.
    :param context_length: the maximum number of tokens of prompt and answer together; not above a local model's own.
    :raises OptionError: if a value is not allowed.
    :raises ModelFileError: if a local model cannot be loaded.
    :raises DataError: if the cache file cannot be used.
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
        raise OptionError(f"--lm-timeout {timeout}: must be a number of seconds above 0")
    if retries < 0:
        raise OptionError(f"--lm-retries {retries}: must be 0 or more")
    if concurrency < 1:
        raise OptionError(f"concurrency {concurrency}: must be 1 or more")
    if context_length is not None and context_length < 1:
        raise OptionError(f"--lm-context-length {context_length}: must be 1 or more")
