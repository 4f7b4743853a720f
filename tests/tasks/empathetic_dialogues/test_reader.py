"""The reader: the official layout, columns in any order, every kind of error, and random input."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.empathetic_dialogues.reader import (
    COLUMNS,
    EMOTIONS,
    Dialogue,
    SelfEvaluation,
    Turn,
    parse_self_evaluations,
    read_empathetic_dialogues,
)

OneLine = Callable[..., None]
Write = Callable[[str | bytes], Path]

HEADER = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A function that writes a file in UTF-8, without converting line ends, and returns its path."""

    def write_file(text: str | bytes) -> Path:
        (path := tmp_path / "some.csv").write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write_file


def read(path: Path) -> list[Dialogue]:
    return list(read_empathetic_dialogues(path))


def lines(*rows: str, header: str = HEADER) -> str:
    return "\n".join([header, *rows]) + "\n"


# --- the official layout ---------------------------------------------------------------------------------------------


def test_conversation_in_official_layout_is_read(fixtures: Path) -> None:
    proud = read(fixtures / "empathetic_dialogues/train.csv")[0]
    assert proud == Dialogue(
        conv_id="hit:1_conv:1",
        emotion="proud",
        situation="My little brother learned to swim this summer, and I taught him.",
        turns=(
            Turn(1, "11", "My brother swam a whole lane today, all alone!"),
            Turn(2, "12", "That is lovely. How old is he?"),
            Turn(3, "11", 'Six. He calls himself "the shark.'),  # an unpaired quotation mark is ordinary text
            Turn(4, "12", "Ha, watch your toes then."),
        ),
        self_evaluations=(SelfEvaluation(5, 5, 5), SelfEvaluation(4, 5, 5)),
    )


def test_even_turns_belong_to_the_listener(fixtures: Path) -> None:
    proud = read(fixtures / "empathetic_dialogues/train.csv")[0]
    assert [turn.is_listener for turn in proud.turns] == [False, True, False, True]


def test_fixture_files_have_expected_turn_counts(fixtures: Path) -> None:
    # Turns per conversation, counted by hand.
    expected = {"train": [4, 3, 4, 2, 5], "valid": [4, 3, 4], "test": [4, 2, 6]}
    for fold, turns in expected.items():
        dialogues = read(fixtures / f"empathetic_dialogues/{fold}.csv")
        assert [len(dialogue.turns) for dialogue in dialogues] == turns


def test_tags_and_self_evaluations_may_be_absent(fixtures: Path) -> None:
    dialogues = read(fixtures / "empathetic_dialogues/train.csv")
    assert [dialogue.tags for dialogue in dialogues] == [(), (), ("<POLITICAL>",), (), ()]
    assert [bool(dialogue.self_evaluations) for dialogue in dialogues] == [True, True, True, False, True]


@pytest.mark.parametrize("fold", ["valid", "test"])
def test_listener_turns_of_valid_and_test_have_100_candidates(fixtures: Path, fold: str) -> None:
    for dialogue in read(fixtures / f"empathetic_dialogues/{fold}.csv"):
        for turn in dialogue.turns:
            assert len(set(turn.candidates)) == (100 if turn.is_listener else 0)
            assert turn.text in turn.candidates or not turn.is_listener


def test_candidates_are_unescaped_after_splitting(fixtures: Path) -> None:
    cake = read(fixtures / "empathetic_dialogues/valid.csv")[0].turns[3]
    assert cake.text == "Bake him a cake | or two."  # a bar in an utterance is not an escape
    assert {cake.text, "Hey, tea | coffee?", "No, I am glad."} <= set(cake.candidates)
    assert not any("_pipe_" in text or "_comma_" in text for text in cake.candidates)


def test_candidates_keep_file_order(write: Write) -> None:
    path = write(lines("c,1,sad,s,7,Hello,,,", "c,2,sad,s,8,Hi,,,b|Hi|a_pipe_c|a_comma_ b"))
    assert read(path)[0].turns[1].candidates == ("b", "Hi", "a|c", "a, b")


def test_worker_comes_from_speaker_idx_column(write: Write) -> None:
    path = write(lines("c,1,sad,s,423,Hello,,", "c,2,sad,s,1,Hi,,"))
    assert [turn.worker for turn in read(path)[0].turns] == ["423", "1"]


