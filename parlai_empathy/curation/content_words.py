"""Count the content words of many texts at once, without splitting the texts.

Arrow stores an array of strings as one buffer and an array of offsets. So the buffer of all texts becomes an array of
words by computing the offsets of the words: no word is copied, and Arrow looks up all words among the common ones.
"""

from __future__ import annotations

import functools
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.metrics.specificity import SPACES, common_words

_PLAIN = bytes.maketrans((ascii_uppercase + SPACES).encode(), (ascii_lowercase + " " * len(SPACES)).encode())


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
    import pyarrow.compute as compute

    texts = texts.combine_chunks() if isinstance(texts, pyarrow.ChunkedArray) else texts
    letters, bounds = _letters(texts)
    ends = np.flatnonzero(np.frombuffer(letters, dtype=np.uint8) == ord(" ")) + 1
    places = np.concatenate(([0], ends)).astype(np.int32)
    words = pyarrow.StringArray.from_buffers(len(ends), pyarrow.py_buffer(places), pyarrow.py_buffer(letters))
    is_common = np.asarray(compute.is_in(words, _common_words()).cast(pyarrow.uint8()))
    common_before = np.concatenate(([0], np.cumsum(is_common, dtype=np.int32)))
    words_before = np.searchsorted(ends, bounds, side="right")
    return pyarrow.array(np.diff(words_before - common_before[words_before]).astype(np.int32))


def _letters(texts: Any) -> tuple[bytes, NDArray[np.int32]]:
    """Return the bytes of all texts, in lower case and with plain spaces only, and their ``n + 1`` offsets."""
    _, offsets, content = texts.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    letters = bytes(memoryview(content)[bounds[0] : bounds[-1]]) if content else b""
    return letters.translate(_PLAIN), bounds - bounds[0]


@functools.cache
def _common_words() -> Any:
    """Return the common words, each followed by a space."""
    import pyarrow

    return pyarrow.array(sorted(f"{word} " for word in common_words()))
