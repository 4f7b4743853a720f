"""The reader: both layouts and copies of them, known flaws, each way in which a file can be wrong, and anything at all.

What is written here into files is written by these tests alone: nothing of the reader takes part.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.humod.reader import Pair, read_humod

OneLine = Callable[..., None]
Write = Callable[..., Path]

OFFICIAL = [
    "Dialogue ID", "Dialogue Context", "Reply", "Label", "Worker ID", "Age", "Gender", "User Relevance Score",
    "User Reply", "Time",
]  # fmt: skip
GOOD = "0\tSpeaker 1: Hello.\tSpeaker 2: How are you?\tSpeaker 1: Fine.\t0\tW1\t30\tf\t4\tIt rains.\t12"
SECOND = "0\tSpeaker 1: Hello.\tSpeaker 2: How are you?\tSpeaker 1: Fine.\t0\tW2\t31\tm\t5\tWell.\t13"
OTHER = "1\tSpeaker 1: Hello.\tSpeaker 2: How are you?\tSpeaker 1: A boat.\t1\tW1\t30\tf\t1\tFine, you?\t14"
PAIR = Pair(
    pair_id="0",
    context=("Hello.", "How are you?"),
    reply="Fine.",
    is_original=True,
    ratings=(4,),
    mean_rating=4.0,
    human_replies=("It rains.",),
    raters=({"worker id": "W1", "age": "30", "gender": "f", "time": "12"},),
)
OBJECT = {
    "id": "a",
    "context": "Hello.\nHow are you?",
    "reply": "Fine.",
    "reply_kind": "original",
    "human_replies": ["It rains."],
    "human_relevance_mean": 4.0,
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A function that writes lines, texts or bytes, into a file, and returns its path."""

    def write_file(*lines: str | bytes, name: str = "some.TXT", end: str = "\n") -> Path:
        encoded = [line.encode() if isinstance(line, str) else line for line in lines]
        (path := tmp_path / name).write_bytes(b"".join(line + end.encode() for line in encoded))
        return path

    return write_file


@pytest.fixture
def official(write: Write) -> Write:
    """A function that writes rows below the official header."""
    return lambda *rows, **named: write("\t".join(OFFICIAL), *rows, **named)


@pytest.fixture
def objects(write: Write) -> Write:
    """A function that writes JSON lines."""

    def write_objects(*values: Any) -> Path:
        return write(*(v if isinstance(v, str | bytes) else json.dumps(v) for v in values), name="some.jsonl")

    return write_objects


def read(path: Path) -> list[Pair]:
    return list(read_humod(path))


def skip(path: Path) -> tuple[list[Pair], list[str]]:
    """What is read in spite of bad rows, and what is said of these."""
    bad: list[DataError] = []
    return list(read_humod(path, bad)), list(map(str, bad))


def changed(row: str, **fields: str) -> str:
    """A row of two turns before the reply, with other values: ``context`` is the first turn."""
    places = {"id": 0, "context": 1, "second": 2, "reply": 3, "label": 4, "rating": 8, "human": 9, "time": 10}
    found = row.split("\t")
    for name, value in fields.items():
        found[places[name]] = value
    return "\t".join(found)


# --- the official layout ---------------------------------------------------------------------------------------------


def test_a_pair_as_the_official_file_has_it(fixtures: Path) -> None:
    goats = read(fixtures / "humod/HUMOD_Dataset.TXT")[2]
    assert goats == Pair(
        pair_id="2",
        context=("Who painted this?", "My aunt did.", "Which one?"),
        reply="The one with the goats.",
        is_original=True,
        ratings=(5, 3, 4),
        mean_rating=4.0,
        human_replies=("The tall one.", "Aunt Ida, at 87", "Speaker 1 : the one from Oslo"),
        raters=(
            {"worker id": "W00", "age": "25-34", "gender": "male", "time": "22"},
            {"worker id": "W01", "age": "35-44", "gender": "female", "time": "35"},
            {"worker id": "W02", "age": "18-24", "gender": "male", "time": "51"},
        ),
    )


def test_all_pairs_of_the_invented_file(fixtures: Path) -> None:
    pairs, bad = skip(fixtures / "humod/HUMOD_Dataset.TXT")
    assert bad == []
    assert [pair.pair_id for pair in pairs] == [str(number) for number in range(12)]
    assert [pair.is_original for pair in pairs] == [True, False] * 6
    assert [pair.ratings for pair in pairs][:4] == [(5, 4, 5), (1, 2, 1), (5, 3, 4), (1, 1, 3)]
    assert [len(pair.context) for pair in pairs[::2]] == [1, 3, 3, 1, 1, 2]
    assert pairs[1].mean_rating == pytest.approx(4 / 3)


def test_the_known_flaws_are_put_right(fixtures: Path) -> None:
    """Three missing tabs, a colon at the end of one row's context, and one at the end of one row's reply."""
    raw = (fixtures / "humod/HUMOD_Dataset.TXT").read_text(encoding="utf-8")
    assert len(re.findall(r"[a-z] +\d+\n", raw)) == 3
    assert raw.count("Which one?:\t") == raw.count("the horse.:\t") == 1
    pairs = read(fixtures / "humod/HUMOD_Dataset.TXT")
    assert pairs[10].human_replies == ("It depends on the day", "Platform 9", "I think it's 4")
    assert pairs[11].human_replies == ("Ask the guard", "The last one.", "I take the bus")
    assert [rater["time"] for rater in (*pairs[10].raters, *pairs[11].raters)] == [
        "1268",
        "23",
        "77",
        "1179",
        "41",
        "923",
    ]
    assert pairs[3].context == pairs[2].context
    assert pairs[5].reply == "Seven, if you count the horse."  # as two of three rows have it
    assert all(len(pair.ratings) == 3 for pair in pairs)