def test_self_evaluations_and_tags_may_be_in_any_row(write: Write) -> None:
    path = write(lines("c,1,sad,s,7,Hello,,<A>", "c,2,sad,s,8,Hi,4|3|4_3|5|5,<B> <A>", "c,3,sad,s,7,Bye,1|1|1,C"))
    dialogue = read(path)[0]
    assert dialogue.self_evaluations == (SelfEvaluation(4, 3, 4), SelfEvaluation(3, 5, 5))
    assert dialogue.tags == ("<A>", "<B>", "C")


# --- columns by name -------------------------------------------------------------------------------------------------


def test_reordered_and_unknown_columns_are_accepted(write: Write) -> None:
    path = write(
        "utterance,extra,context,utterance_idx,prompt,conv_id,speaker_idx\n"
        "Hello_comma_ you,?,sad,1,It rained,c,7\n"
        "Hi,?,sad,2,It rained,c,8\n"
    )
    assert read(path) == [Dialogue("c", "sad", "It rained", (Turn(1, "7", "Hello, you"), Turn(2, "8", "Hi")))]


def test_first_six_columns_suffice(write: Write) -> None:
    path = write(lines("c,1,sad,s,7,Hello", header=",".join(COLUMNS[:6])))
    assert read(path) == [Dialogue("c", "sad", "s", (Turn(1, "7", "Hello"),))]


def test_trailing_optional_fields_may_be_missing(write: Write) -> None:
    path = write(lines("c,1,sad,s,7,Hello", "c,2,sad,s,8,Hi,5|5|5"))
    dialogue = read(path)[0]
    assert [turn.text for turn in dialogue.turns] == ["Hello", "Hi"]
    assert dialogue.self_evaluations == (SelfEvaluation(5, 5, 5),)


def test_named_candidates_column_may_be_anywhere(write: Write) -> None:
    path = write("candidates," + lines("a|b,c,1,sad,s,7,Hello,,"))
    assert read(path)[0].turns[0].candidates == ("a", "b")


def test_named_ninth_column_is_not_read_as_candidates(write: Write) -> None:
    path = write(lines("c,1,sad,s,7,Hello,,,a note", "c,2,sad,s,8,Hi,,,,Hi|Ho", header=HEADER + ",note"))
    assert [turn.candidates for turn in read(path)[0].turns] == [(), ("Hi", "Ho")]


# --- what texts may contain -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "character",
    ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r", "\t", "\xa0", "\0", "\ufeff"],
)
def test_only_line_feeds_end_lines(write: Write, character: str) -> None:
    text = f"be{character}fore"
    assert read(write(lines(f"c,1,sad,{text},7,{text},,")))[0].turns[0].text == text
    assert read(write(lines(f"c,1,sad,{text},7,{text},,")))[0].situation == text


def test_crlf_bom_and_blank_lines_are_accepted(write: Write) -> None:
    path = write("\ufeff" + f"{HEADER}\r\nc,1,sad,s,7,Hello,,\r\n\r\nc,2,sad,s,8,Hi,,\r\n   \r\n")
    assert read(path) == [Dialogue("c", "sad", "s", (Turn(1, "7", "Hello"), Turn(2, "8", "Hi")))]


def test_final_newline_is_optional(write: Write) -> None:
    assert read(write(f"{HEADER}\nc,1,sad,s,7,Hello,,"))[0].turns[0].text == "Hello"


def test_texts_are_stripped(write: Write) -> None:
    path = write(lines("c,1,sad, It rained _comma_ ,7,\tHello _comma_\xa0,,,", "c,2,sad,s,8, Hi,,, Hi | Ho "))
    dialogue = read(path)[0]
    assert dialogue.situation == "It rained ,"
    assert [turn.text for turn in dialogue.turns] == ["Hello ,", "Hi"]
    assert dialogue.turns[1].candidates == ("Hi", "Ho")


def test_only_adjacent_rows_with_same_id_form_one_conversation(write: Write) -> None:
    path = write(lines("c,1,sad,s,7,A,,", "c,2,sad,s,8,B,,", "d,1,sad,s,7,C,,", "c,1,sad,s,7,D,,"))
    assert [(dialogue.conv_id, len(dialogue.turns)) for dialogue in read(path)] == [("c", 2), ("d", 1), ("c", 1)]


def test_header_only_file_has_no_conversations(write: Write) -> None:
    assert read(write(HEADER + "\n")) == []


@pytest.mark.parametrize("field", ["", "5|5", "5|5|5_", "_", "5|5|5|5", "a|b|c", "5|5|5_5|5", "10|5|5"])
def test_malformed_self_evaluations_are_ignored(field: str) -> None:
    assert parse_self_evaluations(field) == ()


