"""Reading EPITOME's files: their contents, and every kind of error."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.epitome.mechanisms import MECHANISMS, file_name
from parlai_empathy.tasks.epitome.reader import COLUMNS, read_epitome, read_ratings

OneLine = Callable[..., None]
Row = Sequence[str]

FIRST = ("s1", "r1", "I can't sleep.", "I'm so sorry.  What keeps you awake?")
SECOND = ("s2", "r2", "Nobody, \nwrote.", "I know &amp; hate that.")
ROWS: dict[str, list[Row]] = {
    "emotional_reactions": [(*FIRST, "2", "I'm so sorry.|"), (*SECOND, "0", "")],
    "interpretations": [(*FIRST, "0", ""), (*SECOND, "1", "I know & hate that|")],
    "explorations": [(*FIRST, "2", "What keeps you awake?|nowhere to be found|"), (*SECOND, "1", "")],
}


def write(folder: Path, rows: dict[str, list[Row]], header: Row = COLUMNS) -> Path:
    """Write the three files as they are published, with the same line ends."""
    for mechanism, lines in rows.items():
        with (folder / file_name(mechanism)).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\r\n").writerows([header, *lines])
    return folder


def changed(mechanism: str, number: int, row: Row) -> dict[str, list[Row]]:
    rows = {name: list(lines) for name, lines in ROWS.items()}
    rows[mechanism][number] = row
    return rows


def test_pairs_have_levels_and_rationale_spans(tmp_path: Path) -> None:
    first, second = read_epitome(write(tmp_path, ROWS))
    assert (first.seeker_id, first.response_id, first.seeker) == ("s1", "r1", "I can't sleep.")
    assert first.response == "I'm so sorry. What keeps you awake?"
    assert first.levels == {"emotional_reactions": 2, "interpretations": 0, "explorations": 2}
    assert first.rationales == {"emotional_reactions": ((0, 13),), "interpretations": (), "explorations": ((14, 35),)}
    assert first.lost == ("nowhere to be found",)
    assert second.seeker == "Nobody, wrote."
    assert second.rationales["interpretations"] == ((0, 18),)
    assert second.rationales["explorations"] == ()  # rated without a quotation
    assert list(first.levels) == list(MECHANISMS)


def test_pair_rated_twice_is_yielded_twice(tmp_path: Path) -> None:
    rows = {mechanism: [lines[0], lines[0]] for mechanism, lines in ROWS.items()}
    assert len(list(read_epitome(write(tmp_path, rows)))) == 2


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    rows = {name: [(line[5], line[4], *line[:4]) for line in lines] for name, lines in ROWS.items()}
    header = ("rationales", "level", *COLUMNS[:4])
    assert [pair.levels["explorations"] for pair in read_epitome(write(tmp_path, rows, header))] == [2, 1]


def test_line_number_is_where_the_row_begins(tmp_path: Path) -> None:
    """The second row's post contains a line end, so the third row begins on line 5."""
    path = write(tmp_path, {"explorations": [*ROWS["explorations"], ROWS["explorations"][0]]})
    assert [rating.line for rating in read_ratings(path / file_name("explorations"))] == [2, 3, 5]


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ((*SECOND, "3", ""), ["line 3", "column level", "'3'", "is not one of the levels 0, 1 and 2"]),
        ((*SECOND, "", ""), ["line 3", "column level", "''"]),
        ((*SECOND, "1.0", ""), ["line 3", "column level", "'1.0'"]),
        ((*SECOND, "0", "I know"), ["line 3", "column rationales", "'I know'", "level 0"]),
        (("s2", "r2", "  ", "x", "0", ""), ["line 3", "column seeker_post", "is empty"]),
        (("s2", "r2", "x", "&#x200B;", "0", ""), ["line 3", "column response_post", "is empty"]),
        (("", "r2", "x", "x", "0", ""), ["line 3", "column sp_id", "is empty"]),
        (SECOND, ["line 3", "column level", "is missing: a row has 6 fields"]),
        ((*SECOND, "0", "", "more"), ["line 3", "column 7", "'more'", "one field too many"]),
        (("s9", *SECOND[1:], "0", ""), ["line 3", "column sp_id", "'s9'", "s2, r2 in interpretations-reddit.csv"]),
    ],
)
def test_invalid_row_error_names_line_and_column(
    tmp_path: Path, assert_one_line: OneLine, row: Row, parts: list[str]
) -> None:
    write(tmp_path, changed("explorations", 1, row))
    with pytest.raises(DataError) as caught:
        list(read_epitome(tmp_path))
    assert_one_line(caught.value, tmp_path / "explorations-reddit.csv", *parts)


