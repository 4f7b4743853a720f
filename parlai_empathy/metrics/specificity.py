"""How much a text says: its words without those that stand in any text (Xu et al. 2022, section 2.2 and Table 2).

A word is what stands between spaces, in lower case. The words that any text has are scikit-learn's English stop words,
which need no download; one of them is still one with a mark before or behind it. This is the one place that says so:
the curation of RED counts with the same words.
"""

from __future__ import annotations

from functools import cache

SPACES = " \t\n\r"
"""What stands between words. Other white space is rare enough to be part of one."""

_BEFORE = ("", "(", '"', "*")
_BEHIND = ("", ".", ",", "!", "?", ";", ":", ")", '"', "*", "...")
_TO_SPACE = str.maketrans(dict.fromkeys(SPACES, " "))


@cache
def stop_words() -> frozenset[str]:
    """scikit-learn's 318 English stop words, in lower case."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # the library takes a second to import

    return frozenset(ENGLISH_STOP_WORDS)


@cache
def common_words() -> frozenset[str]:
    """All that :func:`words` can find and that says nothing: stop words, with marks or without, and marks alone."""
    return frozenset(before + word + behind for before in _BEFORE for word in ("", *stop_words()) for behind in _BEHIND)


def words(text: str) -> list[str]:
    """What stands between spaces, in lower case; nothing between two of them is a word too, and a common one."""
    return text.lower().translate(_TO_SPACE).split(" ")


def content_words(text: str) -> list[str]:
    """The words of a text that are not common, in lower case and in their order, each as often as it stands."""
    common = common_words()
    return [word for word in words(text) if word not in common]


def specificity(text: str) -> int:
    """How many words of a text are not common."""
    return len(content_words(text))