def test_self_evaluations_of_two_workers_are_parsed() -> None:
    assert parse_self_evaluations("4|3|4_3|5|5") == (SelfEvaluation(4, 3, 4), SelfEvaluation(3, 5, 5))


# --- errors name the file and line ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["line 1", "conv_id, utterance_idx, context, prompt, speaker_idx, utterance", HEADER]),
        (HEADER.replace("prompt,", "") + "\n", ["line 1", "lacks the column(s) prompt", HEADER]),
        (HEADER.replace(",", ";") + "\n", ["line 1", "conv_id", HEADER]),
        (lines("c,1,sad,s,7"), ["line 2", "5 fields", "6 to 9", "_comma_"]),
        (lines("c,1,sad,s,7,Hello,,,,"), ["line 2", "10 fields", "6 to 9", "_comma_"]),
        (lines("c,1,sad,s,7,Hello, you, and you, all,,"), ["line 2", "11 fields", "_comma_"]),
        (lines("c,1,sad,s,7,Hello, you,,"), ["line 2", "9 fields", "write a comma in a text as _comma_"]),
        (lines("c,1,sad,s,7,Hello, you,5|5|5,<A>"), ["line 2", "9 fields", "_comma_"]),
        (lines("c,1,sad,s,7,Hello, you"), ["line 2", "7 fields", "' you' after the utterance", "_comma_"]),
        (lines("c,1,sad,It rained, a lot,7,Hello"), ["line 2", "7 fields", "'Hello' after the utterance", "_comma_"]),
        (lines("c,1,sad,s,7,Hello, you", header=",".join(COLUMNS[:6])), ["line 2", "7 fields", "_comma_"]),
        (lines("c,1,sad,s,7,Hello, you,,,a|b", header=HEADER + ",candidates"), ["line 2", "10 fields", "6 to 9"]),
        (lines("", "c,1,gloomy,s,7,Hello,,"), ["line 3", "column context", "'gloomy'", "one of the 32"]),
        (lines("c,1,Sad,s,7,Hello,,"), ["line 2", "column context", "'Sad'"]),
        (lines("c,1,sad\x85,s,7,Hello,,"), ["line 2", "column context", r"'sad\x85'"]),
        (lines("c,one,sad,s,7,Hello,,"), ["line 2", "column utterance_idx", "'one'", "1, 2"]),
        (lines("c,-1,sad,s,7,Hello,,"), ["line 2", "column utterance_idx", "'-1'"]),
        (lines("c,\u00b2,sad,s,7,Hello,,"), ["line 2", "column utterance_idx", "'\u00b2'"]),
        (lines("c," + "9" * 5000 + ",sad,s,7,Hello,,"), ["line 2", "column utterance_idx", "999"]),
        (lines("c,1,sad,s,7,A,,", "c,3,sad,s,7,C,,"), ["line 3", "column utterance_idx", "turn 3", "'c'", "turn 2"]),
        (lines("c,2,sad,s,7,B,,"), ["line 2", "column utterance_idx", "turn 2", "'c'", "turn 1"]),
        (lines("c,1,sad,s,7,A,,", "c,1,sad,s,7,A,,"), ["line 3", "turn 1", "'c'", "turn 2 was expected"]),
        (lines("c\u2028d,2,sad,s,7,B,,"), ["line 2", r"'c\u2028d'"]),
    ],
    ids=lambda value: None if isinstance(value, list) else repr(value[-40:]),
)
def test_bad_row_error_names_line_and_cause(
    write: Write, assert_one_line: OneLine, text: str, parts: list[str]
) -> None:
    path = write(text)
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, path, *parts)


@pytest.mark.parametrize("row", ["c,{},sad,s,7,Hello,,", "c,1,{},s,7,Hello,,", "{},2,sad,s,7,Hello,,"])
def test_long_damaged_field_is_shortened_in_the_error(write: Write, assert_one_line: OneLine, row: str) -> None:
    path = write(lines(row.format("x" * 100_000)))
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line 2", "'xxx")
    assert len(str(caught.value)) < len(str(path)) + 200


def test_non_utf8_error_names_the_line(write: Write, assert_one_line: OneLine) -> None:
    good = b"".join(b"c,%d,sad,s,7,Hello,,\n" % number for number in range(1, 500))
    path = write(HEADER.encode() + b"\n" + good + "c,500,sad,s,7,Café,,\n".encode("latin-1"))
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line 501", "not UTF-8", "save the file as UTF-8")


