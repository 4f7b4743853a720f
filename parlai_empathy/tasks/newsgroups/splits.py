"""Split the posts into training, validation and test, by a hash of their text alone.

A cross-post is in several groups, and some posts were sent again with another Message-ID. Such copies have the same
text, so they are all in the same fold.
"""

from __future__ import annotations

import hashlib

SEED = "newsgroups 1"
TEST = VALID = 10  # percent of the texts


def fold_of(text: str) -> str:
    """Return ``train``, ``valid`` or ``test``. :param text: the author's own words."""
    digest = hashlib.sha256(f"{SEED}\n{text}".encode()).digest()
    number = int.from_bytes(digest[:8], "big") % 100
    return "test" if number < TEST else "valid" if number < TEST + VALID else "train"
