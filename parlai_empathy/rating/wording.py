"""Numbers with their nouns, as people read them."""

from __future__ import annotations


def counted(many: float, noun: str) -> str:
    """Return a number and its noun, which gets an -s unless the number is 1: ``1 minute``, ``2,000 messages``."""
    return f"{many:,.12g} {noun}{'' if many == 1 else 's'}"
