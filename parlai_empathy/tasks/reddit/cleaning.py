"""Clean a post's text, and find the flaws that make a post unusable. Pure functions."""

from __future__ import annotations

import re

# Reddit stores these three as entities. People type those of BLANKS, which Reddit shows as a space or as nothing.
ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
BLANKS = re.compile(r"&nbsp;|&#x200B;|\u200b", re.IGNORECASE)
LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
ADDRESS = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
QUOTED_LINE = re.compile(r"^[^\S\n]*>(?:[^!\n].*)?$", re.MULTILINE)  # >! begins a spoiler
DELETED_LINE = re.compile(
    r"^[^\S\n]*\[ ?(?:deleted|removed)(?: by (?:user|reddit|moderator))? ?\][^\S\n]*$", re.IGNORECASE | re.MULTILINE
)
BOT_NAME = re.compile(r"AutoModerator|[\w-]*[_-]bot\d*|[\w-]*[a-z0-9]Bot\d*|bot[_-][\w-]*", re.ASCII)
BOT_WORDS = re.compile(r"\bI(?:'| a)m\s+a\s+(?:ro)?bot\b|\bperformed automatically\b|\bbeep boop\b", re.IGNORECASE)
CHARACTERS_A_WORD = 20  # assumed length of a word, to limit the length of texts without spaces


def decoded(text: str) -> str:
    """Return a post's text with Reddit's entities decoded. The functions below expect decoded texts."""
    for entity, character in ENTITIES.items():  # & last: "&amp;lt;" stands for a literal "&lt;"
        text = text.replace(entity, character)
    return BLANKS.sub(" ", text)


def clean(text: str) -> str:
    """Return the text with links in brackets replaced by their texts, and single spaces between words."""
    return " ".join(LINK.sub(r"\1", text).split())


def flaw_of(text: str, author: str) -> str | None:
    """Return why a post can be neither a label nor a context; None if it has no flaw.

    ``deleted`` (or removed), ``empty``, ``by a bot``, ``links only``, or ``quotes only``.
    """
    left = DELETED_LINE.sub("", text).strip()
    if not left:
        return "deleted" if text.strip() else "empty"
    if BOT_NAME.fullmatch(author) or BOT_WORDS.search(left.replace("^", "")):
        return "by a bot"
    if not _has_words(_unlinked(left)):
        return "links only" if ADDRESS.search(left) or LINK.search(left) else "empty"
    if not _has_words(_unlinked(QUOTED_LINE.sub("", left))):
        return "quotes only"
    return None


def reply_flaw_of(text: str, min_words: int, max_words: int) -> str | None:
    """Return why a comment without other flaws cannot be a label; None if it can.

    ``quote``: it has a quoted line, without which it is hard to understand. ``too short``, ``too long``: in words.
    """
    if QUOTED_LINE.search(text):
        return "quote"
    text = clean(text)
    words = text.count(" ") + 1
    if words < min_words:
        return "too short"
    return "too long" if words > max_words or len(text) > CHARACTERS_A_WORD * max_words else None


def as_context(text: str, max_words: int) -> str:
    """Return the text without quoted lines, and without a submission's deleted body, truncated to its first words."""
    text = clean(DELETED_LINE.sub("", QUOTED_LINE.sub("", text)))
    return " ".join(text.split(" ", max_words)[:max_words])[: CHARACTERS_A_WORD * max_words].rstrip()


def _unlinked(text: str) -> str:
    return ADDRESS.sub("", LINK.sub("", text))


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))
