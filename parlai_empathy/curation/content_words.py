"""How many content words texts have, counted in many texts at once, where their letters lie in memory.

A text is not taken apart: Arrow's own layout of an array of words is the letters of all texts, and where each word
ends. So no word is copied, and Arrow looks all of them up among the common ones.
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
    """SQL that makes of a text what :func:`count_content_words` takes: with a space behind its last word.

    The Kelvin sign is the one letter beyond ASCII whose small letter is in it, where all common words are.
    """
    return f"replace({text}, '\u212a', 'k') || ' '"


def count_content_words(texts: Any) -> Any:
    """How many words of each text are not common, for DuckDB: an array of pyarrow of texts gives one of numbers.

    They are those of :func:`~parlai_empathy.metrics.specificity.content_words`.

    :param texts: as :func:`ready_to_count` makes them; null has no words.
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
    """The letters of all texts, small and with one kind of space, and where in them texts begin, and the last ends."""
    _, offsets, content = texts.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    letters = bytes(memoryview(content)[bounds[0] : bounds[-1]]) if content else b""
    return letters.translate(_PLAIN), bounds - bounds[0]


@functools.cache
def _common_words() -> Any:
    """The common words, each with the space behind it."""
    import pyarrow

    return pyarrow.array(sorted(f"{word} " for word in common_words()))
