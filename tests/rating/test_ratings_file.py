"""Reading files of ratings: valid files, and every kind of error."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.rating.names import FORMER
from parlai_empathy.rating.rating import Rating
from parlai_empathy.rating.ratings_file import by_question, by_unit, ratings_of, read_ratings

HEADER = "item,rater,rating\n"
SKIP = " (or leave such rows out with --skip-bad-rows true)"


def write(folder: Path, content: str | bytes, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(
    folder: Path, content: str | bytes, name: str = "ratings.csv", **options: Any
) -> list[tuple[str, str, str, float]]:
    ratings = read_ratings(write(folder, content, name), **options)
    return [(rating.question, rating.item, rating.rater, rating.rating) for rating in ratings]


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def message_of(folder: Path, content: str | bytes, name: str = "ratings.csv", **options: Any) -> str:
    """Return the error message, which must be one line, without the file's folder."""
    with pytest.raises(DataError) as error:
        read(folder, content, name, **options)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value).removeprefix(f"{folder}/")


# --- valid files -----------------------------------------------------------------------------------------------------


def test_csv_file_is_read(tmp_path: Path) -> None:
    found = list(read_ratings(write(tmp_path, HEADER + "1,Ann,5\n1,Bob,4.5\n2,Ann,-1e1\n")))
    assert found == [Rating("1", "Ann", "", 5.0), Rating("1", "Bob", "", 4.5), Rating("2", "Ann", "", -10.0)]


@pytest.mark.parametrize(
    "content",
    [
        "rating,question,when,item,rater\n5,q,now,1,Ann\n",  # in another order, with an additional column
        'item,rater,rating,question\n"1","Ann","5","q"\n',
        "\ufeffitem,rater,rating,question\n1,Ann,5,q\n",  # a BOM, as Excel writes it
        "item,rater,rating,question\r\n1,Ann,5,q\r\n",
        "item,rater,rating,question\r1,Ann,5,q",  # no newline at the end
        "item, rater, rating, question\n1, Ann, 5 , q\n",
        "\nitem,rater,rating,question\n\n1,Ann,5,q\n,,,\n  \n",  # empty rows
    ],
    ids=["order", "quotes", "bom", "windows", "mac", "spaces", "empty rows"],
)
def test_csv_variants_are_read_alike(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, content) == [("q", "1", "Ann", 5.0)]


def test_quoted_cells_may_contain_any_text(tmp_path: Path) -> None:
    text = 'a "b", c\nd'
    out = io.StringIO()
    csv.writer(out).writerows([["item", "rater", "rating"], [text, "Ann", 5], ["2", "Bob", 3]])
    assert read(tmp_path, out.getvalue()) == [("", text, "Ann", 5.0), ("", "2", "Bob", 3.0)]


@pytest.mark.parametrize("name", ["ratings.jsonl", "RATINGS.JSONL"])
def test_json_lines_file_is_read(tmp_path: Path, name: str) -> None:
    content = lines({"item": 1, "rater": "Ann", "rating": "5", "when": [1]}, {"item": "1", "rater": 2.5, "rating": 4})
    assert read(tmp_path, "\ufeff" + content + "\n\r\n", name) == [("", "1", "Ann", 5.0), ("", "1", "2.5", 4.0)]
    # Characters at which Python splits text into lines, but which JSON strings may contain.
    content = json.dumps({"item": "a\u2028b\x85c", "rater": "x", "rating": 0, "question": None}, ensure_ascii=False)
    assert read(tmp_path, content, name) == [("", "a\u2028b\x85c", "x", 0.0)]


def test_rater_may_answer_several_questions_and_items(tmp_path: Path) -> None:
    content = "item,rater,rating,question\n1,Ann,5,a\n1,Ann,4,b\n2,Ann,3,a\n1,Bob,2,a\n1,Cyd,1,\n"
    assert by_question(read_ratings(write(tmp_path, content))) == {
        "a": {"1": [5, 2], "2": [3]},
        "b": {"1": [4]},
        "": {"1": [1]},
    }


def test_file_without_rows_has_no_ratings(tmp_path: Path) -> None:
    assert read(tmp_path, HEADER) == []
    assert read(tmp_path, "", "empty.jsonl") == []