def test_a_turn_that_says_nothing_stays(fixtures: Path) -> None:
    """Else the speakers would no longer take turns."""
    for name in ("HUMOD_Dataset.TXT", "humod.jsonl"):
        assert read(fixtures / "humod" / name)[4].context == ("Hello?", "", "Is anybody there?")


def test_an_empty_human_reply_stays(fixtures: Path) -> None:
    for name in ("HUMOD_Dataset.TXT", "humod.jsonl"):
        assert read(fixtures / "humod" / name)[1].human_replies == ("I thought you did.", "Which boat?", "")


def test_a_context_that_occurs_twice_gives_pairs_of_their_own(fixtures: Path) -> None:
    pairs = [pair for pair in read(fixtures / "humod/HUMOD_Dataset.TXT") if pair.context == ("What?",)]
    assert [pair.reply for pair in pairs] == ["Nothing.", "Then we walk.", "You heard me.", "It is only rain."]


def test_a_quote_is_text(fixtures: Path) -> None:
    assert read(fixtures / "humod/HUMOD_Dataset.TXT")[10].reply == 'Four. Take the "long" stairs.'


@pytest.mark.parametrize("turns", range(1, 8))
def test_contexts_of_any_length(official: Write, turns: int) -> None:
    spoken = "\t".join(f"Speaker {1 + n % 2}: turn {n}" for n in range(turns))
    (pair,) = read(official(f"0\t{spoken}\tSpeaker 1: Fine.\t0\tW1\t30\tf\t4\tIt rains.\t12"))
    assert pair.context == tuple(f"turn {n}" for n in range(turns))
    assert pair.reply == "Fine."


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_ends_of_lines_blank_lines_and_a_byte_order_mark(write: Write, end: str) -> None:
    path = write("\ufeff" + "\t".join(OFFICIAL), "", GOOD, "  ", end=end)
    assert read(path) == [PAIR]


def test_only_a_line_feed_ends_a_line_and_white_space_is_one_space(official: Write) -> None:
    row = changed(GOOD, second="Speaker 2:  How\u2028are \x0b you? ", human="It\x85 rains.", reply="Speaker 1:Fine.")
    assert read(official(row)) == [PAIR]


def test_the_file_may_end_without_a_line_feed(official: Write) -> None:
    path = official(GOOD)
    path.write_bytes(path.read_bytes().rstrip())
    assert read(path) == [PAIR]


def test_a_header_alone_holds_no_pair(official: Write) -> None:
    assert read(official()) == []


# --- copies of the official file -------------------------------------------------------------------------------------


def test_underscores_and_capitals_in_the_names_of_columns(write: Write) -> None:
    header = "\t".join(name.replace(" ", "_").upper() for name in OFFICIAL)
    assert read(write(header, GOOD)) == [PAIR]


@pytest.mark.parametrize("between", [" ", "", "  ", " \x0b "])
def test_a_context_in_one_field(official: Write, between: str) -> None:
    row = GOOD.replace("\tSpeaker 2: How", between + "Speaker 2: How")
    assert read(official(row)) == [PAIR]


def test_a_context_in_one_field_and_the_missing_tab(official: Write) -> None:
    row = GOOD.replace("\tSpeaker 2: How", " Speaker 2: How").replace("It rains.\t12", "It rains.  12")
    assert read(official(row)) == [PAIR]


def test_blanks_before_the_marks_and_the_missing_tab(official: Write) -> None:
    row = GOOD.replace("Speaker", " Speaker").replace("It rains.\t12", "It rains.  12")
    assert read(official(row)) == [PAIR]


def test_turns_without_marks(official: Write) -> None:
    assert read(official(re.sub(r"Speaker \d: ", "", GOOD))) == [PAIR]


def test_a_turn_goes_on_behind_a_tab_if_the_turns_are_marked(official: Write) -> None:
    assert read(official(GOOD.replace("How are", "How\tare"))) == [PAIR]


def test_columns_in_another_order(write: Write) -> None:
    header = (
        "Time\tUser Reply\tDialogue Context\tAge\tUser Relevance Score\tWorker ID\tLabel\tReply\tDialogue ID\tGender"
    )
    row = "12\tIt rains.\tSpeaker 1: Hello.\tSpeaker 2: How are you?\t30\t4\tW1\t0\tSpeaker 1: Fine.\t0\tf"
    assert read(write(header, row)) == [PAIR]


