"""Rows of a matrix that stays in its file: each is read when it is needed, so that the matrix takes no memory.

A memory map would work too, but the pages that were read count as the process's memory, and for a large matrix they add
up.
"""

from __future__ import annotations

import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from parlai_empathy.errors import ModelFileError

_LOCAL_HEADER = 30  # bytes of a zip entry's local header; it ends with the lengths of name and extra field


class StoredRows:
    """Reads rows of a single-precision matrix from a file.

    :param path: the file.
    :param offset: the byte at which the matrix starts.
    :param dim: number of columns.
    """

    def __init__(self, path: str | Path, offset: int, dim: int) -> None:
        self._file = Path(path).open("rb", buffering=0)  # noqa: SIM115 - read from for as long as this object lives
        self._offset = offset
        self._dim = dim

    @classmethod
    def of_only_tensor(cls, path: str | Path, tensor: Tensor) -> StoredRows:
        """Find the rows of a tensor in a file of ``torch.save`` that contains no other tensor.

        :param tensor: ``(n, dim)``, single precision, as loaded from that file.
        :raises ModelFileError: if the file cannot be read or does not contain it.
        """
        try:
            offset, size = _only_tensor(path)
        except (OSError, ValueError, struct.error, zipfile.BadZipFile) as error:
            raise ModelFileError(f"{path} cannot be read by rows ({error}): delete it to have it rebuilt") from error
        rows = cls(path, offset, tensor.size(1))
        ends = torch.tensor([0, len(tensor) - 1])
        if size != tensor.nbytes or not torch.equal(rows(ends), tensor[ends]):
            raise ModelFileError(f"{path} was changed while it was read: try again")
        return rows

    def __call__(self, places: Tensor) -> Tensor:
        """Read rows: ``(n,)`` indices to ``(n, dim)``."""
        rows = np.empty((len(places), self._dim), dtype=np.float32)
        file, size = self._file.fileno(), 4 * self._dim
        for row, place in zip(rows, places.tolist(), strict=True):
            if os.preadv(file, [row.data], self._offset + place * size) != size:
                raise ModelFileError(f"{self._file.name} ends before row {place}: delete it to have it rebuilt")
        return torch.from_numpy(rows)


def _only_tensor(path: str | Path) -> tuple[int, int]:
    """Return the offset and size, in bytes, of the data of a file's only tensor."""
    with zipfile.ZipFile(path) as archive, Path(path).open("rb") as file:
        [record] = [record for record in archive.infolist() if "/data/" in record.filename]
        if record.compress_type != zipfile.ZIP_STORED:
            raise ValueError("it is compressed")
        file.seek(record.header_offset + _LOCAL_HEADER - 4)
        name, extra = struct.unpack("<HH", file.read(4))
        return record.header_offset + _LOCAL_HEADER + name + extra, record.file_size