ALL = "item,system,other,question,rater,rating,text,when,seconds,study,version,check\n"


def test_columns_of_study_exports_are_read(tmp_path: Path) -> None:
    rows = (
        "i1,A,,empathy,Ann,4,,2026-01-02T03:04:05Z,12.5,ed,v1,\n"
        "i1,A,B,better,Ann,-1,,,,ed,v1,\n"
        'i1,A,,reply,Ann,,"Oh, no!",,30,ed,v1,\n'
        "c1,check,,empathy,Ann,2,,,,ed,v1,1\n"
    )
    expected = [
        Rating("i1", "Ann", "empathy", 4.0, "A", seconds=12.5, study="ed", version="v1"),
        Rating("i1", "Ann", "better", -1.0, "A", "B", study="ed", version="v1"),
        Rating("i1", "Ann", "reply", None, "A", text="Oh, no!", seconds=30.0, study="ed", version="v1"),
        Rating("c1", "Ann", "empathy", 2.0, "check", check=1.0, study="ed", version="v1"),
    ]
    assert list(read_ratings(write(tmp_path, ALL + rows))) == expected
    # The scale applies to ratings; comparisons always have three values.
    assert list(read_ratings(write(tmp_path, ALL + rows), scale=[1, 2, 3, 4, 5])) == expected
    records = [
        {
            "item": "i1",
            "rater": "Ann",
            "question": "reply",
            "text": "Oh, no!",
            "rating": None,
            "system": "A",
            "seconds": 30,
        },
        {"item": "i1", "rater": "Ann", "rating": 4, "text": "", "check": None, "seconds": "", "other": None},
    ]
    assert list(read_ratings(write(tmp_path, lines(*records), "r.jsonl"))) == [
        Rating("i1", "Ann", "reply", None, "A", text="Oh, no!", seconds=30.0),
        Rating("i1", "Ann", "", 4.0),
    ]


MORE = "item,system,other,question,rater,rating,text,kind,side,reply,excluded\n"


def test_optional_study_columns_are_read(tmp_path: Path) -> None:
    rows = (
        "1,A,B,better,Ann,1,,preference,right,A#4,\n"
        "1,A,B,sure,Ann,4,,likert,right,A#4,too fast\n"  # about a pair, but no comparison
        "1,A,,who,Ann,2,a person,choice,,,no\n"
        "1,A,,own,Ann,,Oh!,text,,,FALSE\n"
        "2,A,,q,Ann,5,,human,above,,0\n"  # unknown values in columns of these names
    )
    found = list(read_ratings(write(tmp_path, MORE + rows), scale=[1, 4, 5]))
    assert found == [
        Rating("1", "Ann", "better", 1.0, "A", "B", kind="preference", side="right", reply="A#4"),
        Rating("1", "Ann", "sure", 4.0, "A", "B", kind="likert", side="right", reply="A#4", excluded="too fast"),
        Rating("1", "Ann", "who", 2.0, "A", text="a person", kind="choice"),
        Rating("1", "Ann", "own", None, "A", text="Oh!", kind="text"),
        Rating("2", "Ann", "q", 5.0, "A"),
    ]
    assert [one.is_preference for one in found] == [True, False, False, False, False]
    turned = Rating("1", "Ann", "sure", 4.0, "B", "A", kind="likert", side="right").oriented()
    assert turned == Rating("1", "Ann", "sure", 4.0, "A", "B", kind="likert", side="left")
    assert set(by_unit(found)) == {"better", "sure", "q"}


def test_pandas_cells_of_people_who_are_not_excluded(tmp_path: Path) -> None:
    """A column of 0 and 1 of which some cells are empty."""
    path = write(tmp_path, "item,rater,rating,excluded\n1,Ann,4,0.0\n1,Bob,4,nan\n1,Cy,4,1.0\n")
    assert [one.excluded for one in read_ratings(path)] == ["", "", "1.0"]


@pytest.mark.parametrize(
    ("said", "reason"), [("false", ""), ("true", "True"), ('"too fast"', "too fast"), ("null", "")]
)
def test_excluded_may_be_boolean(tmp_path: Path, said: str, reason: str) -> None:
    path = write(tmp_path, f'{{"item": 1, "rater": "Ann", "rating": 4, "excluded": {said}}}\n', "x.jsonl")
    assert [one.excluded for one in read_ratings(path)] == [reason]


