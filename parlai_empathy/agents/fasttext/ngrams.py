"""The rows of a fastText model's embedding that belong to a text: of its words, and of its hashed n-grams.

Everything is bit-exact with the fastText library, so that its classifiers give the same results here. The oddities are
the library's: bytes above 127 are sign-extended, and hashes of words are treated as signed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

END = "</s>"
"""The word that ends each text."""
LABEL = "__label__"
"""Prefix of labels in fastText's training files; unknown words with this prefix are ignored."""

_SPELLED = 2**18  # number of words whose hashes are cached
_NGRAM_FACTOR = 116_049_371
_BITS_64 = 2**64 - 1


@dataclass(frozen=True)
class NgramSizes:
    """The settings that, with the vocabulary, determine a model's rows.

    :param word_ngrams: length of the longest word n-grams; 1 for single words only.
    :param buckets: number of rows for n-grams and subwords.
    :param min_subword: length of the shortest subword, in characters.
    :param max_subword: length of the longest; 0 for no subwords.
    """

    word_ngrams: int
    buckets: int
    min_subword: int = 0
    max_subword: int = 0


def row_numbers(words: Iterable[str], ids: Mapping[str, int], sizes: NgramSizes) -> list[int]:
    """Return the rows whose mean is the text's vector.

    :param words: the text's words; those after a ``</s>`` are ignored.
    :param ids: the vocabulary; its rows come first, then the buckets.
    """
    kept = list(_until_end(words, ids))
    rows = [row for word in kept for row in _of_word(word, ids, sizes)]
    hashes = [word_hash(word) for word in kept]
    rows.extend(len(ids) + bucket for bucket in ngram_buckets(hashes, sizes.word_ngrams, sizes.buckets))
    return rows


def _until_end(words: Iterable[str], ids: Mapping[str, int]) -> Iterator[str]:
    for word in words:
        if word in ids or not word.startswith(LABEL):
            yield word
        if word == END:
            return


def _of_word(word: str, ids: Mapping[str, int], sizes: NgramSizes) -> Iterator[int]:
    if word in ids:
        yield ids[word]
    if sizes.max_subword > 0 and word != END:
        for subword in subwords(word, sizes.min_subword, sizes.max_subword):
            yield len(ids) + word_hash(subword) % sizes.buckets


@lru_cache(_SPELLED)
def word_hash(word: str) -> int:
    """Return the 32-bit FNV-1a hash of the word's bytes, sign-extending bytes above 127; 0 to 2**32 - 1."""
    number = 2_166_136_261
    for byte in spelled(word):
        number = (number ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16_777_619 & 0xFFFFFFFF
    return number


def spelled(word: str) -> bytes:
    """Encode the word; bytes that were invalid UTF-8 are restored."""
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate, which no file can contain
        return word.encode("utf-8", "surrogatepass")


def ngram_buckets(hashes: Sequence[int], longest: int, buckets: int) -> Iterator[int]:
    """Yield the buckets of all n-grams of 2 to ``longest`` words.

    :param hashes: the words' hashes from :func:`word_hash`.
    """
    signed = [number - 2**32 if number >= 2**31 else number for number in hashes]
    for start, number in enumerate(signed):
        for following in signed[start + 1 : start + longest]:
            number = (number * _NGRAM_FACTOR + following) & _BITS_64
            yield number % buckets


def subwords(word: str, shortest: int, longest: int) -> Iterator[str]:
    """Yield the word's substrings of ``shortest`` to ``longest`` characters, after adding ``<`` and ``>`` around it.

    ``<`` and ``>`` alone are not subwords.
    """
    marked = f"<{word}>"
    for start in range(len(marked)):
        for length in range(max(1, shortest), min(longest, len(marked) - start) + 1):
            if length > 1 or 0 < start < len(marked) - 1:
                yield marked[start : start + length]
