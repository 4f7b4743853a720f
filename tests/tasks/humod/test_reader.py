"""Both layouts: files that are rejected as a whole, round trips, and random input."""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from humod_files import BAD_ROWS, GOOD, OBJECT, OFFICIAL, OneLine, Write, read, skip
from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.humod.reader import read_humod
from parlai_empathy.tasks.humod.records import Pair

# --- what is never skipped -------------------------------------------------------------------------------------------


def assert_refused(path: Path, assert_one_line: OneLine, *parts: object) -> None:
    """Assert that the file is rejected in both modes, without a hint that bad rows can be skipped."""
    for bad_rows in (None, []):
        with pytest.raises(DataError) as caught:
            list(read_humod(path, bad_rows))
        assert_one_line(caught.value, path, *parts)
        assert "--skip-bad-rows" not in str(caught.value)
        assert not bad_rows


@pytest.mark.parametrize("missing", ["Dialogue Context", "Reply", "User Relevance Score", "User Reply"])
def test_missing_column_raises_data_error(write: Write, missing: str, assert_one_line: OneLine) -> None:
    header = "\t".join(name for name in OFFICIAL if name != missing)
    parts = ("line 1", f"lacks the column(s) {missing}:", "it should be tab-separated", "'Dialogue ID")
    assert_refused(write(header, GOOD), assert_one_line, *parts)


def test_error_lists_all_missing_columns(write: Write, assert_one_line: OneLine) -> None:
    path = write("Dialogue ID,Dialogue Context,Reply", GOOD)  # commas instead of tabs
    missing = "Dialogue Context, Reply, User Relevance Score, User Reply"
    assert_refused(path, assert_one_line, f"lacks the column(s) {missing}:", "'Dialogue ID,Dialogue Context,Reply'")


@pytest.mark.parametrize("lines", [[], ["", " "], ["<html>\u2028Please log in</html>"], [GOOD], ["\x00"]])
def test_invalid_header_raises_data_error(write: Write, lines: list[str], assert_one_line: OneLine) -> None:
    assert_refused(write(*lines), assert_one_line, "line 1: the header", "lacks the column(s)")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_utf16_and_utf32_files_raise_data_error(tmp_path: Path, encoding: str, assert_one_line: OneLine) -> None:
    (path := tmp_path / "some.TXT").write_text("\t".join(OFFICIAL) + f"\n{GOOD}\n", encoding=encoding)
    assert_refused(path, assert_one_line, "line 1")


def test_non_utf8_header_raises_data_error(write: Write, assert_one_line: OneLine) -> None:
    path = write("\t".join(OFFICIAL).encode() + b"\tG\xfcte", GOOD)
    assert_refused(path, assert_one_line, r"line 1, column 11: b'G\xfcte' is not UTF-8")


def test_file_extension_selects_format(write: Write, assert_one_line: OneLine) -> None:
    text = json.dumps(OBJECT)
    assert len(read(write("\ufeff" + text, name="a.JSONL", end="\r\n"))) == 1
    assert_refused(write(text, name="a.json"), assert_one_line, "line 1: the header")


@pytest.mark.parametrize("name", ["none.TXT", "none.jsonl"])
def test_missing_file_raises_data_error(tmp_path: Path, name: str, assert_one_line: OneLine) -> None:
    assert_refused(tmp_path / name, assert_one_line, "cannot be read (No such file or directory)", "HUMOD")


def test_folder_path_raises_data_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    assert_refused(tmp_path, assert_one_line, "cannot be read (Is a directory)")


# --- round trips ------------------------------------------------------------------------------------------------------