def test_names_of_both_compared_replies_are_read(tmp_path: Path) -> None:
    content = "item,system,other,rater,rating,reply,other_reply\n1,B,A,Ann,1,B#3,A#4\n"
    [found] = read_ratings(write(tmp_path, content))
    assert found == Rating("1", "Ann", "", 1.0, "B", "A", reply="B#3", other_reply="A#4")
    assert found.oriented() == Rating("1", "Ann", "", -1.0, "A", "B", reply="A#4", other_reply="B#3")


def test_file_with_texts_only_is_read(tmp_path: Path) -> None:
    assert list(read_ratings(write(tmp_path, "item,rater,text\n1,Ann,Oh!\n"))) == [
        Rating("1", "Ann", "", None, text="Oh!")
    ]


def test_rater_may_rate_item_once_per_system_study_and_version(tmp_path: Path) -> None:
    content = "item,rater,rating,system,study,version\n1,Ann,4,A,x,v\n1,Ann,5,B,x,v\n1,Ann,3,A,y,v\n1,Ann,3,A,y,w\n"
    assert len(list(read_ratings(write(tmp_path, content)))) == 4


def test_rater_may_rate_each_turn_of_a_conversation_once(tmp_path: Path) -> None:
    rows = "chat-1,2,Ann,4\nchat-1,4,Ann,5\nchat-1,,Ann,3\n"
    found = list(read_ratings(write(tmp_path, f"item,turn,rater,rating\n{rows}")))
    assert [(one.item, one.turn, one.rating) for one in found] == [
        *(("chat-1", "2", 4.0), ("chat-1", "4", 5.0), ("chat-1", "", 3.0)),
    ]
    assert list(by_unit(found)[""].values()) == [[4.0], [5.0], [3.0]]
    of_pandas = write(tmp_path, f"item,turn,rater,rating\n{rows.replace(',2,', ',2.0,').replace(',4,', ',4.0,')}")
    assert list(read_ratings(of_pandas)) == found
    with pytest.raises(DataError, match="'Ann' has already rated item 'chat-1#2', in line 2"):
        list(read_ratings(write(tmp_path, f"item,turn,rater,rating\n{rows}chat-1,2,Ann,1\n")))


def test_by_unit_groups_ratings_by_question_and_unit() -> None:
    ratings = [
        Rating("1", "Ann", "q", 4.0, "A"),
        Rating("1", "Bob", "q", 5.0, "A"),
        Rating("1", "Ann", "q", 2.0, "B"),  # another system's reply to the same item
        Rating("1", "Ann", "p", 1.0, "A", "B"),
        Rating("1", "Bob", "p", 1.0, "B", "A"),  # the same pair, swapped
        Rating("1", "Cyd", "q", 3.0, "A", study="two"),
        Rating("1", "Eve", "q", 1.0, "A", study="two", version="v2"),
        Rating("1", "Dan", "q", None, "A", text="Hm."),
        Rating("c", "Ann", "q", 1.0, "A", check=1.0),
        Rating("c", "Ann", "p2", 3.0, "A"),  # another question about the check's item, which is made up
    ]
    assert by_unit(ratings) == {
        "q": {
            ("", "", "1", "", "", "A"): [4.0, 5.0],
            ("", "", "1", "", "", "B"): [2.0],
            ("two", "", "1", "", "", "A"): [3.0],
            ("two", "v2", "1", "", "", "A"): [1.0],
        },
        "p": {("", "", "1", "", "A", "B"): [1.0, -1.0]},
    }
    assert Rating("1", "Bob", "p", 0.0, "B", "A", check=1.0).oriented() == Rating(
        "1", "Bob", "p", 0.0, "A", "B", check=-1.0
    )


