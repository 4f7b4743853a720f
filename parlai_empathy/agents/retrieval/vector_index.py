"""Search for the vectors with the largest dot products with a query, exactly or with an approximate index.

The index is Faiss's: vectors are grouped into lists around centroids and compressed to four bits per two numbers, and a
query searches only the lists with the nearest centroids. The results are scored again with the original vectors. This
kind was chosen over graphs (HNSW, as in usearch and hnswlib) because it is built in a minute rather than in half an
hour, and takes a fourteenth of the vectors' memory rather than more than half. Eight bits per number instead of two had
no better recall, and were several times as slow.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from parlai_empathy.errors import MissingDependencyError
from parlai_empathy.files.whole_file import whole_file

_BLOCK = 2**16  # vectors that are scored at once
_SHORTLIST = 200  # minimum number of results to score again
_LONGEST = 6400  # maximum number of results to score again: beyond it, exact search is as fast
_SAMPLE = 40  # training vectors per list, for the centroids
_ROUNDS = 8  # k-means iterations for the centroids
_WANTED = 0.995  # share of the queries whose best vector is found: above the promised one, because they are a sample
_HOPELESS = 0.01  # share of the queries that search the right list and miss: above it, more lists do not help
_LEAST = 16  # minimum number of lists that a query searches
_ABOUT = 4096  # maximum bytes of the metadata after the index

Rows = Callable[[Tensor], Tensor]
"""Maps indices ``(n,)`` to the vectors there, ``(n, dim)``."""


def exact_search(queries: Tensor, vectors: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the best vectors for each query; among equal scores the lower index comes first.

    If only some of the vectors with equal scores fit into the best ``k``, it is undefined which ones.

    :param queries: ``(n, dim)``
    :param vectors: ``(m, dim)``
    :returns: dot products, the largest first, and the vectors' indices: both ``(n, min(k, m))``.
    """
    found = []
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        scores, places = (queries @ block.T).topk(min(k, len(block)), dim=1)
        found.append((scores, places + start))
    scores, places = (torch.cat(parts, dim=1) for parts in zip(*found, strict=True))
    return _in_order(scores, places, k)


def _in_order(scores: Tensor, places: Tensor, k: int) -> tuple[Tensor, Tensor]:
    places, order = places.sort(dim=1)
    scores, best = scores.gather(1, order).sort(dim=1, descending=True, stable=True)
    return scores[:, :k], places.gather(1, best)[:, :k]


class VectorIndex:
    """An approximate index, which finds most of the best vectors while searching only a few lists.

    :param index: the Faiss index.
    :param rows: returns the original vectors.
    :param shortlist: number of results of each query to score again.
    :param recall: the share of queries whose best vector it found when it was built.
    """

    def __init__(self, index: Any, rows: Rows, shortlist: int, recall: float) -> None:
        self._index = index
        self._rows = rows
        self.shortlist = shortlist
        self.recall = recall

    @classmethod
    def build(cls, vectors: Tensor, rows: Rows, queries: Tensor) -> VectorIndex:
        """Build an index, with a progress bar.

        :param vectors: ``(m, dim)``, single precision.
        :param queries: ``(n, dim)``, similar to future ones: they determine how many lists a query searches, and how
            many results are scored again.
        :raises MissingDependencyError: if Faiss is not installed.
        """
        index = _trained(vectors)
        for start in tqdm(range(0, len(vectors), _BLOCK), desc="indexing the pool", disable=len(vectors) <= _BLOCK):
            index.add(vectors[start : start + _BLOCK].numpy())
        built = cls(index, rows, min(_SHORTLIST, len(vectors)), 0.0)
        built._widen(vectors, queries)
        return built

    def _widen(self, vectors: Tensor, queries: Tensor) -> None:
        """Search more lists, or score more results again, until the best vectors of enough queries are found."""
        scores, places = exact_search(queries, vectors, 1)
        longest = min(_LONGEST, len(vectors))
        lists = torch.from_numpy(self._index.quantizer.search(vectors[places[:, 0]].numpy(), 1)[1])
        self._index.nprobe = min(_LEAST, self._index.nlist)
        while True:
            # Either of two equal vectors will do, and the two dot products may differ in the last bits.
            missed = self.search(queries, 1)[0][:, 0] < (scores - 1e-5 * scores.abs())[:, 0]
            self.recall = 1 - float(missed.double().mean())
            if self.recall >= _WANTED:
                return
            looked_into = torch.from_numpy(self._index.quantizer.search(queries[missed].numpy(), self._index.nprobe)[1])
            were_near = (looked_into == lists[missed]).any(dim=1)  # but other vectors seemed better
            if were_near.double().mean() > 0.5 and self.shortlist < longest:
                self.shortlist = min(self.shortlist * 2, longest)
            elif self._index.nprobe < self._index.nlist and were_near.sum() <= _HOPELESS * len(queries):
                self._index.nprobe = min(self._index.nprobe * 4 // 3, self._index.nlist)
            else:
                return

    def search(self, queries: Tensor, k: int) -> tuple[Tensor, Tensor]:
        """Search as :func:`exact_search` does. If fewer than ``k`` are found, indices are -1, scores minus infinity."""
        found = torch.from_numpy(self._index.search(queries.numpy(), max(2 * k, self.shortlist))[1])
        scores = torch.full(found.shape, -torch.inf)
        for query, row, places in zip(queries, scores, found, strict=True):
            real = places >= 0
            row[real] = self._rows(places[real]) @ query
        return _in_order(scores, found, k)

    def save(self, path: str | Path, fingerprint: str) -> None:
        """Write the index atomically.

        :param fingerprint: a hash that identifies the vectors.
        """
        about = {"fingerprint": fingerprint, "shortlist": self.shortlist, "recall": self.recall}
        with whole_file(Path(path), is_shared=True) as unfinished:
            _faiss().write_index(self._index, str(unfinished))
            with unfinished.open("ab") as file:
                file.write(b"\n" + json.dumps(about).encode())

    @classmethod
    def load(cls, path: str | Path, fingerprint: str, rows: Rows) -> VectorIndex | None:
        """Memory-map a stored index; return None if it is missing, broken, or of other vectors.

        :raises MissingDependencyError: if Faiss is not installed.
        """
        about = _about(Path(path))
        if about.get("fingerprint") != fingerprint:
            return None
        library = _faiss()
        try:
            index = library.read_index(str(path), library.IO_FLAG_MMAP_IFC)
            return cls(index, rows, about["shortlist"], about["recall"])
        except (RuntimeError, KeyError):
            return None


def _trained(vectors: Tensor) -> Any:
    """Return an empty index with centroids trained on a sample."""
    number, dim = vectors.shape
    lists = 2 ** round(math.log2(2 * number**0.5))  # balances choosing lists and scanning them
    codes = dim // 2 if dim % 2 == 0 else dim
    library = _faiss()
    index = library.index_factory(dim, f"IVF{lists},PQ{codes}x4fs", library.METRIC_INNER_PRODUCT)
    index.cp.niter = _ROUNDS
    sample = torch.randperm(number, generator=torch.Generator().manual_seed(0))[: max(_SAMPLE * lists, 2**12)]
    index.train(vectors[sample.sort().values].numpy())
    return index


def _about(path: Path) -> dict[str, Any]:
    """Return the metadata stored after an index."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _ABOUT))
            found: Any = json.loads(file.read().rpartition(b"\n")[2])
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise MissingDependencyError(
            '--pool-index approximate needs Faiss: pip install "parlai-empathy[index]"'
        ) from error
    return faiss
