"""A post's text in plain words, and what makes a post no use. Pure functions."""

from __future__ import annotations

import re

# Reddit stores these three as entities, and people type the other two, which Reddit then shows as a space or nothing.
ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
BLANKS = re.compile(r"&nbsp;|&#x200B;|\u200b", re.IGNORECASE)
LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
ADDRESS = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
QUOTED_LINE = re.compile(r"^[^\S\n]*>.*$", re.MULTILINE)
DELETED_LINE = re.compile(
    r"^[^\S\n]*\[ ?(?:deleted|removed)(?: by (?:user|reddit|moderator))? ?\][^\S\n]*$", re.IGNORECASE | re.MULTILINE
)
BOT_NAME = re.compile(r"AutoModerator|[\w-]*[_-]bot\d*|[\w-]*[a-z0-9]Bot\d*|bot[_-][\w-]*", re.ASCII)
BOT_WORDS = re.compile(r"\bI(?:'| a)m\s+a\s+(?:ro)?bot\b|\bperformed automatically\b|\bbeep boop\b", re.IGNORECASE)
CHARACTERS_A_WORD = 20  # a text without spaces is as long as one of so many characters a word


def decoded(text: str) -> str:
    """A post's text with the characters that Reddit writes as entities. What follows expects it so."""
    for entity, character in ENTITIES.items():  # & last: "&amp;lt;" is how somebody wrote "&lt;"
        text = text.replace(entity, character)
    return BLANKS.sub(" ", text)


def clean(text: str) -> str:
    """The text without the addresses of links in brackets, with single spaces between its words."""
    return " ".join(LINK.sub(r"\1", text).split())


def flaw_of(text: str, author: str) -> str | None:
    """Why a post is neither a reply to learn from nor a context; None if it may be one.

    ``deleted`` (or removed), ``empty``, ``by a bot``, ``links only``, or ``quotes only``.
    """
    left = DELETED_LINE.sub("", text).strip()
    if not left:
        return "deleted" if text.strip() else "empty"
    if BOT_NAME.fullmatch(author) or BOT_WORDS.search(left.replace("^", "")):
        return "by a bot"
    if not _has_words(ADDRESS.sub("", LINK.sub("", left))):
        return "links only" if ADDRESS.search(left) or LINK.search(left) else "empty"
    if not _has_words(QUOTED_LINE.sub("", left)):
        return "quotes only"
    return None


def reply_flaw_of(text: str, min_words: int, max_words: int) -> str | None:
    """Why a comment without other flaws is no reply to learn from; None if it is one.

    ``quote``: it holds a quoted line, without which it is not understood. ``too short``, ``too long``: in words.
    """
    if QUOTED_LINE.search(text):
        return "quote"
    text = clean(text)
    words = text.count(" ") + 1
    if words < min_words:
        return "too short"
    return "too long" if words > max_words or len(text) > CHARACTERS_A_WORD * max_words else None


def as_context(text: str, max_words: int) -> str:
    """The text without quoted lines, or a submission's deleted text under its title, cut to its first words."""
    text = clean(DELETED_LINE.sub("", QUOTED_LINE.sub("", text)))
    return " ".join(text.split(" ", max_words)[:max_words])[: CHARACTERS_A_WORD * max_words].rstrip()


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))
