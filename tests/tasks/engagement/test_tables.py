"""Reading tables in all supported formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.tables import read_table

OneLine = Callable[..., None]

SAME = {
    "csv": '\ufeffPost,Human Score\r\n"One, and\n two.",3\r\n\r\nThree.,4\r\n',
    "tsv": 'post\thuman-score\n"One, and\n two."\t3\nThree.\t4\n',
    "jsonl": '{"post": "One, and\\n two.", "Human_Score": 3}\n\n{"post": "Three.", "human score": "4"}\n',
}


@pytest.mark.parametrize("kind", SAME)
def test_all_formats_give_the_same_rows(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"table.{kind}"
    path.write_text(SAME[kind], encoding="utf-8", newline="")
    rows = list(read_table(path))
    assert [(row.text("post"), row.text("human_score")) for row in rows] == [("One, and\n two.", "3"), ("Three.", "4")]


def test_rows_record_their_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('post\n"One,\ntwo"\nThree\n', encoding="utf-8")
    assert [row.where for row in read_table(path)] == [f"{path}, line 2", f"{path}, line 4"]


def test_first_existing_column_is_used(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    path.write_text('{"reply": "No.", "response": null}\n', encoding="utf-8")
    (row,) = read_table(path)
    assert row.text("text", "reply") == "No."
    assert row.text("response", "reply") == ""


def test_missing_column_error_names_the_columns(tmp_path: Path, assert_one_line: OneLine) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    (row,) = read_table(path)
    with pytest.raises(DataError) as caught:
        row.text("post", "text")
    assert_one_line(caught.value, path, "line 2", "post or text", "a, b")


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("t.csv", b"a,b\n1\n", ["line 2", "1 field(s)", "2"]),
        ("t.csv", b"a,b\n1,2,3\n", ["line 2", "3 field(s)", "2"]),
        ("t.csv", b'a\n"no end\n', ["after line"]),
        ("t.csv", b"a,b,a\n1,2,3\n", ["line 1", "'a' is the name of two columns"]),
        ("t.tsv", b"\na\thuman score\tHuman_Score\n1\t2\t3\n", ["line 2", "'human_score' is the name of two columns"]),
        ("t.jsonl", b'{"a": 1}\n{"Human Score": 1, "human_score": 2}\n', ["line 2", "two columns"]),
        ("t.tsv", b"a\ncaf\xe9\n", ["UTF-8"]),
        ("t.jsonl", b"{}\n{\n", ["line 2", "not JSON"]),
        ("t.jsonl", b"[1]\n", ["line 1", "not an object"]),
        ("t.xlsx", b"", [".csv, .tsv, .jsonl"]),
    ],
)
def test_invalid_table_raises_data_error(
    tmp_path: Path, assert_one_line: OneLine, name: str, content: bytes, parts: list[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(read_table(path))
    assert_one_line(caught.value, path, *parts)


def test_missing_file_error_names_the_file(tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        list(read_table(tmp_path / "none.csv"))
    assert_one_line(caught.value, tmp_path / "none.csv", "cannot be read")


@pytest.mark.parametrize("value", ["[1]", "true", '{"a": 1}'])
def test_value_neither_text_nor_number_raises_data_error(tmp_path: Path, assert_one_line: OneLine, value: str) -> None:
    path = tmp_path / "table.jsonl"
    path.write_text(f'{{"post": {value}}}\n', encoding="utf-8")
    (row,) = read_table(path)
    with pytest.raises(DataError) as caught:
        row.text("post")
    assert_one_line(caught.value, path, "column post", "neither a text nor a number")


def test_several_unnamed_columns_are_allowed(tmp_path: Path) -> None:
    """As spreadsheets write them."""
    path = tmp_path / "t.csv"
    path.write_text("post,,\nOne.,,\n", encoding="utf-8")
    assert [row.text("post") for row in read_table(path)] == ["One."]


def test_lone_surrogate_error_names_line_and_column(tmp_path: Path, assert_one_line: OneLine) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"post": "Yes."}\n{"post": "\\ud83d"}\n', encoding="utf-8")
    first, second = read_table(path)
    assert first.text("post") == "Yes."
    with pytest.raises(DataError) as caught:
        second.text("post")
    assert_one_line(caught.value, path, "line 2", "column post", "half a character")


def test_unclosed_quotation_mark_in_tab_separated_table_raises_data_error(
    tmp_path: Path, assert_one_line: OneLine
) -> None:
    """It would swallow the rows up to the next one."""
    (path := tmp_path / "t.tsv").write_text('text\tlabel\n"Hello there\t1\nbye"\t0\nGoats!\t1\n')
    with pytest.raises(DataError) as caught:
        list(read_table(path))
    assert_one_line(caught.value, f"{path}, line 2", "'Hello there\\t1\\nbye' is one field", "quotation marks")
