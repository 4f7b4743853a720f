"""Small classifiers in the fastText library's file format."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SETTINGS = {"ngrams": 2, "loss": 3, "model": 3, "buckets": 7, "min_subword": 0, "max_subword": 0}


def write_bin(
    path: Path,
    words: Sequence[bytes],
    labels: Sequence[bytes],
    vectors: NDArray[np.float32],
    output: NDArray[np.float32],
    *,
    magic: int = 793712314,
    version: int = 12,
    pruned: int = -1,
    quantised: tuple[bytes, bytes] = (b"\0", b"\0"),
    types: Sequence[int] | None = None,
    **settings: int,
) -> Path:
    """Write a classifier as fastText 0.9 does; ``vectors`` of words and then of buckets, ``output`` of labels."""
    chosen = {**SETTINGS, **settings}
    entries = [*words, *labels]
    kinds = types or [0] * len(words) + [1] * len(labels)
    parts = [
        struct.pack("<ii", magic, version),
        struct.pack("<iiiiii", vectors.shape[1], 5, 5, 1, 5, chosen["ngrams"]),
        struct.pack("<iiiiii", *(chosen[n] for n in ("loss", "model", "buckets", "min_subword", "max_subword")), 100),
        struct.pack("<d", 1e-4),
        struct.pack("<iiiqq", len(entries), len(words), len(labels), 1000, pruned),
        *(entry + b"\0" + struct.pack("<qb", 3, kind) for entry, kind in zip(entries, kinds, strict=True)),
        quantised[0] + struct.pack("<qq", *vectors.shape) + vectors.astype("<f4").tobytes(),
        quantised[1] + struct.pack("<qq", *output.shape) + output.astype("<f4").tobytes(),
    ]
    path.write_bytes(b"".join(parts))
    return path


def tiny_bin(path: Path, labels: Sequence[bytes] = (b"__label__glad", b"__label__sad"), **changes: object) -> Path:
    """Write a random classifier with four words in its vocabulary, and word bigrams in 7 buckets."""
    draw = np.random.default_rng(4)
    words = [b"</s>", b"i", b"win", "größe".encode()]
    vectors = draw.normal(size=(len(words) + int(changes.get("buckets", 7)), 3)).astype(np.float32)  # type: ignore[call-overload]
    output = draw.normal(size=(len(labels), 3)).astype(np.float32)
    return write_bin(path, words, labels, vectors, output, **changes)  # type: ignore[arg-type]
