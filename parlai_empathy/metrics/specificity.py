"""Specificity of a text: the number of its words that are not common (Xu et al. 2022, section 2.2 and Table 2).

Words are separated by spaces, and lower-cased. Common words are scikit-learn's English stop words, which need no
download, also with a punctuation mark before or after them. The curation of RED uses the same definition, from here.
"""

from __future__ import annotations

from functools import cache

SPACES = " \t\n\r"
"""The characters that separate words. Other white space is so rare that it counts as part of a word."""

BEFORE = ("", "(", '"', "*")
"""The punctuation marks that a common word may have before it."""

BEHIND = ("", ".", ",", "!", "?", ";", ":", ")", '"', "*", "...")
"""The punctuation marks that a common word may have behind it."""

_TO_SPACE = str.maketrans(dict.fromkeys(SPACES, " "))


@cache
def stop_words() -> frozenset[str]:
    """Return scikit-learn's 318 English stop words, in lower case."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # the library takes a second to import

    return frozenset(ENGLISH_STOP_WORDS)


@cache
def common_words() -> frozenset[str]:
    """Return all common words: stop words with and without punctuation marks, and punctuation marks alone."""
    return frozenset(before + word + behind for before in BEFORE for word in ("", *stop_words()) for behind in BEHIND)


def words(text: str) -> list[str]:
    """Split a text at spaces, in lower case; between two adjacent spaces is an empty word, which is a common one."""
    return text.lower().translate(_TO_SPACE).split(" ")


def content_words(text: str) -> list[str]:
    """Return the words of a text that are not common, in lower case, in order and with repetitions."""
    common = common_words()
    return [word for word in words(text) if word not in common]


def specificity(text: str) -> int:
    """Return the number of words of a text that are not common."""
    return len(content_words(text))
