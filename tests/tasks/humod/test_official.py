"""The official layout and copies of it: its known flaws, and every kind of bad row."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from humod_files import BAD_ROWS, GOOD, OFFICIAL, OTHER, PAIR, SECOND, OneLine, Write, changed, read, skip

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.humod.records import Pair

# --- the official layout ---------------------------------------------------------------------------------------------


def test_pair_in_official_layout_is_read(fixtures: Path) -> None:
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


def test_all_pairs_of_fixture_file_are_read(fixtures: Path) -> None:
    pairs, bad = skip(fixtures / "humod/HUMOD_Dataset.TXT")
    assert bad == []
    assert [pair.pair_id for pair in pairs] == [str(number) for number in range(12)]
    assert [pair.is_original for pair in pairs] == [True, False] * 6
    assert [pair.ratings for pair in pairs][:4] == [(5, 4, 5), (1, 2, 1), (5, 3, 4), (1, 1, 3)]
    assert [len(pair.context) for pair in pairs[::2]] == [1, 3, 3, 1, 1, 2]
    assert pairs[1].mean_rating == pytest.approx(4 / 3)


def test_known_flaws_are_repaired(fixtures: Path) -> None:
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
    assert pairs[5].reply == "Seven, if you count the horse."  # as in two of three rows
    assert all(len(pair.ratings) == 3 for pair in pairs)


def test_empty_turn_is_kept(fixtures: Path) -> None:
    """Otherwise the speakers would no longer alternate."""
    for name in ("HUMOD_Dataset.TXT", "humod.jsonl"):
        assert read(fixtures / "humod" / name)[4].context == ("Hello?", "", "Is anybody there?")


def test_empty_human_reply_is_kept(fixtures: Path) -> None:
    for name in ("HUMOD_Dataset.TXT", "humod.jsonl"):
        assert read(fixtures / "humod" / name)[1].human_replies == ("I thought you did.", "Which boat?", "")


def test_repeated_context_gives_separate_pairs(fixtures: Path) -> None:
    pairs = [pair for pair in read(fixtures / "humod/HUMOD_Dataset.TXT") if pair.context == ("What?",)]
    assert [pair.reply for pair in pairs] == ["Nothing.", "Then we walk.", "You heard me.", "It is only rain."]


def test_quotation_marks_are_plain_text(fixtures: Path) -> None:
    assert read(fixtures / "humod/HUMOD_Dataset.TXT")[10].reply == 'Four. Take the "long" stairs.'


@pytest.mark.parametrize("turns", range(1, 8))
def test_contexts_of_any_length_are_read(official: Write, turns: int) -> None:
    spoken = "\t".join(f"Speaker {1 + n % 2}: turn {n}" for n in range(turns))
    (pair,) = read(official(f"0\t{spoken}\tSpeaker 1: Fine.\t0\tW1\t30\tf\t4\tIt rains.\t12"))
    assert pair.context == tuple(f"turn {n}" for n in range(turns))
    assert pair.reply == "Fine."


def test_rows_of_a_pair_may_differ_in_case(official: Write) -> None:
    (pair,) = read(official(GOOD, GOOD, changed(SECOND, second="Speaker 2: how are you", reply="Speaker 1: FINE!")))
    assert (pair.context, pair.reply, pair.ratings) == (PAIR.context, PAIR.reply, (4, 4, 5))


def test_spaces_around_label_and_rating_are_ignored(official: Write) -> None:
    assert read(official(changed(GOOD, label=" 0 ", rating="4\u2003"))) == [PAIR]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_crlf_bom_and_blank_lines_are_accepted(write: Write, end: str) -> None:
    path = write("\ufeff" + "\t".join(OFFICIAL), "", GOOD, "  ", end=end)
    assert read(path) == [PAIR]


def test_only_line_feeds_end_lines_and_whitespace_is_collapsed(official: Write) -> None:
    row = changed(GOOD, second="Speaker 2:  How\u2028are \x0b you? ", human="It\x85 rains.", reply="Speaker 1:Fine.")
    assert read(official(row)) == [PAIR]


def test_final_newline_is_optional(official: Write) -> None:
    path = official(GOOD)
    path.write_bytes(path.read_bytes().rstrip())
    assert read(path) == [PAIR]


def test_header_only_file_has_no_pairs(official: Write) -> None:
    assert read(official()) == []


# --- copies of the official file -------------------------------------------------------------------------------------


def test_column_names_ignore_case_and_underscores(write: Write) -> None:
    header = "\t".join(name.replace(" ", "_").upper() for name in OFFICIAL)
    assert read(write(header, GOOD)) == [PAIR]


@pytest.mark.parametrize("between", [" ", "", "  ", " \x0b "])
def test_context_in_one_field_is_split_into_turns(official: Write, between: str) -> None:
    row = GOOD.replace("\tSpeaker 2: How", between + "Speaker 2: How")
    assert read(official(row)) == [PAIR]


def test_context_in_one_field_with_missing_tab_is_read(official: Write) -> None:
    row = GOOD.replace("\tSpeaker 2: How", " Speaker 2: How").replace("It rains.\t12", "It rains.  12")
    assert read(official(row)) == [PAIR]


def test_spaces_before_speaker_marks_with_missing_tab_are_read(official: Write) -> None:
    row = GOOD.replace("Speaker", " Speaker").replace("It rains.\t12", "It rains.  12 ")
    assert read(official(row)) == [PAIR]


def test_turns_without_speaker_marks_are_read(official: Write) -> None:
    assert read(official(re.sub(r"Speaker \d: ", "", GOOD))) == [PAIR]


def test_tab_within_marked_turn_does_not_split_it(official: Write) -> None:
    assert read(official(GOOD.replace("How are", "How\tare"))) == [PAIR]


def test_columns_may_be_in_another_order(write: Write) -> None:
    header = (
        "Time\tUser Reply\tDialogue Context\tAge\tUser Relevance Score\tWorker ID\tLabel\tReply\tDialogue ID\tGender"
    )
    row = "12\tIt rains.\tSpeaker 1: Hello.\tSpeaker 2: How are you?\t30\t4\tW1\t0\tSpeaker 1: Fine.\t0\tf"
    assert read(write(header, row)) == [PAIR]


def test_four_columns_suffice(write: Write) -> None:
    """Without numbers or labels of the pairs, a context's first reply is the original one."""
    rows = [
        "Speaker 1: Hi.\tSpeaker 2: Ho.\t5\tHa.",
        "Speaker 1: Hi.\tSpeaker 2: Ho!:\t4\tHe.",
        "Speaker 1: Hi.\tSpeaker 2: No.\t1\tHu.",
        "Speaker 1: Hi.\tSpeaker 2: Who?\t5\tA",  # the same line elsewhere in a film
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


@pytest.mark.parametrize("label", [None, "0", "1"])
def test_reply_or_its_unnamed_label_may_be_the_last_column(write: Write, label: str | None) -> None:
    header, row = "User Relevance Score\tUser Reply\tDialogue Context\tReply", "4\tHa.\tHi.\tHo."
    (pair,) = read(write(f"{header}\tKind", f"{row}\t{label}") if label else write(header, row))
    assert (pair.reply, pair.is_original, pair.raters) == ("Ho.", label != "1", ({},))


def test_punctuation_only_replies_are_distinct(write: Write) -> None:
    rows = ["Hi.\t...\t5\tHa.", "Hi.\t?\t1\tHe."]
    pairs = read(write("Dialogue Context\tReply\tUser Relevance Score\tUser Reply", *rows))
    assert [pair.reply for pair in pairs] == ["...", "?"]


def test_rows_of_one_number_are_one_pair_wherever_they_stand(official: Write) -> None:
    pairs = read(official(GOOD, OTHER, SECOND, changed(OTHER, rating="3")))
    assert [(pair.pair_id, pair.is_original, pair.ratings) for pair in pairs] == [
        ("0", True, (4, 5)),
        ("1", False, (1, 3)),
    ]


def test_unnumbered_pair_that_occurs_again_is_another_pair(write: Write) -> None:
    rows = [f"Hi.\t{reply}\t{rating}\thm" for reply, rating in (("Ho.", 4), ("Ha.", 1), ("Ho.", 5))]
    pairs = read(write("Dialogue Context\tReply\tUser Relevance Score\tUser Reply", *rows))
    assert [(pair.reply, pair.ratings) for pair in pairs] == [("Ho.", (4,)), ("Ha.", (1,)), ("Ho.", (5,))]


def test_unlabelled_reply_of_ambiguous_kind_is_reported(write: Write) -> None:
    """The original reply to the second context is empty: the random one must not take its place."""
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


def test_unlabelled_reply_after_an_ambiguous_one_is_random(write: Write) -> None:
    """The random reply to the first context is empty, so ``C`` may be of either kind; but ``D`` must be random."""
    header = "Dialogue ID\tDialogue Context\tReply\tUser Relevance Score\tUser Reply"
    replies = [(0, "a", "A"), (1, "a", ""), (2, "b", "C"), (3, "b", "D")]
    pairs, bad = skip(write(header, *(f"{n}\tSpeaker 1: {c}\tSpeaker 2: {r}\t3\thm" for n, c, r in replies)))
    assert [(pair.pair_id, pair.is_original) for pair in pairs] == [("0", True), ("3", False)]
    assert len(bad) == 2


def test_unlabelled_pair_with_one_bad_row_keeps_its_kind(write: Write) -> None:
    header = "Dialogue ID\tDialogue Context\tReply\tUser Relevance Score\tUser Reply"
    rows = [f"{n}\tSpeaker 1: a\tSpeaker 2: {'AB'[n]}\t{rating}\thm" for n in (0, 1) for rating in (9, 2, 3)]
    pairs, bad = skip(write(header, *rows))
    assert [(pair.pair_id, pair.ratings, pair.is_original) for pair in pairs] == [
        ("0", (2, 3), True),
        ("1", (2, 3), False),
    ]
    assert len(bad) == 2


def test_extra_columns_with_same_name_are_all_kept(write: Write) -> None:
    path = write("Note\tDialogue Context\tReply\tUser Relevance Score\tUser Reply\tNote\t", "x\tHi.\tHo.\t3\tHa.\ty\tz")
    assert read(path)[0].raters == ({"note": "x", "note 6": "y", "": "z"},)


# --- the missing tab -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("human", ["At 7", "7", "Platform 9 3", "Speaker 2: 4", "Speaker 2: Yes 12", "", "12 12"])
def test_human_reply_of_complete_row_is_never_split(official: Write, human: str) -> None:
    (pair,) = read(official(changed(GOOD, human=human)))
    assert (pair.human_replies, pair.raters[0]["time"]) == ((human,), "12")


@pytest.mark.parametrize("time", ["at 7", "12 12", "Speaker 1: 7"])
def test_last_field_of_complete_row_is_never_split(official: Write, time: str) -> None:
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
def test_field_with_speaker_mark_beside_turns_is_not_a_turn(write: Write, names: str) -> None:
    """With these orders of columns, a good row looks as if it had one turn too many and one field too few."""
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


def test_missing_tab_after_another_column_is_not_repaired(write: Write, assert_one_line: OneLine) -> None:
    """The missing tab is not a known flaw there: repairing it would cut the rating off the last field."""
    header = "Dialogue ID\tDialogue Context\tReply\tLabel\tUser Reply\tUser Relevance Score\tTime"
    path = write(header, "0\tSpeaker 1: Hi.\tSpeaker 2: Ho.\t0\tIt rains. 4\t3 12")
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line 2, column Time")


@pytest.mark.parametrize("last", ["It rains.12", "12", "It rains. twelve", "It rains. 12 m"])
def test_last_field_without_text_and_number_is_not_split(official: Write, last: str, assert_one_line: OneLine) -> None:
    path = official(GOOD.replace("It rains.\t12", last))
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line 2, column Label", "'Speaker 1: Fine.'")


def test_any_missing_tab_is_repaired_or_rejected(official: Write) -> None:
    """Each tab of a row is removed in turn: only the known flaw, and a tab between turns, are repaired."""
    outcomes = []
    for place in [match.start() for match in re.finditer("\t", GOOD)]:
        path = official(GOOD[:place] + " " + GOOD[place + 1 :])
        try:
            assert read(path) == [PAIR]
            outcomes.append("same")
        except DataError:
            outcomes.append("refused")
    assert outcomes == ["refused", "same", *["refused"] * 7, "same"]


def test_any_extra_tab_is_ignored_or_rejected(official: Write) -> None:
    """Each tab of a row is doubled in turn: between turns this is harmless."""
    outcomes = []
    for place in [match.start() for match in re.finditer("\t|$", GOOD)]:
        path = official(GOOD[:place] + "\t" + GOOD[place:])
        try:
            assert read(path) == [PAIR]
            outcomes.append("same")
        except DataError:
            outcomes.append("refused")
    # Before the context it looks like an empty first turn; the marks show that it is none.
    assert outcomes == ["same", "same", "same", *["refused"] * 8]


# --- errors in the official file --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("row", "column", "value"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_bad_row_error_names_line_and_column(
    official: Write, row: str, column: str, value: str, assert_one_line: OneLine
) -> None:
    path = official(SECOND, row, OTHER)
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line 3, column {column}: {value!r} ", "--skip-bad-rows true")


