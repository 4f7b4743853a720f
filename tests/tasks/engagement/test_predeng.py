"""Reading PREDENG-600."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.predeng import read_predeng
from parlai_empathy.tasks.engagement.records import RatedReply
from parlai_empathy.tasks.engagement.sets import SAMPLE

OneLine = Callable[..., None]

HEADER = "query,response,human_score,Ruber_Unref_Score\n"


def write(tmp_path: Path, rows: str) -> Path:
    path = tmp_path / "predeng600.csv"
    path.write_text(HEADER + rows, encoding="utf-8")
    return path


def test_nonadjacent_rows_of_a_pair_are_merged(tmp_path: Path) -> None:
    rows = 'Hi ?,Yes .,2,"0.1\n"\nHi ?,No .,5,0.2\nHi ?,Yes .,3,0.1\nHi ?,No .,5,0.2\nHi ?,Yes .,4,0.1\n'
    assert list(read_predeng(write(tmp_path, rows))) == [
        RatedReply("0", ("Hi ?",), "Yes .", (2, 3, 4)),
        RatedReply("1", ("Hi ?",), "No .", (5, 5)),
    ]


def test_empty_query_gives_empty_context(tmp_path: Path) -> None:
    (found,) = read_predeng(write(tmp_path, ",Hello .,3,0.1\n"))
    assert found.context == ()


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ("Hi ?,,3,0.1", ["column response", "empty"]),
        ("Hi ?,Yes .,6,0.1", ["column human_score", "'6'", "from 1 to 5"]),
        ("Hi ?,Yes .,,0.1", ["column human_score", "''"]),
    ],
)
def test_invalid_row_error_names_line_and_column(
    tmp_path: Path, assert_one_line: OneLine, row: str, parts: list[str]
) -> None:
    path = write(tmp_path, f"Hi ?,Yes .,3,0.1\n{row}\n")
    with pytest.raises(DataError) as caught:
        list(read_predeng(path))
    assert_one_line(caught.value, path, "line 3", *parts)


def test_missing_column_error_names_the_column(tmp_path: Path, assert_one_line: OneLine) -> None:
    path = tmp_path / "predeng600.csv"
    path.write_text("query,response\nHi ?,Yes .\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        list(read_predeng(path))
    assert_one_line(caught.value, path, "human_score", "query, response")


def test_sample_has_three_ratings_per_reply() -> None:
    assert [len(one.ratings) for one in read_predeng(SAMPLE / "predeng600.csv")] == [3] * 16


def test_ratings_of_the_real_data(real_data: Path) -> None:
    found = list(read_predeng(real_data / "engagement" / "predeng600.csv"))
    assert [len(one.ratings) for one in found] == [3] * 600
    # Counted in the column with awk: 568 rows have 1, 366 have 2, 306 have 3, 259 have 4 and 301 have 5.
    assert sum(sum(one.ratings) for one in found) == 568 + 2 * 366 + 3 * 306 + 4 * 259 + 5 * 301