def test_four_columns_are_enough(write: Write) -> None:
    """Nothing numbers the pairs, and nothing tells their kind: a context's first reply is the original one."""
    rows = [
        "Speaker 1: Hi.\tSpeaker 2: Ho.\t5\tHa.",
        "Speaker 1: Hi.\tSpeaker 2: Ho!:\t4\tHe.",
        "Speaker 1: Hi.\tSpeaker 2: No.\t1\tHu.",
        "Speaker 1: Hi.\tSpeaker 2: Who?\t5\tA",  # the same line, somewhere else in a film
        "Speaker 1: Hi.\tSpeaker 2: Snow.\t2\tB",
        "Speaker 1: Hi.\tSpeaker 2: Go.\tSpeaker 1: So.\t3\tC",
    ]
    pairs = read(write("Dialogue Context\tReply\tUser Relevance Score\tUser Reply", *rows))
    assert [(pair.pair_id, pair.reply, pair.is_original) for pair in pairs] == [
        ("line 2", "Ho.", True),
        ("line 4", "No.", False),
        ("line 5", "Who?", True),
        ("line 6", "Snow.", False),
        ("line 7", "So.", True),
    ]
    assert pairs[0] == Pair("line 2", ("Hi.",), "Ho.", True, (5, 4), 4.5, ("Ha.", "He."), ({}, {}))


def test_replies_that_differ_in_their_punctuation_alone_are_two(write: Write) -> None:
    rows = ["Hi.\t...\t5\tHa.", "Hi.\t?\t1\tHe."]
    pairs = read(write("Dialogue Context\tReply\tUser Relevance Score\tUser Reply", *rows))
    assert [pair.reply for pair in pairs] == ["...", "?"]


def test_without_labels_a_reply_whose_kind_cannot_be_told_is_reported(write: Write) -> None:
    """The original reply to the second context is empty: the random one must not be taken for it."""
    header = "Dialogue ID\tDialogue Context\tReply\tUser Relevance Score\tUser Reply"
    replies = [(0, "a", "A"), (1, "a", "B"), (2, "b", ""), (3, "b", "C"), (4, "c", "D"), (5, "c", "E")]
    rows = [f"{n}\tSpeaker 1: {c}\tSpeaker 2: {r}\t{rating}\thm" for n, c, r in replies for rating in (1, 2, 3)]
    pairs, bad = skip(write(header, *rows))
    assert [(pair.pair_id, pair.is_original) for pair in pairs] == [
        ("0", True),
        ("1", False),
        ("4", True),
        ("5", False),
    ]
    assert len(bad) == 4
    assert "line 11, column Reply: 'C' may be original or random" in bad[3]
    assert "3 row(s)" in bad[3]


def test_without_labels_the_pair_behind_one_that_cannot_be_told_can_be(write: Write) -> None:
    """The random reply to the first context is empty, so ``C`` may be anything; but then ``D`` is the random one."""
    header = "Dialogue ID\tDialogue Context\tReply\tUser Relevance Score\tUser Reply"
    replies = [(0, "a", "A"), (1, "a", ""), (2, "b", "C"), (3, "b", "D")]
    pairs, bad = skip(write(header, *(f"{n}\tSpeaker 1: {c}\tSpeaker 2: {r}\t3\thm" for n, c, r in replies)))
    assert [(pair.pair_id, pair.is_original) for pair in pairs] == [("0", True), ("3", False)]
    assert len(bad) == 2


def test_without_labels_one_bad_row_does_not_hide_the_kind_of_its_pair(write: Write) -> None:
    header = "Dialogue ID\tDialogue Context\tReply\tUser Relevance Score\tUser Reply"
    rows = [f"{n}\tSpeaker 1: a\tSpeaker 2: {'AB'[n]}\t{rating}\thm" for n in (0, 1) for rating in (9, 2, 3)]
    pairs, bad = skip(write(header, *rows))
    assert [(pair.pair_id, pair.ratings, pair.is_original) for pair in pairs] == [
        ("0", (2, 3), True),
        ("1", (2, 3), False),
    ]
    assert len(bad) == 2


def test_further_columns_with_the_same_name_are_all_kept(write: Write) -> None:
    path = write("Note\tDialogue Context\tReply\tUser Relevance Score\tUser Reply\tNote\t", "x\tHi.\tHo.\t3\tHa.\ty\tz")
    assert read(path)[0].raters == ({"note": "x", "note 6": "y", "": "z"},)


# --- the missing tab -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("human", ["At 7", "7", "Platform 9 3", "Speaker 2: 4", "Speaker 2: Yes 12", "", "12 12"])
def test_a_good_row_is_never_taken_apart(official: Write, human: str) -> None:
    (pair,) = read(official(changed(GOOD, human=human)))
    assert (pair.human_replies, pair.raters[0]["time"]) == ((human,), "12")


@pytest.mark.parametrize("time", ["at 7", "12 12", "Speaker 1: 7"])
def test_a_good_rows_last_field_is_never_taken_apart(official: Write, time: str) -> None:
    (pair,) = read(official(changed(GOOD, time=time)))
    assert (pair.human_replies, pair.raters[0]["time"]) == (("It rains.",), time)


