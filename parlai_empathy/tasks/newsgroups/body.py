"""Extract a post's own words: without headers, quotes of others, and signature. Pure functions.

Quotes and signatures would reveal the group to a model that has not understood the topic.
"""

from __future__ import annotations

import re

# ">", perhaps after the quoted person's initials, or other marks that newsreaders put before a quoted line.
_QUOTE = re.compile(r"\s*[A-Za-z]{0,4}>|<|[|:}]\s")
_WHO_WROTE = re.compile(r"\s*In (?:article )?<|\s*In article\b|.*\b(?:writes?|wrote|says|said|writing)\s*[:.>]*\s*$")
_SIGNATURE_LINES = 15  # a line "--" begins a signature if at most this many lines follow
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def own_words(body: str) -> str:
    """Return the author's own words, separated by single spaces; empty if there are none.

    Left out are quoted lines, the lines directly above them that say who wrote them, and a signature: the lines after
    the last line ``--``, if they are at most 15.
    """
    kept: list[str] = []
    above_quote = False
    for line in reversed(_without_signature(body.split("\n"))):
        if _QUOTE.match(line) or (above_quote and _WHO_WROTE.match(line)):
            above_quote = True
        elif line.strip():
            above_quote = False
            kept.append(line)
    return " ".join(_CONTROL.sub(" ", " ".join(reversed(kept))).split())


def _without_signature(lines: list[str]) -> list[str]:
    end = max((number for number, line in enumerate(lines, start=1) if line.strip()), default=0)
    for start in range(end - 1, max(-1, end - 2 - _SIGNATURE_LINES), -1):
        if lines[start].strip() == "--":
            return lines[:start]
    return lines
