"""Posts made unengaging on purpose, in four ways (Xu et al. 2022, "+NS"): words put in, words taken out, the context
said again, and what fits anywhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

KINDS = ("insertion", "deletion", "copy", "generic")
"""The four ways, in the order in which posts take turns."""

_SHARE = 0.5  # of a post's words, for those that are put in or taken out: enough that a reader stumbles

# Written for this package: what fits any post, and invites no answer.
GENERIC = (
    "I don't know.",
    "I'm not sure.",
    "I see.",
    "OK.",
    "That's nice.",
    "Sure.",
    "Maybe.",
    "Yes.",
    "No.",
    "Thanks.",
    "I guess so.",
    "Good for you.",
    "Whatever you say.",
    "It depends.",
    "I have no idea what to say.",
    "Sounds good.",
    "Right.",
    "Same here.",
    "Well, that happens.",
    "I don't think so.",
    "Not really.",
    "You never know.",
    "That's how it is.",
    "Never mind.",
)


def negative_sample(kind: str, post: str, parent: str, words: Sequence[str], draw: random.Random) -> str:
    """What stands in the place of a post.

    :param kind: one of :data:`KINDS`.
    :param parent: what the post answers.
    :param words: of other posts, to put in; at least one.
    """
    return _WAYS[kind](post, parent, words, draw)


def _insertion(post: str, parent: str, words: Sequence[str], draw: random.Random) -> str:
    found = post.split()
    for _ in range(_count(found)):
        found.insert(draw.randint(0, len(found)), draw.choice(words))
    return " ".join(found)


def _deletion(post: str, parent: str, words: Sequence[str], draw: random.Random) -> str:
    found = post.split()
    kept = sorted(draw.sample(range(len(found)), max(1, len(found) - _count(found))))
    return " ".join(found[place] for place in kept)


def _copy(post: str, parent: str, words: Sequence[str], draw: random.Random) -> str:
    return parent


def _generic(post: str, parent: str, words: Sequence[str], draw: random.Random) -> str:
    return draw.choice(GENERIC)


def _count(words: Sequence[str]) -> int:
    return max(1, round(_SHARE * len(words)))


_WAYS: dict[str, Callable[[str, str, Sequence[str], random.Random], str]] = {
    "insertion": _insertion,
    "deletion": _deletion,
    "copy": _copy,
    "generic": _generic,
}
