"""Finds the best replies of a pool, exhaustively or with an index.

The index is saved beside the pool, as ``<pool>.index``. It is rebuilt if the pool or the model changes.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
import torch
from parlai.utils.distributed import is_primary_worker
from torch import Tensor

from parlai_empathy.agents.retrieval.pool import Pool, try_save
from parlai_empathy.agents.retrieval.stored_rows import StoredRows
from parlai_empathy.agents.retrieval.vector_index import VectorIndex, exact_search
from parlai_empathy.errors import OptionError

CHOICES = ("auto", "exact", "approximate")
RECALL = 0.99
"""Minimum share of contexts for which an index must find the best reply; otherwise all replies are scored."""

_LARGE = 100_000  # replies from which on an index pays off; fewer are scored in milliseconds
_FEWEST = 1_000  # minimum number of replies for training an index
_QUERIES = 1_000  # number of contexts that an index is evaluated on
_READ_BATCH = 128  # of these contexts, encoded at once

EncodeTurns = Callable[[list[list[str]]], Tensor]
"""Encodes contexts, each given as its turns, to ``(n, dim)``."""


def add_pool_index(group: Any) -> None:
    """Add the option to an argument group of ParlAI's parser."""
    group.add_argument(
        "--pool-index",
        choices=list(CHOICES),
        default="auto",
        help="How a chat finds the best reply of the pool. exact: scores all. approximate: uses an "
        "index, which misses at most one in a hundred and is much faster; needs pip install "
        '"parlai-empathy[index]". auto: approximate from 100,000 replies on. Evaluations, and '
        "chats on a GPU, are always exact.",
    )


def best_replies(pool: Pool, index: VectorIndex | None, contexts: Tensor, k: int) -> tuple[Tensor, list[list[str]]]:
    """Return the best replies for each context, best first.

    :param contexts: ``(n, dim)``
    :returns: their scores ``(n, k)``, and their texts; fewer than ``k`` texts if an index finds fewer.
    """
    if index is None:
        scores, places = exact_search(contexts, pool.encodings, k)
    else:
        scores, places = index.search(contexts, k)
    return scores, [[pool.texts[place] for place in row if place >= 0] for row in places.tolist()]


def index_for(choice: str, pool: Pool, encode: EncodeTurns) -> VectorIndex | None:
    """Return a pool's index, loaded or else built and saved; None if all replies are to be scored.

    :param choice: ``--pool-index``.
    :param encode: encodes contexts.
    :raises OptionError: for an invalid choice.
    :raises MissingDependencyError: for ``approximate`` without Faiss.
    """
    if choice not in CHOICES:
        raise OptionError(f"--pool-index {choice}: must be one of {', '.join(CHOICES)}")
    if not _is_wanted(choice, pool):
        return None
    rows = _rows(pool)
    path = Path(f"{pool.path}.index") if pool.path else None
    index = VectorIndex.load(path, pool.fingerprint, rows) if path else None
    if index is None:
        logging.info(f"building an index of {len(pool.texts):,} replies, once")
        index = VectorIndex.build(pool.encodings, rows, _synthetic_contexts(pool.texts, encode))
        if path and is_primary_worker() and try_save(path, partial(index.save, fingerprint=pool.fingerprint)):
            index = VectorIndex.load(path, pool.fingerprint, rows) or index  # memory-mapped, it takes less memory
    if index.recall < RECALL:
        logging.warning(
            f"an index finds the best reply for only {index.recall:.1%} of the contexts, so all replies are scored"
        )
        return None
    return index


def _is_wanted(choice: str, pool: Pool) -> bool:
    if choice == "exact" or len(pool.texts) < _FEWEST or pool.encodings.device.type != "cpu":
        return False
    if choice == "approximate":
        return True
    if len(pool.texts) < _LARGE:
        return False
    if importlib.util.find_spec("faiss") is None:
        logging.warning(
            f"answers from {len(pool.texts):,} replies are many times as fast with an index: "
            'pip install "parlai-empathy[index]"'
        )
        return False
    return True


def _rows(pool: Pool) -> Callable[[Tensor], Tensor]:
    """Return a function that reads encodings by index, from the pool's file if possible, to save memory."""
    if pool.path:
        return StoredRows.of_only_tensor(pool.path, pool.encodings)
    return lambda places: pool.encodings[places]


def _synthetic_contexts(texts: list[str], encode: EncodeTurns) -> Tensor:
    """Encode synthetic contexts to evaluate an index with, each of two random replies of the pool: ``(n, dim)``.

    Real contexts may not be available. A single reply would find itself; two unrelated ones lie between the pool's
    vectors, as a real context does. (In an experiment with a million vectors of MiniLM, they needed as many lists for
    the same recall as EmpatheticDialogues' contexts; single replies needed a quarter of them, triples twice as many.)
    """
    drawn = random.Random(0)
    contexts = [drawn.sample(texts, 2) for _ in range(_QUERIES)]
    parts = [encode(contexts[start : start + _READ_BATCH]) for start in range(0, _QUERIES, _READ_BATCH)]
    return torch.cat(parts).cpu()
