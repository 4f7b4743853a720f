"""Reads classifiers that the fastText library saved (``.bin``), without the library.

The format, little-endian throughout: a magic number and a version; the settings, twelve integers and a double; the
dictionary, words before labels; and two matrices, each preceded by a byte that says whether it is quantised, and by
its numbers of rows and columns.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch
from torch import Tensor

from parlai_empathy.agents.fasttext.ngrams import LABEL, NgramSizes
from parlai_empathy.errors import ModelFileError

ENDINGS = (".bin", ".ftz")

_MAGIC = 793_712_314
_VERSIONS = (11, 12)
_SETTINGS = struct.Struct("<12id")
_COUNTS = struct.Struct("<iiiqq")  # entries, words, labels, tokens read in training, pruned n-grams (-1: none)
_ENTRY = struct.Struct("<qb")  # count, and whether it is a label; preceded by the NUL-terminated spelling
_SHAPE = struct.Struct("<qq")
_LONGEST_WORD = 2**20  # bytes; only a damaged file has a longer one
_SUPERVISED = 3
_LOSSES = {1: "hs", 2: "ns", 3: "softmax", 4: "ova"}


@dataclass(frozen=True)
class FasttextFile:
    """A classifier's settings and words; its matrices are read from the file on demand.

    :param words: in the order of their rows.
    :param labels: in the order of the output's rows, without ``__label__``.
    :param vectors_at: file offset of the matrix of words and buckets.
    :param output_at: file offset of the matrix of labels.
    """

    path: Path
    words: tuple[str, ...]
    labels: tuple[str, ...]
    dim: int
    sizes: NgramSizes
    vectors_at: int
    output_at: int

    def vectors(self) -> Tensor:
        """Read the vectors of words, then of buckets: ``(words + buckets, dim)``."""
        return self._matrix(self.vectors_at, len(self.words) + self.sizes.buckets)

    def output(self) -> Tensor:
        """Read the output weights of the labels: ``(labels, dim)``."""
        return self._matrix(self.output_at, len(self.labels))

    def _matrix(self, offset: int, rows: int) -> Tensor:
        numbers = np.fromfile(self.path, dtype="<f4", count=rows * self.dim, offset=offset)
        matrix = torch.from_numpy(numbers.astype(np.float32, copy=False)).view(rows, self.dim)
        if not bool(torch.isfinite(matrix).all()):
            raise ModelFileError(f"{self.path}: some of its weights are not finite: train it again")
        return matrix


def read_bin(path: str | Path) -> FasttextFile:
    """Read a classifier's settings and words, and check that its matrices are complete.

    :raises ModelFileError: if the file is missing, damaged, quantised, or not a softmax classifier.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            return _read(path, file)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read ({error.strerror}): name a fastText classifier") from error
    except (struct.error, UnicodeDecodeError, IndexError, ValueError) as error:
        raise _broken(path, str(error)) from error


def _read(path: Path, file: BinaryIO) -> FasttextFile:
    size = path.stat().st_size
    magic, version = struct.unpack("<ii", file.read(8))
    if magic != _MAGIC or version not in _VERSIONS:
        raise ModelFileError(f"{path} is not a model of fastText 0.1 to 0.9: name a .bin file that it saved")
    dim, *others = _SETTINGS.unpack(file.read(_SETTINGS.size))
    _, _, _, _, ngrams, loss, model, buckets, shortest, longest, _, _ = others
    if model != _SUPERVISED or loss not in _LOSSES:
        raise ModelFileError(f"{path} is not a classifier: name a model that `fasttext supervised` trained")
    if _LOSSES[loss] != "softmax":
        raise ModelFileError(f"{path} was trained with -loss {_LOSSES[loss]}: only -loss softmax is supported")
    sizes = NgramSizes(ngrams, buckets, shortest, longest if version > 11 else 0)
    if dim < 1 or ngrams < 1 or buckets < 0 or (buckets == 0 and (ngrams > 1 or sizes.max_subword > 0)):
        raise _broken(path, f"{dim} numbers per word, n-grams of {ngrams}, {buckets} buckets")
    words, labels = _read_entries(path, file, size)
    vectors_at = _skip_matrix(path, file, size, len(words) + buckets, dim)
    output_at = _skip_matrix(path, file, size, len(labels), dim)
    if file.tell() != size:
        raise _broken(path, f"it has {size - file.tell()} extra bytes at its end")
    return FasttextFile(path, words, labels, dim, sizes, vectors_at, output_at)


def _read_entries(path: Path, file: BinaryIO, size: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    entries, words, labels, _, pruned = _COUNTS.unpack(file.read(_COUNTS.size))
    if words < 0 or labels < 1 or entries != words + labels or entries * (_ENTRY.size + 1) > size:
        raise _broken(path, f"{entries} entries, {words} words, {labels} labels")
    if pruned >= 0:
        raise _quantised(path)
    found: list[bytes] = []
    for number in range(entries):
        found.append(_spelling(file))
        _, is_label = _ENTRY.unpack(file.read(_ENTRY.size))
        if is_label != (number >= words):
            raise _broken(path, f"entry {number} should be a {'label' if number >= words else 'word'}")
    if len(set(found[:words])) < words or len(set(found[words:])) < labels:
        raise _broken(path, "it has a duplicate entry")
    spelled = [entry.decode("utf-8", "surrogateescape") for entry in found[:words]]
    return tuple(spelled), tuple(entry.decode("utf-8").removeprefix(LABEL) for entry in found[words:])


def _spelling(file: BinaryIO) -> bytes:
    """Read the bytes up to the next NUL."""
    spelling = bytearray()
    while (byte := file.read(1)) != b"\0":
        if not byte or len(spelling) > _LONGEST_WORD:
            raise ValueError("a word is not terminated")
        spelling += byte
    return bytes(spelling)


def _skip_matrix(path: Path, file: BinaryIO, size: int, rows: int, columns: int) -> int:
    """Check a matrix's header and size, and skip it; return the offset of its numbers."""
    is_quantised = file.read(1)
    if is_quantised == b"\1":
        raise _quantised(path)
    shape = _SHAPE.unpack(file.read(_SHAPE.size))
    start = file.tell()
    if is_quantised != b"\0" or shape != (rows, columns):
        raise _broken(path, f"a matrix of {shape[0]} x {shape[1]}, expected {rows} x {columns}")
    if start + 4 * rows * columns > size:
        raise _broken(path, f"it is {start + 4 * rows * columns - size} bytes too short")
    file.seek(4 * rows * columns, 1)
    return start


def _quantised(path: Path) -> ModelFileError:
    return ModelFileError(f"{path} is quantised: name the original model (.bin)")


def _broken(path: Path, reason: str) -> ModelFileError:
    return ModelFileError(f"{path} is damaged ({reason}): fetch it again")
