"""A post's own words: without headers, quotes of others, and signature. Pure functions.

What others said, and who somebody is, would give the group away without its topic being understood.
"""

from __future__ import annotations

import re

# ">", perhaps behind the quoted person's initials, or the other marks that newsreaders put before a quoted line.
_QUOTE = re.compile(r"\s*[A-Za-z]{0,4}>|<|[|:}]\s")
_WHO_WROTE = re.compile(r"\s*In (?:article )?<|\s*In article\b|.*\b(?:writes?|wrote|says|said|writing)\s*[:.>]*\s*$")
_SIGNATURE_LINES = 15  # "--" on a line of its own begins a signature if no more lines follow
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def own_words(body: str) -> str:
    """What the author wrote, with single spaces between the words; empty if that is nothing.

    Left out are quoted lines, the lines directly above them that say who wrote them, and a signature: what follows the
    last line ``--``, if it is not more than 15 lines.
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