def test_by_question_rejects_item_rated_for_two_systems() -> None:
    of_one = [Rating("1", "Ann", "q", 4.0, "A"), Rating("2", "Ann", "q", 5.0, "B"), Rating("1", "Bob", "p", 3.0, "A")]
    assert by_question(
        [*of_one, Rating("1", "Ann", "t", None, "Z", text="x"), Rating("1", "Ann", "c", 1.0, "Z", check=1.0)]
    ) == {
        "q": {"1": [4.0], "2": [5.0]},
        "p": {"1": [3.0]},
    }
    message = (
        "item '1' is rated for 'A' and for 'B', so its name alone does not identify the reply: give each reply "
        "its own item, or use parlai ratings_report --items"
    )
    for other in (Rating("1", "Cyd", "q", 4.0, "B"), Rating("1", "Cyd", "q", 1.0, "A", "B")):
        with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
            by_question([*of_one, other])


def test_by_question_leaves_out_replies_that_the_study_no_longer_has() -> None:
    former = Rating("1", "Ann", "q", 5.0, study="s", version="1a", reply=FORMER)
    assert by_question([former, Rating("1", "Ann", "q", 2.0, study="s", version="2b", reply="1")]) == {
        "q": {"1": [2.0]}
    }


def test_by_question_names_replies_as_the_logs_do() -> None:
    """In a study, an item has the same name for all systems; the column ``reply`` tells their replies apart."""
    ratings = [
        Rating("1", "Ann", "q", 4.0, "A", reply="A#1"),
        Rating("1", "Ann", "q", 2.0, "B", reply="B#3"),
        Rating("2", "Ann", "q", 5.0, "gold", reply="gold#2"),
    ]
    assert by_question(ratings, {"A#1", "B#3"}) == {"q": {"A#1": [4.0], "B#3": [2.0], "2": [5.0]}}
    with pytest.raises(DataError, match="item '1' is rated for 'A' and for 'B'"):
        by_question(ratings)
    with pytest.raises(DataError, match="item '1' is rated for 'A' and for 'B'"):
        by_question([Rating("1", "Ann", "q", 1.0, "A", "B", reply="A#1", other_reply="B#3")], {"A#1", "B#3"})


def test_by_question_names_turns_as_the_logs_do() -> None:
    ratings = [Rating("chat-1", "Ann", "q", value, "A", turn=turn) for turn, value in (("2", 4.0), ("4", 1.0))]
    whole = Rating("chat-1", "Ann", "whole", 3.0, "A")
    assert by_question([*ratings, whole]) == {"q": {"chat-1#2": [4.0], "chat-1#4": [1.0]}, "whole": {"chat-1": [3.0]}}


def test_by_question_rejects_item_rated_in_two_versions() -> None:
    first, other = (Rating("1", "Ann", "q", 4.0, "A", study="s", version=version) for version in ("1a", "2b"))
    message = (
        "item '1' is rated in the versions '1a' and '2b' of the study, where it may be a different reply: keep the "
        "rows of one version"
    )
    with pytest.raises(DataError, match=f"^{message}$"):
        by_question([first, other])
    checked = Rating("1", "Ann", "q", 4.0, "A", study="s", version="2b", check=4.0)
    assert by_question([first, checked]) == {"q": {"1": [4.0]}}


def test_by_question_rejects_item_rated_in_two_studies() -> None:
    first, other = (Rating("1", "Ann", "q", 4.0, "A", study=study) for study in ("one", "two"))
    message = (
        "item '1' is rated in the studies 'one' and 'two', where it may be a different reply: keep the rows of one "
        "study"
    )
    with pytest.raises(DataError, match=f"^{message}$"):
        by_question([first, other])
    about_something_else = Rating("1", "Ann", "p", 4.0, "A", study="two")
    assert by_question([first, about_something_else]) == {"q": {"1": [4.0]}, "p": {"1": [4.0]}}


# --- errors in a file ------------------------------------------------------------------------------------------------

