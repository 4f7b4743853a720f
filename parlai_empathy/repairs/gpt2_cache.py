"""transformers 5 passes a ``Cache`` object to GPT-2 where ParlAI expects tuples."""

from __future__ import annotations

from types import ModuleType
from typing import Any


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
