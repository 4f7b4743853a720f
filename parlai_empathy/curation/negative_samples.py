"""Negative samples: posts made unengaging on purpose (Xu et al. 2022, "+NS").

There are four kinds: the post with words inserted, the post with words deleted, a copy of its parent, and a generic
reply.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

KINDS = ("insertion", "deletion", "copy", "generic")
"""The four kinds, in the order in which they alternate."""

_SHARE = 0.5  # inserted or deleted words per word of a post: enough to confuse a reader

# Written for this package: replies that fit any post and invite no answer.
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
    """Return a negative sample made from a post.

    :param kind: one of :data:`KINDS`.
    :param parent: the text that the post answers.
    :param words: words to insert, from other posts; at least one.
    """
    if kind == "copy":
        return parent
    if kind == "generic":
        return draw.choice(GENERIC)
    found = post.split()
    count = max(1, round(_SHARE * len(found)))
    if kind == "insertion":
        for _ in range(count):
            found.insert(draw.randint(0, len(found)), draw.choice(words))
    else:
        kept = sorted(draw.sample(range(len(found)), max(1, len(found) - count)))
        found = [found[place] for place in kept]
    return " ".join(found)
