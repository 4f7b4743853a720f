"""EPITOME's three mechanisms of communicating empathy, and the levels of each (Sharma et al. 2020, section 3)."""

from __future__ import annotations

from collections.abc import Mapping

MECHANISMS = ("emotional_reactions", "interpretations", "explorations")
"""Warmth and concern; an understanding of the other's feelings and experiences; questions about what was not said."""

SHORT = {"emotional_reactions": "ER", "interpretations": "IP", "explorations": "EX"}
"""The papers' names of the mechanisms."""

LEVELS = (0, 1, 2)
"""A reply shows nothing of a mechanism, shows it weakly, or strongly."""


def file_name(mechanism: str) -> str:
    """The name of the mechanism's file, as its authors publish it."""
    return f"{mechanism.replace('_', '-')}-reddit.csv"


def in_words(levels: Mapping[str, int]) -> str:
    """Levels by mechanism, as a label says them: ``ER 1, IP 0, EX 2``; of a single mechanism the level alone."""
    if len(levels) == 1:
        return str(*levels.values())
    return ", ".join(f"{SHORT[mechanism]} {level}" for mechanism, level in levels.items())