def test_utf16_file_raises_data_error(write: Write, assert_one_line: OneLine) -> None:
    path = write(lines("c,1,sad,s,7,Hello,,").encode("utf-16"))
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line 1", "not UTF-8")


def test_missing_file_raises_data_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path / "none.csv")
    assert_one_line(caught.value, tmp_path / "none.csv", "No such file", "EmpatheticDialogues")


def test_folder_path_raises_data_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path)
    assert_one_line(caught.value, tmp_path, "cannot be read")


# --- round trips ------------------------------------------------------------------------------------------------------


def escape(text: str, bar: bool = False) -> str:
    """Apply the data set's own escapes."""
    return (text.replace("|", "_pipe_") if bar else text).replace(",", "_comma_")


def is_expressible(text: str) -> bool:
    """Whether the format can represent ``text``, unlike ``_comma_`` or outer spaces, for example."""
    plain = escape(text, bar=True).replace("_comma_", ",").replace("_pipe_", "|")
    return plain == text and "_pipe_" not in text and "_comma_" not in text and text == text.strip()


_CHARACTERS = st.one_of(
    st.sampled_from([",", "|", '"', "'", "_", "\r", "\x1c", "\u2028", "\xa0", " ", "\\", "<", ";", "\ufeff"]),
    st.characters(exclude_characters="\n", exclude_categories=["Cs"]),
)
_TEXTS = st.text(_CHARACTERS, max_size=12).filter(is_expressible)
_NUMBERS = st.integers(0, 9)
_EVALUATIONS = st.lists(st.builds(SelfEvaluation, _NUMBERS, _NUMBERS, _NUMBERS), max_size=2).map(tuple)
_TAGS = st.lists(st.sampled_from(["<POLITICAL>", "<A B>", "<RACIST>", "odd"]), unique=True, max_size=2).map(tuple)


@st.composite
def dialogues(draw: st.DrawFn) -> list[Dialogue]:
    """Draw conversations with all that the format can express. Their names differ, or neighbours would be merged."""
    names = draw(
        st.lists(st.text(_CHARACTERS, max_size=5).filter(lambda name: "," not in name), unique=True, max_size=4)
    )
    return [
        Dialogue(
            conv_id=name,
            emotion=draw(st.sampled_from(EMOTIONS)),
            situation=draw(_TEXTS),
            turns=tuple(draw(turns(index)) for index in range(1, draw(st.integers(1, 4)) + 1)),
            self_evaluations=draw(_EVALUATIONS),
            tags=draw(_TAGS),
        )
        for name in names
    ]


def turns(index: int) -> st.SearchStrategy[Turn]:
    # In the file, a single empty candidate is the same as none.
    candidates = st.lists(_TEXTS, max_size=4).map(tuple).filter(lambda texts: texts != ("",))
    return st.builds(Turn, st.just(index), st.integers(0, 999).map(str), _TEXTS, candidates)


def rows_of(dialogue: Dialogue) -> list[dict[str, str]]:
    """Return rows by column, with the evaluations and tags in each row, as in the official files."""
    evaluations = "_".join(f"{e.empathy}|{e.relevance}|{e.understandability}" for e in dialogue.self_evaluations)
    return [
        {
            "conv_id": dialogue.conv_id,
            "utterance_idx": str(turn.index),
            "context": dialogue.emotion,
            "prompt": escape(dialogue.situation),
            "speaker_idx": turn.worker,
            "utterance": escape(turn.text),
            "selfeval": evaluations,
            "tags": " ".join(dialogue.tags),
            "candidates": "|".join(escape(text, bar=True) for text in turn.candidates),
        }
        for turn in dialogue.turns
    ]


def read_text(text: str | bytes) -> list[Dialogue]:
    """Read generated text from a new file each time, because Hypothesis calls a test many times."""
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / "some.csv").write_bytes(text.encode() if isinstance(text, str) else text)
        return read(path)


@given(written=dialogues(), end=st.sampled_from(["\n", "\r\n"]), mark=st.sampled_from(["", "\ufeff"]))
def test_round_trip_in_the_official_layout(written: list[Dialogue], end: str, mark: str) -> None:
    """The header has eight names, the rows nine fields: the ninth holds the candidates."""
    rows = [row.values() for dialogue in written for row in rows_of(dialogue)]
    assert read_text(mark + end.join([HEADER, *(",".join(row) for row in rows), ""])) == written


