"""Rules for the messages that people write."""

from __future__ import annotations

from parlai_empathy.rating.web.limits import Rate

OFTEN = Rate(per_minute=20, at_once=8)
"""The default rate limit for one visitor's messages."""

DISTRESS = "distress"
"""Key in a message's details: the message mentions self-harm."""


def problem_of(text: str, longest: int) -> str:
    """Return what is wrong with a message, for whoever wrote it; empty if nothing is."""
    if not text:
        return "Write something first."
    if len(text) > longest:
        return f"Write at most {longest:,} characters; this is {len(text):,}."
    if "\0" in text:
        return "This contains a character that cannot be stored. Write it without that character."
    return ""
