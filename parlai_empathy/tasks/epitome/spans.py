"""Find rationales: the spans of a response that its raters quoted.

The files contain quotations, not positions, and a quotation can differ a little from the response: in white space, in
HTML's ``&lt;`` for ``<``, or in words that were removed from one of the two. So a quotation without an exact match in
the response is matched word by word.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from difflib import SequenceMatcher

Span = tuple[int, int]
"""Index of the first character, and of the one after the last."""

# The minimum share of matching words, both in the quotation and in the span that is found.
_ENOUGH = 0.8

_WORD = re.compile(r"\w+|[^\w\s]")


def clean(text: str) -> str:
    """Return the text with HTML escapes decoded, some of which were escaped twice, and single spaces between words."""
    plain = html.unescape(html.unescape(text)).replace("\u200b", " ")  # a zero-width space
    return " ".join(plain.split())


def quotations(field: str) -> list[str]:
    """Return the quotations in a file's field, separated or terminated by ``|``, cleaned."""
    return [text for text in map(clean, field.split("|")) if text]


def find_spans(text: str, quoted: Iterable[str]) -> tuple[tuple[Span, ...], list[str]]:
    """Find quotations in a text.

    :param text: the cleaned text; the quotations must be cleaned too.
    :returns: the spans in order, merged if they touch or overlap; and the quotations that were not found.
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
    """Return the spans in order, merged if they touch or overlap."""
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
    """Return the span of the quotation's words, if most occur in order with few other words in between."""
    words = list(_WORD.finditer(text))
    wanted = [word.casefold() for word in _WORD.findall(quotation)]
    matcher = SequenceMatcher(None, [word[0].casefold() for word in words], wanted, autojunk=False)
    # A block that is far from the longest one is a chance match, such as a full stop at the response's end.
    longest = matcher.find_longest_match()
    first, last = longest.a - longest.b, longest.a + len(wanted) - longest.b  # its position if all words matched
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
