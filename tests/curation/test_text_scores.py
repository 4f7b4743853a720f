"""Scores of texts: batches with fixed contents are saved one by one, so that an interrupted run can resume."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from pyarrow import parquet

from parlai_empathy.curation import text_scores
from parlai_empathy.curation.engine import Engine, open_engine
from parlai_empathy.curation.text_scores import score_texts
from parlai_empathy.errors import ModelFileError

NAMES = [f"t1_{number:02}" for number in range(11)]
QUERY = (
    "SELECT 't1_' || lpad(range::VARCHAR, 2, '0') AS name, 'text ' || range AS text FROM range(11) ORDER BY hash(range)"
)
SIZE = 4


class Lengths:
    """Scores a text by its last digit, in tenths, and records the texts of each call."""

    signature = "lengths"

    def __init__(self, fails_at: int = -1, gives: float | None = None) -> None:
        self.asked: list[list[str]] = []
        self._fails_at, self._gives = fails_at, gives

    def score(self, texts: Sequence[str]) -> NDArray[np.float64]:
        if len(self.asked) == self._fails_at:
            raise RuntimeError("out of order")
        self.asked.append(list(texts))
        return np.array([int(text[-1]) / 10 if self._gives is None else self._gives for text in texts])


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_scores, "BATCH", SIZE)


def scores(engine: Engine, view: str = "found") -> dict[str, int]:
    return dict(engine.rows(f"SELECT name, value FROM {view}"))


EXPECTED = {name: 100_000 * (number % 10) for number, name in enumerate(NAMES)}
BATCHES = [[f"text {number}" for number in range(start, min(start + SIZE, 11))] for start in (0, 4, 8)]


def test_texts_are_scored_in_name_order_and_fixed_size_batches(engine: Engine, tmp_path: Path) -> None:
    scorer = Lengths()
    score_texts(engine, "found", QUERY, scorer, tmp_path / "kept")
    assert scorer.asked == BATCHES
    assert scores(engine) == EXPECTED
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == [f"00000{n}.parquet" for n in range(3)]


def test_saved_scores_are_not_recomputed(engine: Engine, tmp_path: Path) -> None:
    score_texts(engine, "found", QUERY, Lengths(), tmp_path / "kept")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    again = Lengths()
    score_texts(engine, "again", QUERY, again, tmp_path / "kept")
    assert (again.asked, scores(engine, "again")) == ([], EXPECTED)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()} == before


@pytest.mark.parametrize("done", [0, 1, 2])
def test_failing_scorer_loses_only_the_current_batch(engine: Engine, tmp_path: Path, done: int) -> None:
    with pytest.raises(RuntimeError, match="out of order"):
        score_texts(engine, "found", QUERY, Lengths(fails_at=done), tmp_path / "kept")
    assert len(list((tmp_path / "kept").iterdir())) == done
    rest = Lengths()
    score_texts(engine, "found", QUERY, rest, tmp_path / "kept")
    assert (rest.asked, scores(engine)) == (BATCHES[done:], EXPECTED)


@pytest.mark.parametrize("change", [lambda whole: whole.replace(b"t1_04", b"t1_94"), lambda whole: whole[:-9]])
def test_damaged_batch_is_scored_again(engine: Engine, tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    score_texts(engine, "found", QUERY, Lengths(), tmp_path / "kept")
    (damaged := tmp_path / "kept" / "000001.parquet").write_bytes(change(damaged.read_bytes()))
    rest = Lengths()
    score_texts(engine, "found", QUERY, rest, tmp_path / "kept")
    assert (rest.asked, scores(engine)) == (BATCHES[1:2], EXPECTED)


def test_no_texts_yield_no_scores(engine: Engine, tmp_path: Path) -> None:
    for _ in range(2):
        score_texts(engine, "found", f"SELECT * FROM ({QUERY}) WHERE false", Lengths(fails_at=0), tmp_path / "kept")
        assert scores(engine) == {}


@pytest.mark.parametrize("count", [1, 4, 8])
def test_full_and_partial_batches_are_scored(engine: Engine, tmp_path: Path, count: int) -> None:
    query = f"SELECT * FROM ({QUERY}) WHERE name < 't1_{count:02}'"
    score_texts(engine, "found", query, Lengths(), tmp_path / "kept")
    assert scores(engine) == {name: EXPECTED[name] for name in NAMES[:count]}


@pytest.mark.parametrize(("given", "kept"), [(-0.1, 0), (1.00001, 1_000_000), (0.4999999, 500_000)])
def test_scores_are_clipped_and_saved_as_millionths(engine: Engine, tmp_path: Path, given: float, kept: int) -> None:
    score_texts(engine, "found", QUERY, Lengths(gives=given), tmp_path / "kept")
    assert set(scores(engine).values()) == {kept}


@pytest.mark.parametrize("given", [np.nan, np.inf, -np.inf])
def test_non_finite_scores_raise_model_file_error(
    engine: Engine, tmp_path: Path, given: float, assert_one_line: Callable[..., None]
) -> None:
    with pytest.raises(ModelFileError) as caught:
        score_texts(engine, "found", QUERY, Lengths(gives=given), tmp_path / "kept")
    assert_one_line(caught.value, "lengths gives a score that is not a number")
    assert list((tmp_path / "kept").iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from parlai_empathy.curation import text_scores
from parlai_empathy.curation.engine import open_engine
folder, text_scores.BATCH = Path(sys.argv[1]), 4
class Scorer:
    signature = "killed"
    batches = 0
    def score(self, texts):
        self.batches += 1
        if self.batches == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return np.array([int(text[-1]) / 10 for text in texts])
write = text_scores._write
def written(file, names, values):
    if sys.argv[3] == "writing" and file.stem == "000002":
        Path(f"{file}.unfinished").write_bytes(b"PAR1 half of it")
        os.kill(os.getpid(), signal.SIGKILL)
    write(file, names, values)
text_scores._write = written
Scorer.batches = -9 if sys.argv[3] == "writing" else 0
engine = open_engine("duckdb", folder / "engine", "1GB", 1)
text_scores.score_texts(engine, "found", sys.argv[2], Scorer(), folder / "kept")
"""


@pytest.mark.parametrize("moment", ["scoring", "writing"])
def test_killed_run_resumes_without_partial_files(tmp_path: Path, moment: str) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), QUERY, moment], stderr=subprocess.DEVNULL, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    kept = sorted((tmp_path / "kept").glob("*.parquet"))
    assert [len(parquet.read_table(path)) for path in kept] == [4, 4]
    rest, engine = Lengths(), open_engine("duckdb", tmp_path / "engine", "1GB", 1)
    score_texts(engine, "found", QUERY, rest, tmp_path / "kept")
    assert (rest.asked, scores(engine)) == (BATCHES[2:], EXPECTED)
    assert {path.suffix for path in (tmp_path / "kept").iterdir()} == {".parquet"}
    engine.close()
