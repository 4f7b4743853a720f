"""Searches for replies that fail in ParlAI.

``--inference delayednucleusbeam`` samples with a method of another class, but lacks that method's helpers. And
transformers 5 passes a ``Cache`` object to GPT-2 where ParlAI expects tuples, and has named it anew since 5.24.
"""

from __future__ import annotations

import functools
import inspect
from types import ModuleType
from typing import Any


def lend_nucleus_helpers(torch_generator_agent: Any) -> None:
    """Give the search the two methods that nucleus sampling calls."""
    delayed, nucleus = torch_generator_agent.DelayedNucleusBeamSearch, torch_generator_agent.NucleusSampling
    delayed.get_mask, delayed.update_p = nucleus.get_mask, nucleus.update_p


def reorder_gpt2_cache(gpt2: ModuleType) -> None:
    """Let beam search reorder the key-value cache of current transformers."""
    decoder = gpt2.HFGPT2Model
    reorder_tuples = decoder.reorder_decoder_incremental_state

    def reorder_decoder_incremental_state(self: Any, incremental_state: Any, inds: Any) -> Any:
        if hasattr(incremental_state, "reorder_cache"):
            incremental_state.reorder_cache(inds)
            return incremental_state
        return reorder_tuples(self, incremental_state, inds)

    decoder.reorder_decoder_incremental_state = reorder_decoder_incremental_state


def rename_gpt2_cache(gpt2: ModuleType) -> None:
    """Pass the cache as ``cache`` where transformers calls it so: ParlAI uses its former name, ``past_key_values``."""
    build = gpt2.GPT2Decoder.__init__

    @functools.wraps(build)
    def __init__(self: Any, *args: Any, **options: Any) -> None:
        build(self, *args, **options)
        if "cache" in inspect.signature(self.transformer.forward).parameters:
            self.transformer.register_forward_pre_hook(_renamed, with_kwargs=True)

    gpt2.GPT2Decoder.__init__ = __init__


def _renamed(_: Any, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if "past_key_values" in named:
        named["cache"] = named.pop("past_key_values")
    return args, named