@pytest.mark.parametrize(("row", "column", "value"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_bad_row_can_be_skipped(official: Write, row: str, column: str, value: str, assert_one_line: OneLine) -> None:
    """The other rows of its pair, and all other pairs, are kept."""
    path = official(SECOND, row, OTHER)
    pairs, bad = skip(path)
    assert [(pair.pair_id, pair.ratings) for pair in pairs] == [("0", (5,)), ("1", (1,))]
    assert len(bad) == 1
    assert_one_line(DataError(bad[0]), f"{path}, line 3, column {column}: {value!r} ")
    assert "--skip-bad-rows" not in bad[0]


def test_all_skipped_rows_are_reported(official: Write) -> None:
    rows = [row for row, _, _ in BAD_ROWS.values()]
    mixed = [line for row in rows for line in (row, GOOD)]
    pairs, bad = skip(official(*mixed))
    assert [pair.pair_id for pair in pairs] == ["0"]
    assert pairs[0].ratings == (4,) * len(rows)
    assert [re.search(r"line (\d+)", line)[1] for line in bad] == [str(2 + 2 * n) for n in range(len(rows))]  # type: ignore[index]


def test_column_that_numbers_the_rows_raises_data_error(official: Write, assert_one_line: OneLine) -> None:
    """Three raters' rows of a pair must have the same number; otherwise each would be a pair."""
    path = official(*[changed(GOOD, id=str(number)) for number in range(3)])
    with pytest.raises(DataError, match=r"column Dialogue ID: it numbers the rows") as caught:
        read(path)
    assert_one_line(caught.value)


def test_pair_without_good_rows_is_skipped(official: Write) -> None:
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
def test_row_contradicting_majority_of_its_pair_is_bad(
    official: Write, row: str, column: str, value: str, place: int, assert_one_line: OneLine
) -> None:
    """The majority of two rows decides, wherever the third is."""
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
def test_non_utf8_row_raises_data_error_or_is_skipped(
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


@pytest.mark.parametrize(("column", "name"), list(enumerate(OFFICIAL)))
def test_non_utf8_error_names_the_column_after_a_single_turn(
    official: Write, column: int, name: str, assert_one_line: OneLine
) -> None:
    fields = GOOD.replace("\tSpeaker 2: How are you?", "").encode().split(b"\t")
    fields[column] += b"\xe9"
    path = official(b"\t".join(fields))
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line 2, column {name}: b'", "not UTF-8")


def test_long_value_is_truncated_in_error(official: Write, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        read(official(changed(GOOD, rating="9" * 5000)))
    assert_one_line(caught.value, "line 2, column User Relevance Score", "'999", "...")
    assert len(str(caught.value)) < 500
