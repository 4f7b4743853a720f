"""What scorers of text say of many texts, in batches that are kept: a run that was killed goes on with the next one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from parlai_empathy.curation.engagement import MILLION
from parlai_empathy.curation.engine import Engine

BATCH = 1 << 13  # texts that are scored and kept together


class TextScorer(Protocol):
    """Gives each text a number from 0 to 1: how probably it is positive in emotion, or toxic."""

    @property
    def signature(self) -> str:
        """What decides the numbers."""

    def score(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Score each text by itself, ``(n,)`` to ``(n,)``."""


def score_texts(engine: Engine, view: str, query: str, scorer: TextScorer, folder: Path) -> None:
    """Make a view with the ``name`` and ``value``, in millionths, of each text of a query.

    The texts are taken by name, and always in the same batches: what a model says of a text may depend, in the last
    digits, on which others it reads at the same time.

    :param query: gives ``name`` and ``text``.
    :param folder: where the batches are kept, for these texts and this scorer alone.
    """
    import pyarrow
    import pyarrow.parquet as parquet

    folder.mkdir(parents=True, exist_ok=True)
    count = engine.rows(f"SELECT count(*) FROM ({query}) AS texts")[0][0]
    files = [folder / f"{number:06}.parquet" for number in range((count + BATCH - 1) // BATCH)]
    done = next((number for number, file in enumerate(files) if not file.is_file()), len(files))
    rest = f"SELECT name, text FROM ({query}) AS texts ORDER BY name LIMIT {count} OFFSET {done * BATCH}"
    with tqdm(total=count, initial=min(count, done * BATCH), unit="text", desc=view, disable=None) as bar:
        for file, batch in zip(files[done:], _exactly(engine, rest, BATCH), strict=True):
            values = np.clip(np.rint(scorer.score(batch["text"].to_pylist()) * MILLION), 0, MILLION).astype(np.int64)
            unfinished = file.with_suffix(".unfinished")
            parquet.write_table(pyarrow.table({"name": batch["name"], "value": values}), unfinished)
            unfinished.replace(file)
            bar.update(len(batch))
    if not files:
        empty = folder / "empty.parquet"
        parquet.write_table(
            pyarrow.table({"name": pyarrow.array([], "string"), "value": pyarrow.array([], "int64")}), empty
        )
        files = [empty]
    engine.view(view, files)


def _exactly(engine: Engine, query: str, size: int):
    """The rows of a query in tables of exactly ``size`` rows, but for the last."""
    import pyarrow

    waiting, length = [], 0
    for table in engine.batches(query, size) if size else ():
        waiting.append(table)
        length += len(table)
        while length >= size:
            joined = pyarrow.concat_tables(waiting)
            yield joined.slice(0, size)
            waiting, length = [joined.slice(size)], length - size
    if length:
        yield pyarrow.concat_tables(waiting)