MARK = re.compile(r"Speaker\s*\d+\s*:")
_PIECES = st.one_of(
    st.sampled_from(
        ["1268", "5", "0", "Speaker", "Speaker 2:", ":", '"', "'", "\\", "Is it", "...", "{", "\ufeff", "\x00"]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\t"), max_size=8),
)
# Texts that the format can represent: runs of white space become single spaces.
_WRITTEN = st.lists(_PIECES, max_size=4).map(lambda pieces: " ".join(" ".join(pieces).split()))
_SAID = _WRITTEN.filter(lambda text: not MARK.search(f" {text}"))  # a mark would start another turn
_RATINGS = st.integers(1, 5)


@st.composite
def pair_lists(draw: st.DrawFn, times: st.SearchStrategy[str] = _WRITTEN) -> list[Pair]:
    """Draw pairs with all that the official format can express: kinds in any order, and any number of raters."""
    pairs = []
    for number in range(draw(st.integers(0, 4))):
        ratings = draw(st.lists(_RATINGS, min_size=1, max_size=4))
        further = st.fixed_dictionaries(dict.fromkeys(("worker id", "age", "gender"), _WRITTEN))
        pairs.append(
            Pair(
                pair_id=str(number),
                context=tuple(draw(st.lists(_SAID, min_size=1, max_size=6).filter(any))),
                reply=draw(_SAID.filter(bool)),
                is_original=draw(st.booleans()),
                ratings=tuple(ratings),
                mean_rating=sum(ratings) / len(ratings),
                human_replies=tuple(draw(_WRITTEN) for _ in ratings),
                raters=tuple({**draw(further), "time": draw(times)} for _ in ratings),
            )
        )
    return pairs


def rows_of(pairs: Sequence[Pair], between: str = "\t") -> list[dict[str, str]]:
    """Return rows by column, as in the official file. :param between: the separator of a context's turns."""
    return [
        {
            "Dialogue ID": pair.pair_id,
            "Dialogue Context": between.join(f"Speaker {1 + n % 2}: {turn}" for n, turn in enumerate(pair.context)),
            "Reply": f"Speaker {1 + len(pair.context) % 2}: {pair.reply}",
            "Label": "0" if pair.is_original else "1",
            "Worker ID": rater["worker id"],
            "Age": rater["age"],
            "Gender": rater["gender"],
            "User Relevance Score": str(rating),
            "User Reply": human_reply,
            "Time": rater["time"],
        }
        for pair in pairs
        for rating, human_reply, rater in zip(pair.ratings, pair.human_replies, pair.raters, strict=True)
    ]


def objects_of(pairs: Sequence[Pair], as_list: bool) -> list[str]:
    """Return the same pairs as JSON lines, which have no data about raters."""
    kinds = {True: "original", False: "random_distractor"}
    return [
        json.dumps(
            {
                "id": pair.pair_id,
                "context": list(pair.context) if as_list else "\n".join(pair.context),
                "reply": pair.reply,
                "reply_kind": kinds[pair.is_original],
                "human_replies": pair.human_replies,
                "ratings": pair.ratings,
            },
            ensure_ascii=as_list,
        )
        for pair in pairs
    ]


def read_text(text: str | bytes, name: str = "some.TXT", bad_rows: list[DataError] | None = None) -> list[Pair]:
    """Read generated text from a new file each time, because Hypothesis calls a test many times."""
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return list(read_humod(path, bad_rows))


def table(names: Sequence[str], rows: Sequence[dict[str, str]], end: str = "\n") -> str:
    return end.join(["\t".join(names), *("\t".join(row[name] for name in names) for row in rows), ""])


@settings(max_examples=50)
@given(pairs=pair_lists(), end=st.sampled_from(["\n", "\r\n"]), between=st.sampled_from(["\t", " ", "", " \t "]))
def test_round_trip_in_the_official_layout(pairs: list[Pair], end: str, between: str) -> None:
    """Good rows are read unchanged, whatever their texts: no human reply is split."""
    assert read_text(table(OFFICIAL, rows_of(pairs, between), end)) == pairs


@settings(max_examples=50)
@given(pairs=pair_lists(), names=st.permutations(OFFICIAL), between=st.sampled_from(["\t", " "]))
def test_round_trip_with_columns_in_any_order(pairs: list[Pair], names: list[str], between: str) -> None:
    assert read_text(table(names, rows_of(pairs, between))) == pairs


@settings(max_examples=50)
@given(pairs=pair_lists(), as_list=st.booleans())
def test_round_trip_in_json_lines(pairs: list[Pair], as_list: bool) -> None:
    found = read_text("\n".join(objects_of(pairs, as_list)), "some.jsonl")
    assert found == [replace(pair, raters=tuple({} for _ in pair.ratings)) for pair in pairs]


@settings(max_examples=50)
@given(
    pairs=pair_lists(st.integers(0, 9999).map(str)),
    blanks=st.sampled_from([" ", "   ", "\u2003"]),
    between=st.sampled_from(["\t", " "]),
)
def test_round_trip_without_tab_before_the_last_number(pairs: list[Pair], blanks: str, between: str) -> None:
    """Only in rows with a non-empty human reply: without one, the missing tab cannot be detected."""
    rows = rows_of(pairs, between)
    lines = ["\t".join(row.values()) for row in rows]
    cut = [
        line.rpartition("\t")[0] + blanks + row["Time"] if row["User Reply"] else line
        for line, row in zip(lines, rows, strict=True)
    ]
    assert read_text("\n".join(["\t".join(OFFICIAL), *cut])) == pairs


@settings(max_examples=50)
@given(pairs=pair_lists(), data=st.data())
def test_only_bad_rows_are_skipped(pairs: list[Pair], data: st.DataObject) -> None:
    lines = table(OFFICIAL, rows_of(pairs)).split("\n")[:-1]
    chosen = data.draw(st.lists(st.sampled_from(list(BAD_ROWS.values())), max_size=5))
    for row, _, _ in chosen:
        lines.insert(data.draw(st.integers(1, len(lines))), row)
    bad: list[DataError] = []
    assert read_text("\n".join(lines), bad_rows=bad) == pairs
    assert len(bad) == len(chosen)


# --- random input is read or rejected ---------------------------------------------------------------------------------


def assert_valid(pairs: list[Pair]) -> None:
    for pair in pairs:
        assert any(pair.context)
        assert pair.reply
        assert set(pair.ratings) <= {1, 2, 3, 4, 5}
        assert pair.mean_rating is None or 1 <= pair.mean_rating <= 5
        assert len(pair.raters) == len(pair.ratings)
        for text in (pair.pair_id, *pair.context, pair.reply, *pair.human_replies):
            assert text == " ".join(text.split())
            text.encode()  # fails for half a surrogate pair


def refusal(text: str | bytes, name: str, bad_rows: list[DataError] | None) -> str:
    """Return the error message if the file is rejected, otherwise an empty string."""
    try:
        assert_valid(read_text(text, name, bad_rows))
    except DataError as error:
        return "some." + str(error).partition("/some.")[2]  # the folder differs each time
    return ""


def read_or_refuse(text: str | bytes, name: str) -> None:
    """Assert that reading gives pairs or a one-line :class:`DataError`; with bad rows skipped, none about rows."""
    bad: list[DataError] = []
    message, message_of_skipping = refusal(text, name, None), refusal(text, name, bad)
    if message:
        assert re.match(rf"{re.escape(name)}, line \d", message)
        assert len(message.splitlines()) == 1
    if message_of_skipping:  # then the header is invalid, which both modes report alike
        assert (message_of_skipping, bad, name) == (message, [], "some.TXT")
    else:
        assert bool(bad) == bool(message)
        assert all(len(str(error).splitlines()) == 1 for error in bad)


_FIELDS = st.one_of(
    st.sampled_from(["0", "1", "3", "5", "6", "", " ", "Speaker 1: a", "Speaker 2: b 12", "Speaker 1:", "b 12", "\r"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
)
_LINES = st.lists(_FIELDS, max_size=13).map("\t".join)


@settings(max_examples=100)
@given(content=st.binary(max_size=200), header=st.booleans(), name=st.sampled_from(["some.TXT", "some.jsonl"]))
def test_arbitrary_bytes_are_read_or_rejected(content: bytes, header: bool, name: str) -> None:
    read_or_refuse("\t".join(OFFICIAL).encode() + b"\n" + content if header else content, name)


@settings(max_examples=100)
@given(rows=st.lists(_LINES, max_size=5), names=st.permutations(OFFICIAL), cut=st.integers(0, 9))
def test_arbitrary_lines_are_read_or_rejected(rows: list[str], names: list[str], cut: int) -> None:
    read_or_refuse("\n".join(["\t".join(names[cut:]), *rows]), "some.TXT")


@settings(max_examples=100)
@given(rows=st.lists(st.tuples(*[_FIELDS] * 5).map("\t".join), max_size=6), number=st.booleans())
def test_arbitrary_unlabelled_rows_are_read_or_rejected(rows: list[str], number: bool) -> None:
    names = ["Dialogue ID" if number else "Reply", "Dialogue Context", "Reply", "User Relevance Score", "User Reply"]
    read_or_refuse("\n".join(["\t".join(names), *rows]), "some.TXT")


@settings(max_examples=100)
@given(pairs=pair_lists(), seed=st.integers(0, 2**32), times=st.integers(1, 4), json_lines=st.booleans())
def test_corrupted_files_are_read_or_rejected(pairs: list[Pair], seed: int, times: int, json_lines: bool) -> None:
    """Delete, insert or replace bytes anywhere, with bytes that have a meaning in one of the formats."""
    text = "\n".join(objects_of(pairs, False)) if json_lines else table(OFFICIAL, rows_of(pairs))
    content, draw = bytearray(text.encode()), random.Random(seed)
    for _ in range(times):
        place = draw.randrange(len(content) + 1)
        content[place : place + draw.randrange(2)] = draw.choice([b"", b"\t", b"\n", b"9", b" ", b"\xff", b'"', b"]"])
    read_or_refuse(bytes(content), "some.jsonl" if json_lines else "some.TXT")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 6) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(OBJECT)), inner, max_size=4),
    max_leaves=6,
)