def test_long_value_is_truncated_in_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    write(tmp_path, changed("explorations", 1, (*SECOND, "much " * 1000, "")))
    with pytest.raises(DataError) as caught:
        list(read_epitome(tmp_path))
    assert_one_line(caught.value, "much much", "...")
    assert len(str(caught.value)) < len(str(tmp_path)) + 200


def test_truncated_file_error_names_both_row_counts(tmp_path: Path, assert_one_line: OneLine) -> None:
    write(tmp_path, {**ROWS, "explorations": ROWS["explorations"][:1]})
    with pytest.raises(DataError) as caught:
        list(read_epitome(tmp_path))
    assert_one_line(caught.value, "explorations-reddit.csv holds 1 pairs and interpretations-reddit.csv 2")


def test_missing_column_error_names_the_column(tmp_path: Path, assert_one_line: OneLine) -> None:
    write(tmp_path, ROWS, ("id", *COLUMNS[1:]))
    with pytest.raises(DataError) as caught:
        list(read_epitome(tmp_path))
    assert_one_line(caught.value, "line 1", "column sp_id is missing", "id,rp_id")


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"", ["line 1", "column sp_id is missing"]),
        (b"<!DOCTYPE html>\n<html>", ["line 1", "column sp_id is missing", "<!DOCTYPE"]),
        (",".join(COLUMNS).encode() + b"\na,b,c,d,0,\na,b,c,caf\xe9,0,\n", ["line 3", "is not UTF-8"]),
        (
            ",".join(COLUMNS).encode() + b'\na,b,c,d,0,\na,b,"c" x,d,0,\n',
            ["after line 2", "not a valid row of a CSV file"],
        ),
        (",".join(COLUMNS).encode() + b'\na,b,c,d,0,\na,b,"c', ["after line 2", "not a valid row of a CSV file"]),
    ],
)
def test_invalid_file_error_names_line_and_cause(
    tmp_path: Path, assert_one_line: OneLine, content: bytes, parts: list[str]
) -> None:
    path = tmp_path / "explorations-reddit.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(read_ratings(path))
    assert_one_line(caught.value, path, *parts)


def test_missing_file_error_names_the_file(tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        list(read_epitome(tmp_path))
    assert_one_line(caught.value, "emotional-reactions-reddit.csv", "cannot be read")


# --- the data set itself ---------------------------------------------------------------------------------------------


def test_full_dataset_has_published_level_counts(real_data: Path) -> None:
    """The level counts listed with the data, 3 x 3,084; all quotations are found, and 13 levels above 0 have none."""
    pairs = list(read_epitome(real_data / "epitome"))
    assert {name: sorted(Counter(pair.levels[name] for pair in pairs).items()) for name in MECHANISMS} == {
        "emotional_reactions": [(0, 2037), (1, 895), (2, 152)],
        "interpretations": [(0, 1626), (1, 114), (2, 1344)],
        "explorations": [(0, 2604), (1, 104), (2, 376)],
    }
    assert sum(len(pair.lost) for pair in pairs) == 0
    kinds = Counter((pair.levels[name] > 0, bool(pair.rationales[name])) for pair in pairs for name in MECHANISMS)
    assert kinds == {(False, False): 6267, (True, True): 2972, (True, False): 13}
