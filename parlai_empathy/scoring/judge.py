"""The interface of judges, learned or rule-based: they score each reply, given its context or references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.errors import NotComputableError

Texts = Sequence[Sequence[str]]
"""For each reply a list of texts: the turns of its context, or its references."""


class Judge(Protocol):
    """Scores replies: the higher, the better.

    :param name: its name in tables, such as ``BLEU-4``.
    """

    name: str

    @property
    def signature(self) -> str:
        """How the numbers are computed, in the form of :func:`parlai_empathy.signature.signature`."""

    def score(self, contexts: Texts, replies: Sequence[str], references: Texts | None = None) -> NDArray[np.float64]:
        """Score each reply, independently of the other replies and their order.

        :param contexts: ``(n,)``, the turns before each reply, oldest first.
        :param replies: ``(n,)``
        :param references: ``(n,)``, people's replies to each context, for judges that compare with them.
        :returns: ``(n,)``
        :raises NotComputableError: if the lengths differ, or if something is missing that the judge needs.
        """


def check_lengths(contexts: Texts, replies: Sequence[str], references: Texts | None = None) -> None:
    """Check that there are replies, and one context and one list of references for each.

    :raises NotComputableError: if not, or if a text is given in place of a list of texts.
    """
    if isinstance(replies, str) or not replies:
        raise NotComputableError("no list of replies to score: give one with at least one reply")
    for name, lists in (("context", contexts), ("list of references", references)):
        if lists is None:
            continue
        if len(lists) != len(replies):
            raise NotComputableError(f"{len(lists)} x {name} for {len(replies)} replies: give one for each reply")
        wrong = next((place for place, texts in enumerate(lists) if isinstance(texts, str)), None)
        if wrong is not None:  # a str is also a sequence of str: each letter would count as a text
            raise NotComputableError(f"item {wrong}, counted from 0: the {name} is one text: give a list of texts")
