"""``--inference delayednucleusbeam`` samples with a method of another class, but lacks that method's helpers."""

from __future__ import annotations

from typing import Any


def lend_nucleus_helpers(torch_generator_agent: Any) -> None:
    """Give the search the two methods that nucleus sampling calls."""
    delayed, nucleus = torch_generator_agent.DelayedNucleusBeamSearch, torch_generator_agent.NucleusSampling
    delayed.get_mask, delayed.update_p = nucleus.get_mask, nucleus.update_p