@settings(max_examples=100)
@given(record=st.dictionaries(st.sampled_from([*OBJECT, "ratings"]), _JSON), whole=st.booleans())
def test_arbitrary_objects_are_read_or_rejected(record: dict[str, Any], whole: bool) -> None:
    read_or_refuse(json.dumps({**OBJECT, **record} if whole else record), "some.jsonl")


# --- the data set itself ---------------------------------------------------------------------------------------------


def test_full_dataset_matches_raw_json_records(real_data: Path) -> None:
    """One of 9,500 replies is empty. The counts are checked with the plain JSON records."""
    path = real_data / "humod/humod_9500.jsonl"
    pairs, bad = skip(path)
    assert len(pairs) == 9_499
    assert len(bad) == 1
    assert "humod_9500.jsonl, line 8285, column reply: '' is empty" in bad[0]
    with pytest.raises(DataError, match="line 8285"):
        read(path)
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    kept = [record for record in records if record["reply"]]
    assert [" ".join(record["reply"].split()) for record in kept] == [pair.reply for pair in pairs]
    assert [record["human_relevance_mean"] for record in kept] == [pair.mean_rating for pair in pairs]
    assert sum(pair.mean_rating is not None for pair in pairs) == 700
    assert len({pair.context for pair in pairs}) == len({record["context"] for record in kept}) == 4_712
    assert {len(pair.context) for pair in pairs} == {1, 2, 3, 4, 5, 6}  # with the reply the paper's 2 to 7 turns
    assert sum(not text for pair in pairs for text in pair.human_replies) == 1
    assert sum("" in pair.context for pair in pairs) == 16