NAMES = "it should be comma-separated and name item, rater, rating"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", f"line 1: the header lacks the column(s) item, rater, rating: {NAMES}"),
        ("item,rating\n1,2\n", f"line 1: the header lacks the column(s) rater: {NAMES}"),
        ("item;rater;rating\n1;Ann;2\n", f"line 1: the header lacks the column(s) item, rater, rating: {NAMES}"),
        ("\n\nItem,rater,rating\n", f"line 3: the header lacks the column(s) item: {NAMES}"),
        ("item,rater,rating,rating\n", "line 1: the header names rating more than once: rename the others"),
        ("item,rater,rating,system,system\n", "line 1: the header names system more than once: rename the others"),
        (
            "item,item,rater,rating,question,question\n",
            "line 1: the header names item, question more than once: rename the others",
        ),
        (HEADER + '1,"Ann"x,2\n', "line 2: not CSV (',' expected after '\"'): check its quotes"),
        # Unclosed quotes: the message names the line where they were opened, not the end of the file.
        (HEADER + '1,Ann,2\n1,"Bob,2\n1,Cyd,3\n', "line 3: not CSV (unexpected end of data): check its quotes"),
        ('"item,rater,rating\n', "line 1: not CSV (unexpected end of data): check its quotes"),
        (
            HEADER + f"{'x' * 200_000},Ann,2\n",
            "line 2: not CSV (field larger than field limit (131072)): check its quotes",
        ),
        (HEADER.encode() + b"1,Ann,2\n2,J\xfcrgen,3\n", r"line 3: b'\xfc' is not UTF-8: save the file as UTF-8"),
        (HEADER.encode("utf-16"), r"line 1: b'\xff' is not UTF-8: save the file as UTF-8"),
        (b"\xef\xbb\xbf" + HEADER.encode() + b"\xff", r"line 2: b'\xff' is not UTF-8: save the file as UTF-8"),
    ],
)
def test_malformed_file_raises_data_error_even_when_skipping_bad_rows(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    expected = f"ratings.csv, {message}"
    assert message_of(tmp_path, content) == expected
    bad_rows: list[DataError] = []
    assert message_of(tmp_path, content, bad_rows=bad_rows) == expected
    assert bad_rows == []


@pytest.mark.parametrize(("name", "reason"), [("none.csv", "No such file or directory"), ("", "Is a directory")])
def test_unreadable_file_raises_data_error(tmp_path: Path, name: str, reason: str) -> None:
    message = f"{tmp_path / name} cannot be read ({reason}): it should be a file of ratings"
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        list(read_ratings(tmp_path / name))


# --- errors in a row -------------------------------------------------------------------------------------------------

NEEDS = "each row needs item, rater, rating"
AGAIN = "column rater: 'Ann' has already rated item '1'"

BAD_ROWS = [
    (HEADER + "1\n", "2: 1 cell, expected 3 as in the header: check its commas"),
    (HEADER + "1,Ann\n", "2: 2 cells, expected 3 as in the header: check its commas"),
    (HEADER + "1,Ann,4,5\n", "2: 4 cells, expected 3 as in the header: check its commas"),
    (HEADER + "\n,Ann,4\n", f"3, column item: no value: {NEEDS}"),
    (HEADER + '"1\n2",  ,4\n', f"2, column rater: no value: {NEEDS}"),
    (HEADER + "1,Ann,\n", f"2, column rating: no value: {NEEDS}"),
    (HEADER + "1,Ann,good\n", "2, column rating: 'good' is not a number"),
    (HEADER + '1,Ann,"4,5"\n', "2, column rating: '4,5' is not a number"),
    (HEADER + "1,Ann,4_3\n", "2, column rating: '4_3' is not a number"),
    (HEADER + "1,Ann,nan\n", "2, column rating: 'nan' is not a number"),
    (HEADER + "1,Ann,-Infinity\n", "2, column rating: '-Infinity' is not a number"),
    (HEADER + "1,Ann,1e999\n", "2, column rating: '1e999' is not a number"),
    (HEADER + "1,Ann,4\n1,Bob,4\n 1 ,Ann,5\n", f"4, {AGAIN}, in line 2"),
    ("item,rater,rating,question\n1,Ann,4,a\n1,Ann,4,b\n1,Ann,4,a\n", f"4, {AGAIN} for question 'a', in line 2"),
    (ALL + "i,A,B,q,Ann,2,,,,,,\n", "2, column rating: '2' is not on the scale -1, 0, 1"),
    (ALL + "i,A,A,q,Ann,1,,,,,,\n", "2, column other: 'A' is compared with itself: name two systems"),
    (ALL + "i,A,,q,Ann,4,,,soon,,,\n", "2, column seconds: 'soon' is not a number"),
    (ALL + "i,A,,q,Ann,4,,,-1,,,\n", "2, column seconds: '-1' is negative"),
    (ALL + "i,A,,q,Ann,4,,,,,,yes\n", "2, column check: 'yes' is not a number"),
    (ALL + "i,A,,q,Ann,,,,,,,1\n", f"2, column rating: no value: {NEEDS}"),
    (
        ALL + "i,A,,q,Ann,4,,,,,,\ni,A,,q,Ann,5,,,,,,\n",
        "3, column rater: 'Ann' has already rated item 'i' of 'A' for question 'q', in line 2",
    ),
    (
        ALL + "i,A,B,q,Ann,1,,,,,,\ni,B,A,q,Ann,0,,,,,,\n",
        "3, column rater: 'Ann' has already rated item 'i' of 'B' for question 'q', in line 2",
    ),
    # The message names the line where the row begins, even after a cell that spans several lines.
    (HEADER + '"a\nb",Ann,4\n1,Ann,x\n', "4, column rating: 'x' is not a number"),
]
BAD_LINES = [
    ("{", "1: not JSON (Expecting property name enclosed in double quotes): expected one object per line"),
    ("\n\nitem,rater,rating\n", "3: not JSON (Expecting value): expected one object per line"),
    (lines([1, 2]), "1: [1, 2] is not a JSON object: expected one per line"),
    (lines("x" * 99), f"1: '{'x' * 12}...{'x' * 13}' is not a JSON object: expected one per line"),
    (lines({"rater": "Ann", "rating": 4}), f"1, column item: no value: {NEEDS}"),
    (lines({"item": 1, "rater": None, "rating": 4}), f"1, column rater: no value: {NEEDS}"),
    (lines({"item": 1, "rater": "\t", "rating": 4}), f"1, column rater: no value: {NEEDS}"),
    (lines({"item": [1], "rater": "A", "rating": 4}), "1, column item: [1] is neither a text nor a number"),
    (lines({"item": 1, "rater": True, "rating": 4}), "1, column rater: True is neither a text nor a number"),
    (
        lines({"item": 1, "rater": "A", "rating": 4, "question": {}}),
        "1, column question: {} is neither a text nor a number",
    ),
    (
        lines({"item": 1, "rater": "A", "rating": 4, "question": "\ud800"}),
        "1, column question: '\\ud800' contains half a character (a lone surrogate)",
    ),
    (lines({"item": 1, "rater": "A", "rating": [4]}), "1, column rating: [4] is not a number"),
    (lines({"item": 1, "rater": "A", "rating": True}), "1, column rating: True is not a number"),
    ('{"item": 1, "rater": "A", "rating": NaN}', "1, column rating: nan is not a number"),
    ('{"item": 1, "rater": "A", "rating": -Infinity}', "1, column rating: -inf is not a number"),
    # Too large for a float, and truncated in the message.
    (
        '{"item": 1, "rater": "A", "rating": 1%s}' % ("0" * 400),
        f"1, column rating: 1{'0' * 17}...{'0' * 19} is not a number",
    ),
    (
        '{"item": 1, "rater": "A", "rating": 1%s}' % ("0" * 5000),
        "1: not JSON (a number too long, or nesting too deep): expected one object per line",
    ),
]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [("ratings.csv", *case) for case in BAD_ROWS] + [("ratings.jsonl", *case) for case in BAD_LINES],
)
def test_bad_row_is_reported_or_skipped(tmp_path: Path, name: str, content: str, message: str) -> None:
    assert message_of(tmp_path, content, name) == f"{name}, line {message}{SKIP}"
    bad_rows: list[DataError] = []
    good = read(tmp_path, content, name, bad_rows=bad_rows)
    assert [str(error).removeprefix(f"{tmp_path}/") for error in bad_rows] == [f"{name}, line {message}"]
    header = name.endswith("csv")
    rows = [line for line in csv.reader(io.StringIO(content)) if any(line)] if header else [content]
    assert len(good) == len(rows) - header - 1, "all rows but the bad one are there"


