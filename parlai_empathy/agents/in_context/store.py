"""The vectors of the texts that examples are compared by: computed once, and kept in a file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import parlai.utils.logging as logging

from parlai_empathy.errors import OptionError
from parlai_empathy.files.whole_file import whole_file
from parlai_empathy.modules.fingerprint import state_fingerprint
from parlai_empathy.modules.sentence_encoder import SentenceEncoder, Vectors


def fingerprint(texts: Sequence[str], encoder: SentenceEncoder) -> str:
    """A digest of everything that decides the vectors: the texts, and the encoder's weights and settings."""
    digest = hashlib.sha256(f"{state_fingerprint(encoder.model.state_dict())} {encoder.settings}".encode())
    for text in texts:
        digest.update(f"\n{len(text)} {text}".encode(errors="surrogatepass"))
    return digest.hexdigest()[:16]


def stored_or_encoded(folder: Path, name: str, texts: Sequence[str], encoder: SentenceEncoder) -> Vectors:
    """The texts' vectors, ``(n, dim)``, each of length 1: from the file, or computed and written there.

    Other texts, or another encoder, have another file. One that cannot be read is written anew, with a warning.

    :param folder: made if need be.
    :param name: of the kind of texts; the file is ``<name>-<fingerprint>.npy``.
    :raises OptionError: if the file cannot be written.
    """
    path = folder / f"{name}-{fingerprint(texts, encoder)}.npy"
    if path.exists():
        stored = _stored(path, len(texts))
        if stored is not None:
            return stored
        logging.warning(f"{path} is no whole file of {len(texts):,} vectors: it is made anew")
    logging.info(f"Encoding {len(texts):,} texts with {encoder.name}, once: they are kept in {path}")
    vectors = encoder.encode(texts)
    _write(path, vectors)
    return vectors


def _stored(path: Path, count: int) -> Vectors | None:
    """What the file holds; None if it is broken. Nothing in it is executed."""
    try:
        vectors: Vectors = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    is_whole = isinstance(vectors, np.ndarray) and vectors.ndim == 2 and len(vectors) == count
    if not is_whole or vectors.dtype != np.float32 or not np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3):
        return None
    return vectors


def _write(path: Path, vectors: Vectors) -> None:
    """Write the file, whole or not at all: a run that is killed leaves none, and two at a time do not mix theirs."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path, is_shared=True) as unfinished, unfinished.open("wb") as file:
            np.save(file, vectors, allow_pickle=False)
    except OSError as error:
        raise OptionError(
            f"{path} cannot be written ({error.strerror}): name a folder that you may write to with --datapath"
        ) from error
