"""Which rows of a fastText model belong to a text: its words', and those that its n-grams are hashed to.

Everything here is as the fastText library has it, to the bit, so that its classifiers give the same numbers with us.
The odd choices are its own: bytes above 127 count as negative numbers, and hashes of words as signed ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

END = "</s>"
"""The word that ends each text."""
LABEL = "__label__"
"""What labels begin with in fastText's training files; such a word in a text is not read."""

_SPELLED = 2**18  # words whose hashes are remembered
_NGRAM_FACTOR = 116_049_371
_BITS_64 = 2**64 - 1


@dataclass(frozen=True)
class NgramSizes:
    """What decides a model's rows, beside its words.

    :param word_ngrams: the longest n-grams of words; 1 for words alone.
    :param buckets: how many rows there are for n-grams and subwords.
    :param min_subword: characters of the shortest subword.
    :param max_subword: characters of the longest; 0 for no subwords.
    """

    word_ngrams: int
    buckets: int
    min_subword: int = 0
    max_subword: int = 0


def row_numbers(words: Iterable[str], ids: Mapping[str, int], sizes: NgramSizes) -> list[int]:
    """The rows whose mean is the text's vector.

    :param words: of the text, up to its end; what follows a ``</s>`` is not read.
    :param ids: the known words; their rows come first, then the buckets.
    """
    kept = list(_to_the_end(words, ids))
    rows = [row for word in kept for row in _of_word(word, ids, sizes)]
    hashes = [word_hash(word) for word in kept]
    rows.extend(len(ids) + bucket for bucket in ngram_buckets(hashes, sizes.word_ngrams, sizes.buckets))
    return rows


def _to_the_end(words: Iterable[str], ids: Mapping[str, int]) -> Iterator[str]:
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
    """FNV-1a of the word's bytes in 32 bits, those above 127 taken as negative; 0 to 2**32 - 1."""
    number = 2_166_136_261
    for byte in spelled(word):
        number = (number ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16_777_619 & 0xFFFFFFFF
    return number


def spelled(word: str) -> bytes:
    """The word's bytes; those that were no UTF-8 come out as they went in."""
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair of surrogates, which no file can hold
        return word.encode("utf-8", "surrogatepass")


def ngram_buckets(hashes: Sequence[int], longest: int, buckets: int) -> Iterator[int]:
    """The buckets of all n-grams of 2 to ``longest`` words.

    :param hashes: the words', as :func:`word_hash` gives them.
    """
    signed = [number - 2**32 if number >= 2**31 else number for number in hashes]
    for start, number in enumerate(signed):
        for following in signed[start + 1 : start + longest]:
            number = (number * _NGRAM_FACTOR + following) & _BITS_64
            yield number % buckets


def subwords(word: str, shortest: int, longest: int) -> Iterator[str]:
    """The word's parts of ``shortest`` to ``longest`` characters, ``<`` and ``>`` standing round the word.

    ``<`` and ``>`` alone are no subwords.
    """
    marked = f"<{word}>"
    for start in range(len(marked)):
        for length in range(max(1, shortest), min(longest, len(marked) - start) + 1):
            if length > 1 or 0 < start < len(marked) - 1:
                yield marked[start : start + length]