@pytest.mark.parametrize(
    "names",
    [
        "Label\tUser Relevance Score\tDialogue Context\tReply\tUser Reply\tTime",
        "User Relevance Score\tDialogue Context\tReply\tNote\tLabel\tUser Reply\tTime",
        "User Relevance Score\tDialogue Context\tNote\tReply\tLabel\tUser Reply\tTime",
    ],
)
def test_a_field_beside_the_turns_that_is_marked_like_one(write: Write, names: str) -> None:
    """In such an order of columns a good row looks as if it had a turn more and a field too few."""
    fields = {
        "Label": "0",
        "User Relevance Score": "4",
        "Dialogue Context": "Speaker 1: Hello.\tSpeaker 2: How are you?",
        "Reply": "Speaker 1: Fine.",
        "Note": "Speaker 2: note",
        "User Reply": "Speaker 2: It rains.",
        "Time": "at 7",
    }
    (pair,) = read(write(names, "\t".join(fields[name] for name in names.split("\t"))))
    assert (pair.context, pair.reply) == (PAIR.context, PAIR.reply)
    assert pair.human_replies == ("Speaker 2: It rains.",)
    assert pair.raters[0]["time"] == "at 7"


def test_another_column_before_the_last_is_not_put_right(write: Write, assert_one_line: OneLine) -> None:
    """Of which nobody said that its tab may be missing: the rating would be cut off the last field."""
    header = "Dialogue ID\tDialogue Context\tReply\tLabel\tUser Reply\tUser Relevance Score\tTime"
    path = write(header, "0\tSpeaker 1: Hi.\tSpeaker 2: Ho.\t0\tIt rains. 4\t3 12")
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line 2, column Time")


@pytest.mark.parametrize("last", ["It rains.12", "12", "It rains. twelve", "It rains. 12 m"])
def test_what_is_no_text_and_number_is_not_taken_apart(official: Write, last: str, assert_one_line: OneLine) -> None:
    path = official(GOOD.replace("It rains.\t12", last))
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line 2, column Label", "'Speaker 1: Fine.'")


def test_no_other_missing_tab_gives_another_pair(official: Write) -> None:
    """Each tab of a row taken out in turn: only the known flaw, and one between turns, are put right."""
    outcomes = []
    for place in [match.start() for match in re.finditer("\t", GOOD)]:
        path = official(GOOD[:place] + " " + GOOD[place + 1 :])
        try:
            assert read(path) == [PAIR]
            outcomes.append("same")
        except DataError:
            outcomes.append("refused")
    assert outcomes == ["refused", "same", *["refused"] * 7, "same"]


def test_no_tab_too_many_gives_another_pair(official: Write) -> None:
    """At each tab of a row, one more: between turns it does no harm."""
    outcomes = []
    for place in [match.start() for match in re.finditer("\t|$", GOOD)]:
        path = official(GOOD[:place] + "\t" + GOOD[place:])
        try:
            assert read(path) == [PAIR]
            outcomes.append("same")
        except DataError:
            outcomes.append("refused")
    # Before the context its first turn would begin with an empty one; the marks tell that it does not.
    assert outcomes == ["same", "same", "same", *["refused"] * 8]


# --- what the official file can have wrong ---------------------------------------------------------------------------


BAD_ROWS = {
    "rating 0": (changed(GOOD, rating="0"), "User Relevance Score", "0"),
    "rating 6": (changed(GOOD, rating="6"), "User Relevance Score", "6"),
    "rating -1": (changed(GOOD, rating="-1"), "User Relevance Score", "-1"),
    "half a rating": (changed(GOOD, rating="4.5"), "User Relevance Score", "4.5"),
    "a word for a rating": (changed(GOOD, rating="good"), "User Relevance Score", "good"),
    "another alphabet's 4": (changed(GOOD, rating="\u0664"), "User Relevance Score", "\u0664"),
    "no rating": (changed(GOOD, rating=""), "User Relevance Score", ""),
    "no context": ("0\t \tSpeaker 1: Fine.\t0\tW1\t30\tf\t4\tIt rains.\t12", "Dialogue Context", " "),
    "a context of marks": ("0\tSpeaker 1: \tSpeaker 2:\tSpeaker 1: Fine.\t0\tW1\t30\tf\t4\tIt rains.\t12",
                           "Dialogue Context", "Speaker 1: \tSpeaker 2:"),
    "no reply": (changed(GOOD, reply=""), "Reply", ""),
    "a reply of blanks": (changed(GOOD, reply=" \u2003"), "Reply", " \u2003"),
    "a reply that is a mark": (changed(GOOD, reply="Speaker 1: "), "Reply", "Speaker 1: "),
    "two replies": (changed(GOOD, reply="Fine. Speaker 2: Is it?"), "Reply", "Fine. Speaker 2: Is it?"),
    "an unknown label": (changed(GOOD, label="2"), "Label", "2"),
    "no label": (changed(GOOD, label=""), "Label", ""),
    "a turn in the first column": (changed(GOOD, id="0 Speaker 2: Well?"), "Dialogue ID", "0 Speaker 2: Well?"),
    "too few fields": ("0\tSpeaker 1: Hello.\tFine.\t0\t3", "Age", "0\tSpeaker 1: Hello.\tFine.\t0\t3"),
}  # fmt: skip


