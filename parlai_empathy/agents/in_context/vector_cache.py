"""Caches the sentence vectors of candidate examples in a file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import parlai.utils.logging as logging

from parlai_empathy.errors import OptionError
from parlai_empathy.files.whole_file import whole_file
from parlai_empathy.modules.encoders.sentence_encoder import SentenceEncoder, Vectors
from parlai_empathy.modules.fingerprint import state_fingerprint


def fingerprint(texts: Sequence[str], encoder: SentenceEncoder) -> str:
    """Return a digest of everything that determines the vectors: the texts, and the encoder's weights and settings."""
    digest = hashlib.sha256(f"{state_fingerprint(encoder.model.state_dict())} {encoder.settings}".encode())
    for text in texts:
        digest.update(f"\n{len(text)} {text}".encode(errors="surrogatepass"))
    return digest.hexdigest()[:16]


def load_or_encode(folder: Path, name: str, texts: Sequence[str], encoder: SentenceEncoder) -> Vectors:
    """Return the texts' unit-length vectors, ``(n, dim)``, from the file, or computed and saved there.

    The file name depends on the texts and the encoder. A damaged file is replaced, with a warning.

    :param folder: created if missing.
    :param name: kind of texts; the file is ``<name>-<fingerprint>.npy``.
    :raises OptionError: if the file cannot be written.
    """
    path = folder / f"{name}-{fingerprint(texts, encoder)}.npy"
    if path.exists():
        stored = _stored(path, len(texts))
        if stored is not None:
            return stored
        logging.warning(f"{path} is not a complete file of {len(texts):,} vectors: it is rebuilt")
    logging.info(f"Encoding {len(texts):,} texts with {encoder.name}, once: their vectors are kept in {path}")
    vectors = encoder.encode(texts)
    _write(path, vectors)
    return vectors


def _stored(path: Path, count: int) -> Vectors | None:
    """Load the vectors; None if the file is damaged. Nothing in it is executed."""
    try:
        vectors: Vectors = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    is_whole = isinstance(vectors, np.ndarray) and vectors.ndim == 2 and len(vectors) == count
    if not is_whole or vectors.dtype != np.float32 or not np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3):
        return None
    return vectors


def _write(path: Path, vectors: Vectors) -> None:
    """Write the file atomically: a killed run leaves no partial file, and concurrent runs do not interfere."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path, is_shared=True) as unfinished, unfinished.open("wb") as file:
            np.save(file, vectors, allow_pickle=False)
    except OSError as error:
        raise OptionError(
            f"{path} cannot be written ({error.strerror}): name a writable folder with --datapath"
        ) from error
