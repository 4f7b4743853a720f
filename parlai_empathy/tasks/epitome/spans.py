"""Finding rationales: the places in a response that its raters quoted.

The files hold quotations, not places, and a quotation can differ a little from the response: in white space, in HTML's
``&lt;`` for ``<``, in words that were removed from one of the two. So a quotation that does not stand in the response
letter by letter is looked for word by word.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from difflib import SequenceMatcher

Span = tuple[int, int]
"""First character, and the one behind the last."""

# How much of a quotation's words must be found, and how much of the place found may be other words.
_ENOUGH = 0.8

_WORD = re.compile(r"\w+|[^\w\s]")


def clean(text: str) -> str:
    """The text with HTML's escapes read, some of which were escaped again, and single spaces between its words."""
    plain = html.unescape(html.unescape(text)).replace("\u200b", " ")  # a space of no width
    return " ".join(plain.split())


def quotations(field: str) -> list[str]:
    """The quotations that a file's field holds, each ended or parted by ``|``, cleaned."""
    return [text for text in map(clean, field.split("|")) if text]


def find_spans(text: str, quoted: Iterable[str]) -> tuple[tuple[Span, ...], list[str]]:
    """Find quotations.

    :param text: a cleaned text; so are the quotations.
    :returns: the places, in the text's order, those that touch or overlap made one; and what was not found.
    """
    found, missing = [], []
    for quotation in quoted:
        place = _exact(text, quotation) or _by_words(text, quotation)
        if place:
            found.append(place)
        else:
            missing.append(quotation)
    return merged(found), missing


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans in order, those that touch or overlap made one."""
    whole: list[Span] = []
    for start, end in sorted(spans):
        if whole and start <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((start, end))
    return tuple(whole)


def _exact(text: str, quotation: str) -> Span | None:
    start = text.find(quotation)
    return None if start < 0 else (start, start + len(quotation))


def _by_words(text: str, quotation: str) -> Span | None:
    """From the first to the last of the quotation's words, if most are there in their order and little else between."""
    words = list(_WORD.finditer(text))
    wanted = [word.casefold() for word in _WORD.findall(quotation)]
    matcher = SequenceMatcher(None, [word[0].casefold() for word in words], wanted, autojunk=False)
    # A block that is far from the longest one is a chance match, such as a full stop at the response's end.
    longest = matcher.find_longest_match()
    first, last = longest.a - longest.b, longest.a + len(wanted) - longest.b  # where it would stand if nothing differed
    room = len(wanted) // 5 + 2
    blocks = [
        block
        for block in matcher.get_matching_blocks()
        if block.size and block.a >= first - room and block.a + block.size <= last + room
    ]
    if not blocks:
        return None
    start, end = blocks[0].a, blocks[-1].a + blocks[-1].size
    if sum(block.size for block in blocks) < _ENOUGH * max(len(wanted), end - start):
        return None
    return words[start].start(), words[end - 1].end()
