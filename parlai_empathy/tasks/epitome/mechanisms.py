"""EPITOME's three mechanisms of communicating empathy, and the levels of each (Sharma et al. 2020, section 3)."""

from __future__ import annotations

from collections.abc import Mapping

MECHANISMS = ("emotional_reactions", "interpretations", "explorations")
"""Warmth and concern; an understanding of the other's feelings and experiences; questions about what was not said."""

SHORT = {"emotional_reactions": "ER", "interpretations": "IP", "explorations": "EX"}
"""The papers' abbreviations of the mechanisms."""

LEVELS = (0, 1, 2)
"""A reply does not show a mechanism, shows it weakly, or shows it strongly."""


def file_name(mechanism: str) -> str:
    """Return the name of the mechanism's file, as published by its authors."""
    return f"{mechanism.replace('_', '-')}-reddit.csv"


def in_words(levels: Mapping[str, int]) -> str:
    """Return levels by mechanism as a label, ``ER 1, IP 0, EX 2``; for a single mechanism only the level."""
    if len(levels) == 1:
        return str(*levels.values())
    return ", ".join(f"{SHORT[mechanism]} {level}" for mechanism, level in levels.items())
