"""Reading the Parquet file of ``parlai curate_red``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parlai_empathy.errors import DataError, MissingDependencyError
from parlai_empathy.tasks.red.build import SAMPLE
from parlai_empathy.tasks.red.parquet import read_parquet
from parlai_empathy.tasks.red.reader import read_red
from parlai_empathy.tasks.red.records import COLUMNS, TEXTS

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

OneLine = Callable[..., None]


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    """The sample's rows, which a test may change."""
    return [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]


def write(tmp_path: Path, rows: list[dict[str, Any]], types: dict[str, Any] | None = None) -> Path:
    """Write a file in the layout of ``parlai curate_red``: strings and doubles."""
    kinds = {name: pyarrow.string() if name in TEXTS else pyarrow.float64() for name in rows[0]} | (types or {})
    table = pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(list(kinds.items())))
    parquet.write_table(table, tmp_path / "red.parquet", compression="zstd", row_group_size=50)
    return tmp_path / "red.parquet"


def test_parquet_and_jsonl_give_the_same_posts(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    assert list(read_parquet(write(tmp_path, rows))) == read_red(SAMPLE)


def test_column_order_and_extra_columns_do_not_matter(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    turned = [{**dict(reversed(row.items())), "id": "t1_x"} for row in rows]
    assert list(read_parquet(write(tmp_path, turned, {"id": pyarrow.string()}))) == read_red(SAMPLE)


@pytest.mark.parametrize(
    "kind", [pyarrow.large_string(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())], ids=str
)
def test_large_and_dictionary_encoded_strings_are_read(tmp_path: Path, rows: list[dict[str, Any]], kind: Any) -> None:
    assert list(read_parquet(write(tmp_path, rows, dict.fromkeys(TEXTS, kind)))) == read_red(SAMPLE)


def test_null_column_gives_posts_without_that_dimension(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    path = write(tmp_path, [{**row, "ee_norm": None} for row in rows], {"ee_norm": pyarrow.null()})
    assert not any("ee" in post.dimensions for post in read_parquet(path))


@pytest.mark.parametrize("missing", COLUMNS)
def test_missing_column_error_names_the_column(
    tmp_path: Path, rows: list[dict[str, Any]], assert_one_line: OneLine, missing: str
) -> None:
    path = write(tmp_path, [{name: value for name, value in row.items() if name != missing} for row in rows])
    with pytest.raises(DataError) as caught:
        list(read_parquet(path))
    assert_one_line(caught.value, path, f"the column {missing} is missing")


def test_two_columns_of_one_name_raise_data_error(
    tmp_path: Path, rows: list[dict[str, Any]], assert_one_line: OneLine
) -> None:
    table = parquet.read_table(path := write(tmp_path, rows))
    parquet.write_table(table.append_column("post", table["parent"]), path)
    with pytest.raises(DataError) as caught:
        list(read_parquet(path))
    assert_one_line(caught.value, path, "post is the name of two columns")


@pytest.mark.parametrize(
    ("column", "value", "kind", "wanted"),
    [
        ("engagement", "0.5", pyarrow.string(), "numbers"),
        ("label", 1, pyarrow.int64(), "texts"),
        ("post", b"Goats!", pyarrow.binary(), "texts"),
    ],
)
def test_wrong_column_type_error_names_the_column(
    tmp_path: Path,
    rows: list[dict[str, Any]],
    assert_one_line: OneLine,
    column: str,
    value: object,
    kind: Any,
    wanted: str,
) -> None:
    path = write(tmp_path, [{**row, column: value} for row in rows], {column: kind})
    with pytest.raises(DataError) as caught:
        list(read_parquet(path))
    assert_one_line(caught.value, path, f"column {column}", str(kind), f"not of {wanted}")


@pytest.mark.parametrize(("column", "value"), [("label", "so so"), ("post", None), ("ae_norm", 7.0)])
def test_invalid_value_error_names_row_and_column(
    tmp_path: Path, rows: list[dict[str, Any]], assert_one_line: OneLine, column: str, value: object
) -> None:
    rows[70][column] = value
    path = write(tmp_path, rows)
    with pytest.raises(DataError) as caught:
        list(read_parquet(path))
    assert_one_line(caught.value, f"{path}, row 71, column {column}")


@pytest.mark.parametrize("keep", [0, 3, 0.5, -1])
def test_broken_file_raises_data_error(
    tmp_path: Path, rows: list[dict[str, Any]], assert_one_line: OneLine, keep: float
) -> None:
    path = write(tmp_path, rows)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * keep) if keep == 0.5 else int(keep)])
    with pytest.raises(DataError) as caught:
        list(read_parquet(path))
    assert_one_line(caught.value, path, "cannot be read as Parquet")


def test_corrupt_page_raises_data_error(tmp_path: Path, rows: list[dict[str, Any]], assert_one_line: OneLine) -> None:
    path = write(tmp_path, rows)
    whole = bytearray(path.read_bytes())
    whole[40:200] = b"\xff" * 160  # the first column's first page
    path.write_bytes(bytes(whole))
    with pytest.raises(DataError) as caught:
        list(read_parquet(path))
    assert_one_line(caught.value, path)


def test_missing_file_error_names_the_file(tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        list(read_parquet(tmp_path / "none.parquet"))
    assert_one_line(caught.value, tmp_path / "none.parquet")


def test_missing_pyarrow_error_names_the_extra(
    tmp_path: Path, rows: list[dict[str, Any]], assert_one_line: OneLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, rows)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError) as caught:
        list(read_parquet(path))
    assert_one_line(caught.value, path, 'pip install "parlai-empathy[red]"')
