"""Score many texts in batches that are cached, so that a killed run resumes with the next batch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from parlai_empathy.curation.engagement import MILLION
from parlai_empathy.curation.engine import Engine, exactly
from parlai_empathy.errors import ModelFileError
from parlai_empathy.files.whole_file import whole_file

BATCH = 1 << 13  # texts that are scored and cached together


class TextScorer(Protocol):
    """Scores each text from 0 to 1: the probability that its emotion is positive, or that it is toxic."""

    @property
    def signature(self) -> str:
        """Identifies everything that the scores depend on."""

    def score(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Score each text independently, ``(n,)`` to ``(n,)``."""


def score_texts(engine: Engine, view: str, query: str, scorer: TextScorer, folder: Path) -> None:
    """Create the view ``view`` with the ``name`` and the score in millionths, ``value``, of each text of a query.

    The texts are sorted by name and always split into the same batches: the last digits of a model's score may depend
    on the other texts in the batch.

    :param query: selects ``name`` and ``text``.
    :param folder: cache of the batches, only for these texts and this scorer.
    :raises ModelFileError: if a score is not a finite number.
    :raises OSError: if the folder cannot be written to.
    """
    import pyarrow

    folder.mkdir(parents=True, exist_ok=True)
    count = engine.rows(f"SELECT count(*) FROM ({query}) AS texts")[0][0]
    files = [folder / f"{number:06}.parquet" for number in range((count + BATCH - 1) // BATCH)]
    lacking = [file for file in files if not _is_whole(file)]
    done = files.index(lacking[0]) if lacking else len(files)
    rest = f"SELECT name, text FROM ({query}) AS texts ORDER BY name LIMIT {count} OFFSET {done * BATCH}"
    with tqdm(total=count, initial=min(count, done * BATCH), unit="text", desc=view, disable=None) as bar:
        for file, batch in zip(files[done:], exactly(engine, rest, BATCH), strict=True):
            if file in lacking:
                _write(file, batch["name"], _millionths(scorer, batch["text"].to_pylist()))
            bar.update(len(batch))
    if not files:
        files = [folder / "empty.parquet"]
        _write(files[0], pyarrow.array([], "string"), np.array([], dtype=np.int64))
    engine.view(view, files)


def _millionths(scorer: TextScorer, texts: Sequence[str]) -> NDArray[np.int64]:
    """Return the scores of texts in millionths, ``(n,)``. Raises :class:`ModelFileError` if one is not finite."""
    scores = scorer.score(texts)
    if not np.isfinite(scores).all():
        raise ModelFileError(f"{scorer.signature} gives a score that is not a number: its model is broken")
    return np.clip(np.rint(scores * MILLION), 0, MILLION).astype(np.int64)


def _is_whole(file: Path) -> bool:
    """Whether a batch exists and is undamaged."""
    import pyarrow
    import pyarrow.parquet as parquet

    try:
        return bool(parquet.read_table(file, page_checksum_verification=True).column_names == ["name", "value"])
    except (OSError, pyarrow.ArrowException):
        return False


def _write(file: Path, names: Any, values: NDArray[np.int64]) -> None:
    """Write a batch atomically."""
    import pyarrow
    import pyarrow.parquet as parquet

    with whole_file(file) as unfinished:
        parquet.write_table(pyarrow.table({"name": names, "value": values}), unfinished, write_page_checksum=True)