@given(written=dialogues(), order=st.permutations([*COLUMNS, "candidates"]))
def test_round_trip_with_columns_in_any_order(written: list[Dialogue], order: list[str]) -> None:
    rows = [[row[name] for name in order] for dialogue in written for row in rows_of(dialogue)]
    # A carriage return before a line feed is part of the line end, and here the last column may be the name.
    expected = [replace(one, conv_id=one.conv_id.rstrip("\r")) if order[-1] == "conv_id" else one for one in written]
    if len({one.conv_id for one in expected}) == len(expected):
        assert read_text("\n".join([",".join(order), *(",".join(row) for row in rows), ""])) == expected


# --- random input is read or rejected ---------------------------------------------------------------------------------


_PIECES = st.one_of(
    st.sampled_from(
        ["c", "d", "1", "2", "3", "01", "\u0661", "sad", "proud", "Hi_comma_", "a|b", "4|3|4_3|5|5", "<P", "\r", ""]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
)
_LINES = st.lists(_PIECES, min_size=4, max_size=11).map(",".join)
# Mostly valid, so that the rows after them are reached too.
_ROWS = st.tuples(
    st.sampled_from(["c", "d"]), st.sampled_from("1234"), st.sampled_from(["sad", "proud", "odd"]), *[_PIECES] * 5
).map(",".join)


def read_or_refuse(text: str | bytes) -> None:
    """Assert that reading gives dialogues or a one-line :class:`DataError`."""
    found, message = [], "some.csv, line 1"
    try:
        found = read_text(text)
    except DataError as error:
        message = str(error)
    assert re.search(r"some\.csv, line \d", message)
    assert len(message.splitlines()) == 1
    for dialogue in found:
        assert dialogue.emotion in EMOTIONS
        assert [turn.index for turn in dialogue.turns] == list(range(1, len(dialogue.turns) + 1))


@settings(max_examples=300)
@given(rows=st.lists(_LINES | _ROWS, max_size=6), end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_arbitrary_lines_are_read_or_rejected(rows: list[str], end: str) -> None:
    read_or_refuse(end.join([HEADER, *rows]))


@given(
    names=st.permutations([*COLUMNS, "candidates", "conv_id"]),
    cut=st.integers(0, 10),
    rows=st.lists(_LINES, max_size=3),
)
def test_arbitrary_headers_are_read_or_rejected(names: list[str], cut: int, rows: list[str]) -> None:
    read_or_refuse("\n".join([",".join(names[cut:]), *rows]))


@given(content=st.binary(max_size=200), with_header=st.booleans())
def test_arbitrary_bytes_are_read_or_rejected(content: bytes, with_header: bool) -> None:
    read_or_refuse(HEADER.encode() + b"\n" + content if with_header else content)


# --- the data set itself ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fold", "conversations", "utterances", "listener_turns"),
    [("train", 19_532, 84_165, 40_252), ("valid", 2_769, 12_074, 5_736), ("test", 2_546, 10_969, 5_257)],
)
def test_full_dataset_matches_line_by_line_parse(
    real_data: Path, fold: str, conversations: int, utterances: int, listener_turns: int
) -> None:
    path = real_data / f"empatheticdialogues/{fold}.csv"
    found = read(path)
    every = [turn for dialogue in found for turn in dialogue.turns]
    counts = (len(found), len(every), sum(turn.is_listener for turn in every))
    assert counts == (conversations, utterances, listener_turns) == counted_by_line(path)
    assert [turn.text for turn in every] == utterances_by_pattern(path)
    assert {dialogue.emotion for dialogue in found} == set(EMOTIONS)


def counted_by_line(path: Path) -> tuple[int, int, int]:
    """Return the same three numbers from the lines alone: a conversation begins where the turn's number is 1."""
    numbers = re.findall(rb"^[^,\n]*,(\d+),", path.read_bytes(), re.MULTILINE)
    return numbers.count(b"1"), len(numbers), sum(number[-1:] in b"02468" for number in numbers)


def utterances_by_pattern(path: Path) -> list[str]:
    """Return the sixth field of each line, by a regular expression over the bytes."""
    fields = re.findall(rb"^(?:[^,\n]*,){5}([^,\n]*)", path.read_bytes(), re.MULTILINE)
    return [field.replace(b"_comma_", b",").decode().strip() for field in fields[1:]]
