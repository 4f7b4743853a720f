"""Count the content words of many texts at once, without splitting the texts.

Arrow stores an array of strings as one buffer and an array of offsets. The words in such a buffer are found by its
spaces, and looked up as numbers: one of 64 bits holds the 8 bytes of a short word, and a second one those of the few
longer ones; all stop words are shorter than both. Building strings of the words, or the hash table of Arrow's
``is_in`` in each call, would take more than twice as long.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.metrics.specificity import BEFORE, BEHIND, SPACES, stop_words

# NUL would otherwise look like the end of a word in a number; any other character that no stop word has will do.
_PLAIN = bytes.maketrans(
    (ascii_uppercase + SPACES + "\0").encode(), (ascii_lowercase + " " * len(SPACES) + "\1").encode()
)
_EIGHT = 8  # bytes of a number
_WIDTH = 2 * _EIGHT  # bytes of a word that are compared
_KEPT = np.array([(1 << 8 * length) - 1 for length in range(_EIGHT + 1)], dtype=np.uint64)  # masks of the first bytes

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Numbers = NDArray[np.uint64]


def ready_to_count(text: str) -> str:
    """Return SQL that prepares a text for :func:`count_content_words`: it appends a space after the last word.

    It also replaces the Kelvin sign, the only non-ASCII letter whose lower case is ASCII, as all common words are.
    """
    return f"replace({text}, '\u212a', 'k') || ' '"


def count_content_words(texts: Any) -> Any:
    """Return the number of content words of each text, for DuckDB: from a pyarrow array of texts to one of integers.

    Content words are those of :func:`~parlai_empathy.metrics.specificity.content_words`.

    :param texts: prepared by :func:`ready_to_count`; null has no words.
    """
    import pyarrow

    texts = texts.combine_chunks() if isinstance(texts, pyarrow.ChunkedArray) else texts
    letters, bounds = _letters(texts)
    spaces = np.flatnonzero(letters == ord(" "))  # one after each word
    content = np.flatnonzero(~_is_common(letters, spaces))
    words_before = np.searchsorted(spaces, bounds)
    return pyarrow.array(np.diff(np.searchsorted(content, words_before)).astype(np.int32))


def _letters(texts: Any) -> tuple[Bytes, NDArray[np.int32]]:
    """Return the bytes of all texts, in lower case and with plain spaces only, and their ``n + 1`` offsets.

    After them come zeros, so that even the last word has ``_WIDTH`` bytes.
    """
    _, offsets, content = texts.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    letters = bytes(memoryview(content)[bounds[0] : bounds[-1]]) if content else b""
    return np.frombuffer(letters.translate(_PLAIN) + bytes(_WIDTH), dtype=np.uint8), bounds - bounds[0]


def _is_common(letters: Bytes, spaces: Offsets) -> NDArray[np.bool_]:
    """Return for each word whether it is a stop word, with or without punctuation marks, or only marks."""
    starts, ends = _without_marks(letters, spaces)
    lengths = ends - starts
    # The eight bytes from each offset on, as a number. take() would make such a copy each time.
    eights = np.ndarray((len(letters) - _EIGHT + 1,), dtype="<u8", buffer=letters, strides=(1,)).copy()
    first = eights.take(starts) & _KEPT.take(lengths, mode="clip")
    short, long = _stop_words()
    common = short.has(first)
    longer = np.flatnonzero(lengths > _EIGHT)
    second = eights[starts[longer] + _EIGHT] & _KEPT.take(lengths[longer] - _EIGHT, mode="clip")
    common[longer] = long.has(first[longer], second)
    return common


def _without_marks(letters: Bytes, spaces: Offsets) -> tuple[Offsets, Offsets]:
    """Return the offsets of the first letter of each word and after its last, without one mark before and behind it."""
    starts = np.concatenate(([0], spaces + 1))[:-1]
    starts += _are(BEFORE, letters.take(starts))
    last = letters.take(spaces - 1)  # of an empty word: a space, or one of the zeros
    ends = np.maximum(spaces - _are(BEHIND, last), starts)
    dots = np.flatnonzero(last == ord("."))
    dots = dots[spaces[dots] - starts[dots] >= 3]
    dots = dots[(letters[spaces[dots] - 2] == ord(".")) & (letters[spaces[dots] - 3] == ord("."))]
    ends[dots] -= 2
    return starts, ends


def _are(marks: tuple[str, ...], letters: Bytes) -> Bytes:
    """Return for each letter 1 if it is one of the marks, else 0."""
    return np.frombuffer(letters.tobytes().translate(_table(marks)), dtype=np.uint8)


@functools.cache
def _table(marks: tuple[str, ...]) -> bytes:
    return bytes(chr(byte) in "".join(marks) for byte in range(256))


@dataclass(frozen=True)
class _Words:
    """A hash table of words in which no two words share a slot, so that one comparison finds a word.

    :param factor: the hash of a word is the top bits of the sum of its numbers, multiplied by this.
    :param columns: each number of the word in each slot, all ones if there is none: no text has such bytes.
    """

    factor: np.uint64
    columns: tuple[Numbers, ...]

    BITS = 13

    @classmethod
    def of(cls, words: Sequence[str], width: int) -> _Words:
        """Return the table of words of at most ``width`` bytes, a multiple of eight."""
        content = b"".join(word.encode().ljust(width, b"\0") for word in words)
        numbers = np.frombuffer(content, dtype="<u8").reshape(len(words), -1).T
        draw = np.random.default_rng(0)
        while True:  # for the short words one factor in about two hundred suits
            factor = draw.integers(1 << 64, dtype=np.uint64, endpoint=False) | np.uint64(1)
            slots = cls.slots(numbers, factor)
            if len(np.unique(slots)) == len(words):
                break
        table = np.full((len(numbers), 1 << cls.BITS), ~np.uint64(0))
        table[:, slots] = numbers
        return cls(factor, tuple(table))

    def has(self, *numbers: Numbers) -> NDArray[np.bool_]:
        """Return for each word whether it is in the table."""
        slots = self.slots(numbers, self.factor)
        found = [column.take(slots) == number for column, number in zip(self.columns, numbers, strict=True)]
        return functools.reduce(np.logical_and, found)

    @classmethod
    def slots(cls, numbers: Iterable[Numbers], factor: np.uint64) -> Offsets:
        """Return the slot of each word, below ``2 ** BITS``."""
        hashes: Numbers = functools.reduce(np.add, numbers) * factor
        slots: Offsets = (hashes >> np.uint64(64 - cls.BITS)).view(np.int64)
        return slots


@functools.cache
def _stop_words() -> tuple[_Words, _Words]:
    """Return the stop words of at most eight bytes, with the empty word, and the longer ones."""
    words = ["", *sorted(stop_words())]
    short = [word for word in words if len(word) <= _EIGHT]
    long = [word for word in words if len(word) > _EIGHT]
    return _Words.of(short, _EIGHT), _Words.of(long, _WIDTH)