def test_deeply_nested_json_raises_data_error(tmp_path: Path) -> None:
    message = "deep.jsonl, line 1: not JSON (a number too long, or nesting too deep): expected one object per line"
    assert message_of(tmp_path, "[" * 100_000, "deep.jsonl") == message + SKIP


def test_rating_off_the_scale_raises_data_error(tmp_path: Path) -> None:
    content = HEADER + "1,Ann,5\n1,Bob,5.5\n"
    assert read(tmp_path, content) == [("", "1", "Ann", 5.0), ("", "1", "Bob", 5.5)]
    message = f"ratings.csv, line 3, column rating: '5.5' is not on the scale 1, 2, 5{SKIP}"
    assert message_of(tmp_path, content, scale=[1, 2, 5.0]) == message


def test_skipped_rows_are_counted_and_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    path = write(tmp_path, HEADER + "1,Ann,5\n1,Bob,x\n2,Ann,9\n1,Ann,4\n3,Cyd,1\n")
    assert ratings_of(path, [1, 2, 3, 4, 5], skip_bad_rows=True) == [
        Rating("1", "Ann", "", 5),
        Rating("3", "Cyd", "", 1),
    ]
    assert warnings == [
        f"{path}: left out 3 bad row(s):",
        f"  {path}, line 3, column rating: 'x' is not a number",
        f"  {path}, line 4, column rating: '9' is not on the scale 1, 2, 3, 4, 5",
        f"  {path}, line 5, column rater: 'Ann' has already rated item '1', in line 2",
    ]
    warnings.clear()
    assert len(ratings_of(write(tmp_path, HEADER + "1,Ann,5\n", "good.csv"), skip_bad_rows=True)) == 1
    assert warnings == []
    with pytest.raises(DataError, match="line 3, column rating: 'x' is not a number"):
        ratings_of(path)


