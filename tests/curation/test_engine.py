"""DuckDB as an engine: views, tables and rows, files left on disk, and unknown engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from parlai_empathy.curation.engine import Engine, exactly, open_engine
from parlai_empathy.curation.names import ENGINES
from parlai_empathy.errors import DataError, OptionError

OneLine = Callable[..., None]


def test_view_reads_files_with_special_characters_in_paths(engine: Engine, tmp_path: Path) -> None:
    names = ("plain", "a[1]", "b*?", "c{d,e}", "it's", "f g%20")
    files = [tmp_path / name / "part.parquet" for name in names]
    for number, file in enumerate(files):
        file.parent.mkdir()
        parquet.write_table(pyarrow.table({"n": [number]}), file)
    engine.view("numbers", files)
    assert sorted(engine.rows("SELECT n FROM numbers")) == [(number,) for number in range(6)]
    engine.view("numbers", files[:1])  # a name can be reused
    assert engine.rows("SELECT n FROM numbers") == [(0,)]


def test_table_is_computed_once_and_view_on_each_query(engine: Engine) -> None:
    engine.table("source", "SELECT 1 AS n")
    engine.table("kept", "SELECT n + 1 AS n FROM source")
    engine.view_of("seen", "SELECT n + 1 AS n FROM source")
    engine.table("source", "SELECT 10 AS n")
    assert (engine.rows("SELECT n FROM kept"), engine.rows("SELECT n FROM seen")) == ([(2,)], [(11,)])


@pytest.mark.parametrize("size", [1, 7, 100, 2048, 5000])
def test_exactly_yields_ordered_tables_of_given_size(engine: Engine, size: int) -> None:
    tables = list(exactly(engine, "SELECT range AS n FROM range(4999) ORDER BY n", size))
    assert [n for table in tables for n in table["n"].to_pylist()] == list(range(4999))
    assert {len(table) for table in tables[:-1]} <= {size}
    assert 1 <= len(tables[-1]) <= size
    assert list(exactly(engine, "SELECT 1 AS n WHERE false", size)) == []


class _Uneven:
    """An engine whose tables do not have the requested sizes."""

    def batches(self, query: str, size: int) -> Iterator[Any]:
        for start, end in ((0, 1), (1, 1), (1, 9), (9, 10)):
            yield pyarrow.table({"n": pyarrow.array(range(start, end), "int64")})


@pytest.mark.parametrize(("size", "lengths"), [(1, [1] * 10), (3, [3, 3, 3, 1]), (5, [5, 5]), (20, [10])])
def test_exactly_regroups_tables_of_uneven_sizes(size: int, lengths: list[int]) -> None:
    tables = list(exactly(_Uneven(), "", size))  # type: ignore[arg-type]
    assert [len(table) for table in tables] == lengths
    assert [n for table in tables for n in table["n"].to_pylist()] == list(range(10))


def test_engine_folder_is_emptied_on_open_and_removed_on_close(tmp_path: Path) -> None:
    folder = tmp_path / "engine"
    folder.mkdir()
    (folder / "spilled").write_text("left")
    engine = open_engine("duckdb", folder, "1GB", 1)
    assert list(folder.iterdir()) == []
    engine.close()
    assert not folder.exists()


def test_unknown_engine_raises_option_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(OptionError) as caught:
        open_engine("sqlite", tmp_path, "1GB", 1)
    assert_one_line(caught.value, "--engine sqlite", *ENGINES)


def test_uncreatable_folder_raises_data_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(DataError) as caught:
        open_engine("duckdb", tmp_path / "out" / "engine", "1GB", 1)
    assert_one_line(caught.value, tmp_path / "out" / "engine", "--out")
