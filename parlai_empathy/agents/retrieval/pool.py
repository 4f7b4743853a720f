"""A pool: the replies that an agent can choose from, with their encodings, in one file beside the model.

A pool records which model encoded it. A stored pool of another model or of other replies is rebuilt.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
import torch
from torch import Tensor

from parlai_empathy.agents.retrieval.replies import without_stamps
from parlai_empathy.agents.retrieval.vector_index import exact_search
from parlai_empathy.errors import ModelFileError
from parlai_empathy.files.whole_file import whole_file


@dataclass(frozen=True)
class Pool:
    """Replies and their encodings.

    :param texts: the distinct replies.
    :param encodings: ``(len(texts), dim)``
    :param fingerprint: of the model that encoded them, and of their source.
    :param path: the file that the pool was loaded from, if any.
    """

    texts: list[str]
    encodings: Tensor
    fingerprint: str
    path: str | None = None

    @cached_property
    def name(self) -> str:
        """A short name for signatures, which changes with the replies."""
        digest = hashlib.sha256("\n".join(self.texts).encode()).hexdigest()[:8]
        return f"{len(self.texts)}-{digest}"

    @cached_property
    def place_of(self) -> dict[str, int]:
        """Index of each reply."""
        return {text: place for place, text in enumerate(self.texts)}

    def best(self, contexts: Tensor) -> list[str]:
        """Return the best reply for each context by dot product: ``(n, dim)`` to ``n`` texts."""
        return [self.texts[i] for i in exact_search(contexts, self.encodings, 1)[1][:, 0].tolist()]

    def save(self, path: str | Path) -> None:
        """Write the pool atomically."""
        with whole_file(Path(path), is_shared=True) as unfinished:
            torch.save({"texts": self.texts, "encodings": self.encodings, "fingerprint": self.fingerprint}, unfinished)


def load_pool(path: str | Path) -> Pool:
    """Load a pool without executing anything in the file. Encodings are memory-mapped.

    :raises ModelFileError: if the file is not a complete pool.
    """
    try:
        stored: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        pool = Pool(**stored, path=str(path))
        if len(pool.texts) != len(pool.encodings):
            raise ValueError("expected as many encodings as replies")
        return pool
    except Exception as error:  # torch raises a different error for each kind of damage
        raise ModelFileError(f"{path} is not a readable pool of replies: delete it to have it rebuilt") from error


def try_save(path: str | Path, save: Callable[[str | Path], None]) -> bool:
    """Save a file that only saves time later. If that fails, as in a read-only folder, log a warning.

    :returns: whether the file was saved.
    """
    try:
        save(path)
    except (OSError, RuntimeError) as error:  # raised by torch's and Faiss's writers
        reason = str(error).strip().split("\n")[-1]
        logging.warning(f"{path} cannot be written, and will be built again the next time: {reason}")
        return False
    return True


def load_or_build(
    path: str | Path | None, fingerprint: str, texts: Callable[[], list[str]], encode: Callable[[list[str]], Tensor]
) -> tuple[Pool, bool]:
    """Return the pool at ``path`` if its fingerprint matches, else a new one from ``texts`` and ``encode``.

    Where a model was moved to, the files that the replies came from may be missing: the stored pool is used then.

    :returns: the pool, and whether it is new.
    :raises ModelFileError: if there are no replies.
    """
    if path is not None and Path(path).exists():
        pool = load_pool(path)
        if fingerprint in (pool.fingerprint, without_stamps(pool.fingerprint)):
            return pool, False
    replies = texts()
    if not replies:
        raise ModelFileError(
            "the pool of replies is empty: a file must contain some, and a task at least one that is short enough and "
            "has no unknown words"
        )
    return Pool(replies, encode(replies), fingerprint), True
