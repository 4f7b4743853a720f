"""Where an agent's answer comes from: the best replies of a pool, of all of them or as an index finds them.

The index is kept beside the pool, as ``<pool>.index``. It is of one pool and one model: of others it is built anew.
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

from parlai_empathy.agents.retrieval.pool import Pool, was_saved
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.stored_rows import StoredRows
from parlai_empathy.modules.vector_index import VectorIndex, exact_search

CHOICES = ("auto", "exact", "approximate")
RECALL = 0.99
"""How often an index has to find the best reply, or else all are looked at."""

_LARGE = 100_000  # replies from which on an index is worth its building; fewer are looked through in milliseconds
_FEWEST = 1_000  # replies that an index can learn from
_QUERIES = 1_000  # contexts that an index is tried with
_READ_BATCH = 128  # of them that are encoded at once

EncodeTurns = Callable[[list[list[str]]], Tensor]
"""Contexts, each given as its turns, to their encodings ``(n, dim)``."""


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
    """The best replies for each context, the best first.

    :param contexts: ``(n, dim)``
    :returns: their scores ``(n, k)``, and their texts; where an index finds fewer, so many texts.
    """
    if index is None:
        scores, places = exact_search(contexts, pool.encodings, k)
    else:
        scores, places = index.search(contexts, k)
    return scores, [[pool.texts[place] for place in row if place >= 0] for row in places.tolist()]


def index_for(choice: str, pool: Pool, encode: EncodeTurns) -> VectorIndex | None:
    """The index of a pool: stored beside it, or built now and stored; None where all replies are to be looked at.

    :param choice: ``--pool-index``.
    :param encode: reads contexts.
    :raises OptionError: for a choice that does not exist.
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
        index = VectorIndex.build(pool.encodings, rows, _made_up_contexts(pool.texts, encode))
        if path and is_primary_worker() and was_saved(path, partial(index.save, fingerprint=pool.fingerprint)):
            index = VectorIndex.load(path, pool.fingerprint, rows) or index  # mapped, it takes less memory
    if index.recall < RECALL:
        logging.warning(
            f"an index finds the best reply for {index.recall:.1%} of the contexts only, so all replies are looked at"
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
            f"answers from {len(pool.texts):,} replies come many times as fast with an index: "
            'pip install "parlai-empathy[index]"'
        )
        return False
    return True


def _rows(pool: Pool) -> Callable[[Tensor], Tensor]:
    """The pool's encodings, one by one: from its file, so that they take no memory."""
    if pool.path:
        return StoredRows.of_only_tensor(pool.path, pool.encodings)
    return lambda places: pool.encodings[places]


def _made_up_contexts(texts: list[str], encode: EncodeTurns) -> Tensor:
    """Encodings of contexts to try an index with, two replies of the pool after one another: ``(n, dim)``.

    Real ones may not be at hand. One reply would find itself; two that have nothing to do with each other lie, as a
    real context does, between what there is. (In a trial with a million vectors of MiniLM they needed as many lists as
    EmpatheticDialogues' contexts did for the same recall; one reply needed a quarter of them, three needed twice as
    many.)
    """
    drawn = random.Random(0)
    contexts = [drawn.sample(texts, 2) for _ in range(_QUERIES)]
    parts = [encode(contexts[start : start + _READ_BATCH]) for start in range(0, _QUERIES, _READ_BATCH)]
    return torch.cat(parts).cpu()