# --- arbitrary input -------------------------------------------------------------------------------------------------

quick = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
words = ["item", "rater", "rating", "question", "Ann", "1", "4.5"]
pieces = st.sampled_from([*words, *'", \n\r{}[]:\\', "\ufeff", "\x00", "\ud800"])
near = (
    st.lists(pieces, max_size=30)
    .map(lambda parts: HEADER + "".join(parts))
    .map(lambda t: t.encode("utf-8", "surrogatepass"))
)


@quick
@given(content=st.one_of(st.binary(max_size=60), near), name=st.sampled_from(["f.csv", "f.jsonl"]), skip=st.booleans())
def test_arbitrary_file_gives_ratings_or_data_error(tmp_path: Path, content: bytes, name: str, skip: bool) -> None:
    path = write(tmp_path, content, name)
    try:
        found: Any = ratings_of(path, None, skip)
    except DataError as error:
        found = error
    if isinstance(found, DataError):
        assert str(found).startswith(f"{path}, line ")
        assert len(str(found).splitlines()) == 1
    else:
        assert all(rating.item and rating.rater for rating in found)


values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers()))
records = st.dictionaries(st.sampled_from(["item", "rater", "rating", "question", "x"]), values)


@quick
@given(rows=st.lists(records, max_size=5))
def test_each_record_is_a_rating_or_a_bad_row(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    bad_rows: list[DataError] = []
    good = read(tmp_path, lines(*rows), "f.jsonl", bad_rows=bad_rows)
    assert len(good) + len(bad_rows) == len(rows)
    assert len({rating[:3] for rating in good}) == len(good)


names = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00\r"), min_size=1, max_size=8).filter(
    str.strip
)
keys = st.tuples(names, names, names).map(lambda key: tuple(part.strip() for part in key))


@quick
@given(ratings=st.dictionaries(keys, st.floats(allow_nan=False, allow_infinity=False), max_size=6))
def test_ratings_round_trip(tmp_path: Path, ratings: dict[tuple[str, ...], float]) -> None:
    rows = [dict(zip(("question", "item", "rater"), key, strict=True), rating=value) for key, value in ratings.items()]
    table = io.StringIO()
    writer = csv.DictWriter(table, ["rating", "rater", "item", "question"])
    writer.writeheader()
    writer.writerows(rows)
    expected = [(*key, value) for key, value in ratings.items()]
    assert read(tmp_path, table.getvalue()) == expected
    assert read(tmp_path, lines(*rows), "f.jsonl") == expected