@pytest.mark.parametrize(("row", "column", "value"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_is_named(official: Write, row: str, column: str, value: str, assert_one_line: OneLine) -> None:
    path = official(SECOND, row, OTHER)
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line 3, column {column}: {value!r} ", "--skip-bad-rows true")


@pytest.mark.parametrize(("row", "column", "value"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_can_be_left_out(
    official: Write, row: str, column: str, value: str, assert_one_line: OneLine
) -> None:
    """The other rows of its pair, and all other pairs, stay."""
    path = official(SECOND, row, OTHER)
    pairs, bad = skip(path)
    assert [(pair.pair_id, pair.ratings) for pair in pairs] == [("0", (5,)), ("1", (1,))]
    assert len(bad) == 1
    assert_one_line(DataError(bad[0]), f"{path}, line 3, column {column}: {value!r} ")
    assert "--skip-bad-rows" not in bad[0]


def test_all_bad_rows_at_once_are_counted_one_by_one(official: Write) -> None:
    rows = [row for row, _, _ in BAD_ROWS.values()]
    mixed = [line for row in rows for line in (row, GOOD)]
    pairs, bad = skip(official(*mixed))
    assert [pair.pair_id for pair in pairs] == ["0"]
    assert pairs[0].ratings == (4,) * len(rows)
    assert [re.search(r"line (\d+)", line)[1] for line in bad] == [str(2 + 2 * n) for n in range(len(rows))]  # type: ignore[index]


def test_a_pair_of_which_no_row_is_good_is_left_out_whole(official: Write) -> None:
    pairs, bad = skip(official(OTHER, *[changed(GOOD, reply="")] * 3, changed(OTHER, id="3")))
    assert [pair.pair_id for pair in pairs] == ["1", "3"]
    assert len(bad) == 3


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        (changed(SECOND, reply="Speaker 1: Fine, thanks."), "Reply", "'Fine, thanks.'"),
        (changed(SECOND, second="Speaker 2: Who are you?"), "Dialogue Context", "('Hello.', 'Who are you?')"),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_row_that_does_not_fit_its_pair(
    official: Write, row: str, column: str, value: str, place: int, assert_one_line: OneLine
) -> None:
    """What two rows say is believed, wherever the third stands."""
    rows = [GOOD, GOOD]
    rows.insert(place, row)
    path = official(*rows)
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line {place + 2}, column {column}: {value} ", "of the same pair")
    pairs, bad = skip(path)
    assert [replace(pair, raters=()) for pair in pairs] == [
        replace(PAIR, ratings=(4, 4), human_replies=("It rains.",) * 2, raters=())
    ]
    assert len(bad) == 1


@pytest.mark.parametrize(
    ("field", "column", "value"),
    [
        ("human", "User Reply", b"Caf\xe9"),
        ("reply", "Reply", b"Speaker 1: Caf\xe9"),
        ("context", "Dialogue Context", b"Speaker 1: Caf\xe9"),
        ("second", "Dialogue Context", b"Speaker 2: Caf\xe9"),
        ("id", "Dialogue ID", b"Caf\xe9"),
        ("time", "Time", b"Caf\xe9"),
    ],
)
def test_a_row_that_is_not_utf_8(
    official: Write, field: str, column: str, value: bytes, assert_one_line: OneLine
) -> None:
    bad_row = changed(GOOD, **{field: value.decode("latin-1")}).encode("latin-1")
    path = official(SECOND, bad_row, OTHER)
    with pytest.raises(DataError) as caught:
        read(path)
    shown = repr(value)[2:-1]
    assert_one_line(caught.value, f"{path}, line 3, column {column}: b'", shown, "not UTF-8: save the file as UTF-8")
    pairs, bad = skip(path)
    assert [(pair.pair_id, pair.ratings) for pair in pairs] == [("0", (5,)), ("1", (1,))]
    assert len(bad) == 1


def test_a_long_value_is_shortened(official: Write, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        read(official(changed(GOOD, rating="9" * 5000)))
    assert_one_line(caught.value, "line 2, column User Relevance Score", "'999", "...")
    assert len(str(caught.value)) < 500


# --- what is never skipped -------------------------------------------------------------------------------------------


def assert_refused(path: Path, assert_one_line: OneLine, *parts: object) -> None:
    """In either mode, and without a word of what could be left out."""
    for bad_rows in (None, []):
        with pytest.raises(DataError) as caught:
            list(read_humod(path, bad_rows))
        assert_one_line(caught.value, path, *parts)
        assert "--skip-bad-rows" not in str(caught.value)
        assert not bad_rows


@pytest.mark.parametrize("missing", ["Dialogue Context", "Reply", "User Relevance Score", "User Reply"])
def test_a_missing_column(write: Write, missing: str, assert_one_line: OneLine) -> None:
    header = "\t".join(name for name in OFFICIAL if name != missing)
    parts = ("line 1", f"lacks the column(s) {missing}:", "it should be tab-separated", "'Dialogue ID")
    assert_refused(write(header, GOOD), assert_one_line, *parts)


def test_several_missing_columns(write: Write, assert_one_line: OneLine) -> None:
    path = write("Dialogue ID,Dialogue Context,Reply", GOOD)  # commas for tabs
    missing = "Dialogue Context, Reply, User Relevance Score, User Reply"
    assert_refused(path, assert_one_line, f"lacks the column(s) {missing}:", "'Dialogue ID,Dialogue Context,Reply'")


@pytest.mark.parametrize("lines", [[], ["", " "], ["<html>\u2028Please log in</html>"], [GOOD], ["\x00"]])
def test_what_is_no_header(write: Write, lines: list[str], assert_one_line: OneLine) -> None:
    assert_refused(write(*lines), assert_one_line, "line 1: the header", "lacks the column(s)")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_a_file_in_another_encoding(tmp_path: Path, encoding: str, assert_one_line: OneLine) -> None:
    (path := tmp_path / "some.TXT").write_text("\t".join(OFFICIAL) + f"\n{GOOD}\n", encoding=encoding)
    assert_refused(path, assert_one_line, "line 1")


def test_a_header_that_is_not_utf_8(write: Write, assert_one_line: OneLine) -> None:
    path = write("\t".join(OFFICIAL).encode() + b"\tG\xfcte", GOOD)
    assert_refused(path, assert_one_line, r"line 1, column 11: b'G\xfcte' is not UTF-8")


@pytest.mark.parametrize("name", ["none.TXT", "none.jsonl"])
def test_a_missing_file(tmp_path: Path, name: str, assert_one_line: OneLine) -> None:
    assert_refused(tmp_path / name, assert_one_line, "cannot be read (No such file or directory)", "HUMOD")


def test_a_folder_is_no_file(tmp_path: Path, assert_one_line: OneLine) -> None:
    assert_refused(tmp_path, assert_one_line, "cannot be read (Is a directory)")


# --- JSON lines ------------------------------------------------------------------------------------------------------


def test_a_pair_as_the_copy_has_it(fixtures: Path) -> None:
    pairs = read(fixtures / "humod/humod.jsonl")
    assert len(pairs) == 12
    assert pairs[7] == Pair(
        pair_id="humod_00007",
        context=("What?",),
        reply="Then we walk.",
        is_original=False,
        ratings=(),
        mean_rating=2.33,
        human_replies=("Nothing.", "I said hello.", "Are you deaf?"),
    )
    assert [pair.mean_rating is None for pair in pairs] == [False] * 2 + [True] * 2 + [False] * 4 + [True] * 2 + [
        False
    ] * 2


def test_both_invented_files_say_the_same(fixtures: Path) -> None:
    for ours, copied in zip(*(read(fixtures / "humod" / n) for n in ("HUMOD_Dataset.TXT", "humod.jsonl")), strict=True):
        assert (ours.context, ours.reply, ours.is_original) == (copied.context, copied.reply, copied.is_original)
        assert ours.human_replies == copied.human_replies
        assert copied.mean_rating is None or ours.mean_rating == pytest.approx(copied.mean_rating, abs=0.005)


def test_ratings_of_single_raters_and_a_context_as_a_list(objects: Write) -> None:
    value = {**OBJECT, "context": ["Hello.", "", "How  are\nyou?"], "ratings": [1, 2, 2], "human_relevance_mean": 1.67}
    (pair,) = read(objects(value))
    assert pair.context == ("Hello.", "", "How are you?")
    assert (pair.ratings, pair.mean_rating, pair.raters) == ((1, 2, 2), pytest.approx(5 / 3), ({}, {}, {}))


def test_a_pair_without_a_name_is_called_by_its_line(objects: Write) -> None:
    nameless = {key: value for key, value in OBJECT.items() if key != "id"}
    path = objects(OBJECT, nameless, {**OBJECT, "id": 7}, {**OBJECT, "id": None})
    assert [pair.pair_id for pair in read(path)] == ["a", "line 2", "7", "line 4"]


@pytest.mark.parametrize("mean", [1, 5, 2.5, None])
def test_means_that_can_be(objects: Write, mean: float | None) -> None:
    assert read(objects({**OBJECT, "human_relevance_mean": mean}))[0].mean_rating == mean


def test_the_ending_of_the_name_decides(write: Write, assert_one_line: OneLine) -> None:
    text = json.dumps(OBJECT)
    assert len(read(write("\ufeff" + text, name="a.JSONL", end="\r\n"))) == 1
    assert_refused(write(text, name="a.json"), assert_one_line, "line 1: the header")


BAD_OBJECTS: dict[str, tuple[Any, str, str]] = {
    "no JSON": ("{", "2", "'{'"),
    "a single quote": ("{'id': 1}", "2", "\"{'id': 1}\""),
    "a too long number": ('{"id": ' + "9" * 5000 + "}", "1", "'{\"id\": 999"),
    "too deep": ("[" * 100_000, "1", "'[[["),
    "a list": ([OBJECT], "1", "[{"),
    "a number": (3, "1", "3"),
    "rating 0": ({**OBJECT, "ratings": [4, 0, 5]}, "ratings", "[4, 0, 5]"),
    "rating 6": ({**OBJECT, "ratings": [6]}, "ratings", "[6]"),
    "half a rating": ({**OBJECT, "ratings": [1.5]}, "ratings", "[1.5]"),
    "a rating that is a text": ({**OBJECT, "ratings": ["4"]}, "ratings", "['4']"),
    "a rating that is true": ({**OBJECT, "ratings": [True]}, "ratings", "[True]"),
    "ratings that are no list": ({**OBJECT, "ratings": 4}, "ratings", "4"),
    "no ratings but zero": ({**OBJECT, "ratings": 0}, "ratings", "0"),
    "mean 0.9": ({**OBJECT, "human_relevance_mean": 0.9}, "human_relevance_mean", "0.9"),
    "mean 5.1": ({**OBJECT, "human_relevance_mean": 5.1}, "human_relevance_mean", "5.1"),
    "mean 9 beside ratings": ({**OBJECT, "ratings": [4], "human_relevance_mean": 9}, "human_relevance_mean", "9"),
    "mean nan": ({**OBJECT, "human_relevance_mean": float("nan")}, "human_relevance_mean", "nan"),
    "mean true": ({**OBJECT, "human_relevance_mean": True}, "human_relevance_mean", "True"),
    "mean as a text": ({**OBJECT, "human_relevance_mean": "4"}, "human_relevance_mean", "'4'"),
    "no context": ({**OBJECT, "context": " \n "}, "context", r"' \n '"),
    "a context of no turns": ({**OBJECT, "context": []}, "context", "[]"),
    "a context of blanks": ({**OBJECT, "context": ["", " "]}, "context", "['', ' ']"),
    "a context that is no text": ({**OBJECT, "context": 3}, "context", "3"),
    "a turn that is no text": ({**OBJECT, "context": ["a", None]}, "context", "None"),
    "no reply": ({**OBJECT, "reply": ""}, "reply", "''"),
    "a reply of blanks": ({**OBJECT, "reply": " \n"}, "reply", r"' \n'"),
    "a reply that is no text": ({**OBJECT, "reply": None}, "reply", "None"),
    "half a character": ('{"id": "a", "context": "b", "reply": "\\ud83d", "reply_kind": "original", '
                         '"human_replies": [], "human_relevance_mean": null}', "reply", r"'\ud83d'"),
    "a name that is a list": ({**OBJECT, "id": ["a"]}, "id", "['a']"),
    "an unknown kind": ({**OBJECT, "reply_kind": "human"}, "reply_kind", "'human'"),
    "a kind that is a list": ({**OBJECT, "reply_kind": ["original"]}, "reply_kind", "['original']"),
    "human replies that are one text": ({**OBJECT, "human_replies": "It rains."}, "human_replies", "'It rains.'"),
    "a human reply that is no text": ({**OBJECT, "human_replies": ["a", 3]}, "human_replies", "3"),
    "not UTF-8 in the reply": (json.dumps({**OBJECT, "reply": "?"}).encode().replace(b"?", b"Caf\xe9", 2)
                               .replace(b"Caf\xe9", b"you.", 1), "reply", r"Caf\xe9"),
    "not UTF-8 at its beginning": (b"\xff" + json.dumps(OBJECT).encode(), "1", r"b'\xff"),
}  # fmt: skip
for _name in ("context", "reply", "reply_kind", "human_replies", "human_relevance_mean"):
    BAD_OBJECTS[f"without {_name}"] = ({k: v for k, v in OBJECT.items() if k != _name}, _name, "[")


@pytest.mark.parametrize(("value", "column", "shown"), BAD_OBJECTS.values(), ids=BAD_OBJECTS)
def test_a_bad_object(objects: Write, value: Any, column: str, shown: str, assert_one_line: OneLine) -> None:
    path = objects(OBJECT, value, {**OBJECT, "id": "b"})
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line 2, column {column}: ", shown, "--skip-bad-rows true")
    pairs, bad = skip(path)
    assert [pair.pair_id for pair in pairs] == ["a", "b"]
    assert len(bad) == 1
    assert_one_line(DataError(bad[0]), f"{path}, line 2, column {column}: ", shown)


# --- what is written can be read -------------------------------------------------------------------------------------


MARK = re.compile(r"Speaker\s*\d+\s*:")
_PIECES = st.one_of(
    st.sampled_from(
        ["1268", "5", "0", "Speaker", "Speaker 2:", ":", '"', "'", "\\", "Is it", "...", "{", "\ufeff", "\x00"]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\t"), max_size=8),
)
# What the format can hold: runs of white space are single spaces.
_WRITTEN = st.lists(_PIECES, max_size=4).map(lambda pieces: " ".join(" ".join(pieces).split()))
_SAID = _WRITTEN.filter(lambda text: not MARK.search(f" {text}"))  # a mark would begin another turn
_RATINGS = st.integers(1, 5)


@st.composite
def pair_lists(draw: st.DrawFn, times: st.SearchStrategy[str] = _WRITTEN) -> list[Pair]:
    """Pairs with all that the official format can express: the kinds in any order, and any number of raters."""
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
    """Rows by column, as the official file has them. :param between: what separates the turns of a context."""
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
    """The same pairs as JSON lines, which tell nothing of the raters."""
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
    """Read what hypothesis invented: it calls a test many times, with files that must not be each other's."""
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return list(read_humod(path, bad_rows))


def table(names: Sequence[str], rows: Sequence[dict[str, str]], end: str = "\n") -> str:
    return end.join(["\t".join(names), *("\t".join(row[name] for name in names) for row in rows), ""])


@settings(max_examples=50)
@given(pairs=pair_lists(), end=st.sampled_from(["\n", "\r\n"]), between=st.sampled_from(["\t", " ", "", " \t "]))
def test_round_trip_in_the_official_layout(pairs: list[Pair], end: str, between: str) -> None:
    """Whatever people wrote, a good row is read as it stands: no human reply is taken apart."""
    assert read_text(table(OFFICIAL, rows_of(pairs, between), end)) == pairs


@settings(max_examples=50)
@given(pairs=pair_lists(), names=st.permutations(OFFICIAL), between=st.sampled_from(["\t", " "]))
def test_round_trip_with_columns_in_any_order(pairs: list[Pair], names: list[str], between: str) -> None:
    assert read_text(table(names, rows_of(pairs, between))) == pairs


@settings(max_examples=50)
@given(pairs=pair_lists(), as_list=st.booleans())
def test_json_lines_give_the_same_pairs(pairs: list[Pair], as_list: bool) -> None:
    found = read_text("\n".join(objects_of(pairs, as_list)), "some.jsonl")
    assert found == [replace(pair, raters=tuple({} for _ in pair.ratings)) for pair in pairs]


@settings(max_examples=50)
@given(
    pairs=pair_lists(st.integers(0, 9999).map(str)),
    blanks=st.sampled_from([" ", "   ", "\u2003"]),
    between=st.sampled_from(["\t", " "]),
)
def test_round_trip_without_the_tab_before_the_last_number(pairs: list[Pair], blanks: str, between: str) -> None:
    """In each row whose human reply says something; where it does not, nothing can be seen."""
    rows = rows_of(pairs, between)
    lines = ["\t".join(row.values()) for row in rows]
    cut = [
        line.rpartition("\t")[0] + blanks + row["Time"] if row["User Reply"] else line
        for line, row in zip(lines, rows, strict=True)
    ]
    assert read_text("\n".join(["\t".join(OFFICIAL), *cut])) == pairs


@settings(max_examples=50)
@given(pairs=pair_lists(), data=st.data())
def test_bad_rows_among_good_ones_are_left_out_and_nothing_else(pairs: list[Pair], data: st.DataObject) -> None:
    lines = table(OFFICIAL, rows_of(pairs)).split("\n")[:-1]
    chosen = data.draw(st.lists(st.sampled_from(list(BAD_ROWS.values())), max_size=5))
    for row, _, _ in chosen:
        lines.insert(data.draw(st.integers(1, len(lines))), row)
    bad: list[DataError] = []
    assert read_text("\n".join(lines), bad_rows=bad) == pairs
    assert len(bad) == len(chosen)


# --- anything either reads or is refused -----------------------------------------------------------------------------


def assert_valid(pairs: list[Pair]) -> None:
    for pair in pairs:
        assert any(pair.context)
        assert pair.reply
        assert set(pair.ratings) <= {1, 2, 3, 4, 5}
        assert pair.mean_rating is None or 1 <= pair.mean_rating <= 5
        assert len(pair.raters) == len(pair.ratings)
        for text in (pair.pair_id, *pair.context, pair.reply, *pair.human_replies):
            assert text == " ".join(text.split())
            text.encode()  # which half a character would not let


def refusal(text: str | bytes, name: str, bad_rows: list[DataError] | None) -> str:
    """What is said of a file that cannot be read, if it cannot."""
    try:
        assert_valid(read_text(text, name, bad_rows))
    except DataError as error:
        return "some." + str(error).partition("/some.")[2]  # the folder is another one each time
    return ""


def read_or_refuse(text: str | bytes, name: str) -> None:
    """Nothing but pairs or a :class:`DataError` of one line comes out; if bad rows are skipped, none of theirs."""
    bad: list[DataError] = []
    message, message_of_skipping = refusal(text, name, None), refusal(text, name, bad)
    if message:
        assert re.match(rf"{re.escape(name)}, line \d", message)
        assert len(message.splitlines()) == 1
    if message_of_skipping:  # then it is the header's, which is the same in both modes
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
def test_any_bytes_are_read_or_refused(content: bytes, header: bool, name: str) -> None:
    read_or_refuse("\t".join(OFFICIAL).encode() + b"\n" + content if header else content, name)


@settings(max_examples=100)
@given(rows=st.lists(_LINES, max_size=5), names=st.permutations(OFFICIAL), cut=st.integers(0, 9))
def test_any_lines_are_read_or_refused(rows: list[str], names: list[str], cut: int) -> None:
    read_or_refuse("\n".join(["\t".join(names[cut:]), *rows]), "some.TXT")


@settings(max_examples=100)
@given(rows=st.lists(st.tuples(*[_FIELDS] * 5).map("\t".join), max_size=6), number=st.booleans())
def test_any_rows_without_labels_are_read_or_refused(rows: list[str], number: bool) -> None:
    names = ["Dialogue ID" if number else "Reply", "Dialogue Context", "Reply", "User Relevance Score", "User Reply"]
    read_or_refuse("\n".join(["\t".join(names), *rows]), "some.TXT")


@settings(max_examples=100)
@given(pairs=pair_lists(), seed=st.integers(0, 2**32), times=st.integers(1, 4), json_lines=st.booleans())
def test_good_files_with_bytes_changed_are_read_or_refused(
    pairs: list[Pair], seed: int, times: int, json_lines: bool
) -> None:
    """Bytes left out, put in, or replaced anywhere, by what means something in one of the formats."""
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
def test_any_objects_are_read_or_refused(record: dict[str, Any], whole: bool) -> None:
    read_or_refuse(json.dumps({**OBJECT, **record} if whole else record), "some.jsonl")


# --- the data set itself ---------------------------------------------------------------------------------------------


def test_the_real_copy(real_data: Path) -> None:
    """One reply of 9,500 is empty. Counted a second time by plain JSON."""
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
