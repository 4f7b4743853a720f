"""Logs in JSON lines, CSV and ParlAI's format of conversations."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs_records import read_csv, read_json_lines

LOG = Path("log")


def numbered(text: str) -> Iterator[tuple[int, str]]:
    return enumerate(io.StringIO(text, newline=""), start=1)


def from_json(*records: Any) -> list[LoggedReply]:
    return list(read_json_lines(numbered("\n".join(map(json.dumps, records))), LOG))


def from_csv(text: str, delimiter: str = ",") -> list[LoggedReply]:
    return list(read_csv(numbered(text), LOG, delimiter))


def table(*rows: list[str]) -> str:
    """Return rows as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


# --- JSON lines ------------------------------------------------------------------------------------------------------


def test_json_record_with_all_fields() -> None:
    record = {"reply": " so sorry ", "context": ["My cat", "Oh?"], "reference": "Oh no!", "emotion": "sad"}
    assert from_json({**record, "system": "MIME", "else": 3}) == [
        LoggedReply("so sorry", ("My cat", "Oh?"), ("Oh no!",), "sad", "MIME", line=1)
    ]


@pytest.mark.parametrize(("item", "name"), [("a7", "a7"), (" 7 ", "7"), (7, "7"), (0, "0"), ("", ""), (None, "")])
def test_item_may_be_text_or_number(item: Any, name: str) -> None:
    (reply,) = from_json({"reply": "a", "item": item})
    assert reply.item == name
    text = "" if item is None else str(item)
    assert from_csv(f"reply,item\na,{text}\n") == [LoggedReply("a", item=name, line=2)]


@pytest.mark.parametrize(("turn", "known"), [(4, 4), (" 4 ", 4), ("4.0", 4), (4.0, 4), ("", 2), (None, 2)])
def test_turn_may_be_text_or_number_and_is_otherwise_the_one_after_the_context(turn: Any, known: int) -> None:
    (reply,) = from_csv(f"reply,context,turn\na,b,{'' if turn is None else turn}\n")
    assert reply.known_turn == known
    if turn != "":
        (reply,) = from_json({"reply": "a", "context": "b", "turn": turn})
        assert reply.known_turn == known


def test_reply_without_turn_and_context_has_no_known_turn() -> None:
    (reply,) = from_json({"reply": "a"})
    assert reply.known_turn is None


def test_no_answer_gives_reason_for_missing_reply() -> None:
    records = [{"reply": reply, "no_answer": " time-out "} for reply in ("", "partial", None)]
    found = from_json(*records, {"no_answer": "filtered"}, {"reply": "a", "no_answer": " "})
    reasons = [("", "time-out"), ("partial", "time-out"), ("", "time-out"), ("", "filtered"), ("a", "")]
    assert [(one.reply, one.no_answer) for one in found] == reasons
    (row,) = from_csv("reply,no_answer\n,time-out\n")
    assert (row.reply, row.no_answer) == ("", "time-out")


def test_only_reply_field_is_required_and_may_be_empty() -> None:
    assert from_json({"reply": "hi"}, {"reply": ""}) == [LoggedReply("hi", line=1), LoggedReply("", line=2)]


def test_context_lines_are_split_and_references_merged() -> None:
    record = {"reply": "c", "context": "a\n\n b", "reference": "x", "references": ["y", " ", "z"]}
    (reply,) = from_json(record)
    assert reply.context == ("a", "b")
    assert reply.references == ("x", "y", "z")


def test_text_in_a_list_of_context_is_one_turn() -> None:
    (reply,) = from_json({"reply": "x", "context": ["My dog died.\nI miss him. ", " ", "Oh."]})
    assert reply.context == ("My dog died. I miss him.", "Oh.")


def test_fields_have_no_blanks_around_them() -> None:
    """So that items match, whoever wrote the log."""
    record = {"reply": "a", "reference": "x ", "references": [" y"], "emotion": "sad ", "system": " A", "item": " 7 "}
    (reply,) = from_json(record)
    assert (reply.references, reply.emotion, reply.system, reply.item) == (("x", "y"), "sad", "A", "7")
    (reply,) = from_json({"dialog": [[{"text": "a", "eval_labels": [" b "], "emotion": "sad "}, {"text": "c"}]]})
    assert (reply.references, reply.emotion) == (("b",), "sad")


def test_blank_lines_and_null_fields_are_ignored() -> None:
    text = '\n{"reply": "a", "reference": null, "context": null, "emotion": null, "system": null}\n\n{"reply": "b"}\n'
    assert [(one.reply, one.line) for one in read_json_lines(numbered(text), LOG)] == [("a", 2), ("b", 4)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"reply": "a"', "log, line 2: not a complete JSON object ("),
        ("nonsense", "log, line 2: not a complete JSON object"),
        ("[1]", "log, line 2: '[1]' is not a JSON object: expected one with reply"),
        (
            "{}",
            "log, line 2: no reply: expected reply, and optionally context, reference or references, emotion, system",
        ),
        ('{"reply": null}', "log, line 2: no reply: expected"),
        ('{"reply": 3}', "log, line 2: reply is not a text: expected"),
        ('{"reply": "a", "references": "x", "reference": {}}', "log, line 2: reference is {}, expected a text or a"),
        ('{"reply": "a", "context": [1]}', "log, line 2: context is [1], expected a text or a list of texts"),
        ('{"reply": "a", "emotion": 3}', "log, line 2: emotion is 3, expected a text"),
        ('{"reply": "a", "item": 1.5}', "log, line 2: item is 1.5, expected a text"),
        ('{"reply": "a", "turn": 0}', "log, line 2: turn is 0, expected a whole number from 1"),
        ('{"reply": "a", "turn": 1.5}', "log, line 2: turn is 1.5, expected a whole number from 1"),
        ('{"reply": "a", "turn": true}', "log, line 2: turn is True, expected a whole number from 1"),
        ('{"reply": "a", "item": true}', "log, line 2: item is True, expected a text"),
        ('{"reply": "a", "no_answer": true}', "log, line 2: no_answer is True, expected a text"),
        ('{"reply": 3, "no_answer": "x"}', "log, line 2: reply is not a text: expected"),
        ("[" * 100_000, "log, line 2: not a complete JSON object"),
    ],
)
def test_invalid_json_line_error_names_the_line(line: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        list(read_json_lines(numbered('{"reply": "a"}\n' + line), LOG))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# --- CSV -------------------------------------------------------------------------------------------------------------


def test_csv_columns_are_matched_by_name_and_cells_may_be_quoted() -> None:
    text = (
        'emotion,reply,id,context,reference\r\nsad,"Oh no, really?",7,"My cat\nran away","Sorry, dear"\r\njoy,,8,,\r\n'
    )
    assert from_csv(text) == [
        LoggedReply("Oh no, really?", ("My cat", "ran away"), ("Sorry, dear",), "sad", "", line=3),
        LoggedReply("", (), (), "joy", "", line=4),
    ]


def test_csv_cells_may_hold_json_lists() -> None:
    text = 'reply\tcontext\treferences\na\t["x", "y"]\t["p", "q"]\nb\t\t\n'
    assert from_csv(text, "\t") == [LoggedReply("a", ("x", "y"), ("p", "q"), line=2), LoggedReply("b", line=3)]


@pytest.mark.parametrize("column", ["context", "reference", "references"])
@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("['hello', 'you']", ("hello", "you")),
        ("""['hello',"it's"]""", ("hello", "it's")),
        ("[]", ()),
        ("[laughs] you are funny", ("[laughs] you are funny",)),
        ("[deleted]", ("[deleted]",)),
        ("[1, 2", ("[1, 2",)),
        ("{}", ("{}",)),
    ],
)
def test_csv_cells_may_hold_pythons_lists_and_texts_in_brackets(column: str, cell: str, texts: tuple[str, ...]) -> None:
    (reply,) = from_csv(table(["reply", column], ["a", cell]))
    assert (reply.context or reply.references) == texts


@given(st.lists(st.text(max_size=5).map(str.strip).filter(bool), min_size=1, max_size=3))
def test_list_that_python_printed_is_read_back(texts: list[str]) -> None:
    (reply,) = from_csv(table(["reply", "references"], ["a", str(texts)]))
    assert reply.references == tuple(texts)


def test_blank_rows_after_the_last_are_left_out() -> None:
    """Spreadsheets write them; elsewhere such a row is an empty reply, which counts."""
    found = from_csv("reply,context\na,x\n,\nb,y\n,\n , \n", ",")
    assert [(one.reply, one.context) for one in found] == [("a", ("x",)), ("", ()), ("b", ("y",))]
    assert [one.reply for one in from_csv('reply\na\n""\n', ",")] == ["a", ""]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "log, line 1: no column reply; found: nothing; expected reply"),
        ("answer,context\na,b\n", "log, line 1: no column reply; found: answer, context; expected reply"),
        ("reply;context\na;b\n", "log, line 1: no column reply; found: reply;context; expected reply"),
        ("reply;context\na;b\n", "item, no_answer, separated by commas"),
        ('"My cat\nran away",b\n', "log, line 1: no column reply; found: My cat ran away, b; expected reply"),
        ("context,reply,reply\na,b,c\n", "log, line 1: the header names reply more than once: rename the others"),
        ("reply,context\na\n", "log, line 2: more or fewer fields than the header's 2"),
        ("reply,context\na,b,c\n", "log, line 2: more or fewer fields than the header's 2"),
        ("reply,references\na,['x\n", 'log, line 2: references is "[\'x", expected a list of texts as JSON or Python'),
        ("reply,context\na,['x' 'y']\n", "log, line 2: context is \"['x' 'y']\", expected a list of texts"),
        ("reply,context\na,[1]\n", "log, line 2: context is [1], expected a text or a list of texts"),
        ('"reply,context\na,b\n', "log, line 2: not a valid table row ("),
        ('"reply"x,context\na,b\n', "log, line 1: not a valid table row ("),
        ('reply\n"a\n', "log, line 2: not a valid table row ("),
        ('reply\n"a"b\n', "log, line 2: not a valid table row ("),
        (f"reply\n{'a' * 200_000}\n", "log, line 2: not a valid table row ("),
    ],
)
def test_invalid_csv_row_error_names_the_line(text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        from_csv(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_misspelled_field_names_give_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    assert from_csv("Reference,reply, emotion,id,else,else\na,b,c,d,e,f\na,b,c,d,e,f\n") == [
        LoggedReply("b", line=2),
        LoggedReply("b", line=3),
    ]
    assert from_json({"reply": "a", "Reference": "b", " emotion": "c", "id": 3}, {"reply": "a", "Reference": "b"}) == [
        LoggedReply("a", line=1),
        LoggedReply("a", line=2),
    ]
    assert warnings == ["log: ignored fields: 'Reference' (write reference), ' emotion' (write emotion)"] * 2
    from_csv("reply,References of it,id\na,b,c\n")
    assert len(warnings) == 2, "what has another name is nobody's business"


words = st.text(alphabet="ab ,\"'", max_size=6).map(str.strip)


@given(st.lists(st.tuples(words, words.filter(bool), st.lists(words.filter(bool), max_size=3)), min_size=1, max_size=5))
def test_csv_and_json_lines_give_equal_records(records: list[tuple[str, str, list[str]]]) -> None:
    cells = [[reply, json.dumps([turn]), json.dumps(texts)] for reply, turn, texts in records]
    log = from_csv(table(["reply", "context", "references"], *cells))
    found = [(one.reply, one.context, one.references) for one in log]
    rows = [{"reply": reply, "context": [turn], "references": texts} for reply, turn, texts in records]
    assert found == [(one.reply, one.context, one.references) for one in from_json(*rows)]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda values: st.lists(values),
    max_leaves=3,
)


def outcome(record: dict[str, Any]) -> LoggedReply | str:
    """Return the reply, or the message of the error."""
    try:
        (found,) = from_json(record)
    except DataError as error:
        return str(error)
    return found


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(("reply", "item", "no_answer", "context"), anything)))
def test_arbitrary_record_is_read_or_rejected_in_one_line(record: dict[str, Any]) -> None:
    found = outcome(record)
    if isinstance(found, str):
        assert found.startswith("log, line 1: ")
        assert len(found.splitlines()) == 1
        return
    reply, item, no_answer = (record.get(name) for name in ("reply", "item", "no_answer"))
    assert reply is not None or found.no_answer
    assert (found.reply, found.no_answer) == ((reply or "").strip(), (no_answer or "").strip())
    assert found.item == ("" if item is None else str(item).strip())


# --- ParlAI's conversations ------------------------------------------------------------------------------------------


def asked(text: str, **more: Any) -> dict[str, Any]:
    return {"id": "teacher", "text": text, **more}


def said(text: str) -> dict[str, Any]:
    return {"id": "model", "text": text}


def test_conversation_context_continues_with_labels() -> None:
    dialog = [
        [asked("a\nb", eval_labels=["c"], emotion="sad"), said("x")],
        [asked("d", eval_labels=["e", "E"]), said("y")],
    ]
    assert from_json({"dialog": dialog, "context": []}) == [
        LoggedReply("x", ("a", "b"), ("c",), "sad", "", line=1),
        LoggedReply("y", ("a", "b", "c", "d"), ("e", "E"), None, "", line=1),
    ]


def test_record_with_a_reply_is_no_conversation() -> None:
    """DailyDialog on the Hugging Face hub has a column of this name, which scripts copy to their output."""
    assert from_json({"dialog": ["Hi there", "How are you?"], "reply": "Fine."}) == [LoggedReply("Fine.", line=1)]


def test_conversation_context_without_labels_uses_model_replies() -> None:
    (first, second) = from_json({"dialog": [[asked("a"), said("x")], [asked("b"), said("y")]]})
    assert first.references == second.references == ()
    assert second.context == ("a", "x", "b")


def test_chat_conversation_keeps_system_and_item_names() -> None:
    dialog = [[asked("a", turn=1), {**said("x"), "turn": 2}], [asked("b", turn=3), {**said("y"), "turn": 4}]]
    found = from_json({"item": "chat-1", "system": "B", "rater": "Ann", "dialog": dialog})
    assert [(one.reply, one.system, one.item) for one in found] == [("x", "B", "chat-1#2"), ("y", "B", "chat-1#4")]


@pytest.mark.parametrize(("talk", "turn"), [({"item": "chat-1"}, {}), ({}, {"turn": 2})])
def test_reply_needs_names_of_conversation_and_turn_to_be_an_item(talk: dict[str, Any], turn: dict[str, Any]) -> None:
    (reply,) = from_json({**talk, "dialog": [[asked("a"), {**said("x"), **turn}]]})
    assert reply.item == ""


def test_turn_of_a_conversation_is_the_tasks_although_its_context_is_cut() -> None:
    """Our tasks put the reply's turn in the message that asks for it."""
    (reply,) = from_json({"dialog": [[asked("d\ne", eval_labels=["f"], turn=6), said("x")]]})
    assert (reply.context, reply.known_turn) == (("d", "e"), 6)


def test_turn_of_a_chat_is_that_of_the_reply_itself() -> None:
    dialog = [[asked("a", turn=1), {**said("x"), "turn": 2}], [asked("b", turn=3), {**said("y"), "turn": 4}]]
    assert [one.turn for one in from_json({"dialog": dialog})] == [2, 4]


def test_conversation_whose_task_means_something_else_by_turn_is_read() -> None:
    first, second = from_json({"dialog": [[asked("a", turn=0), said("x")], [asked("b", turn="second"), said("y")]]})
    assert (first.known_turn, second.known_turn) == (2, 4)


def test_blank_labels_are_no_references() -> None:
    (reply, after) = from_json({"dialog": [[asked("a", labels=[" "]), said("x")], [asked("b"), said("y")]]})
    assert reply.references == ()
    assert after.context == ("a", "x", "b")


def test_message_without_text_is_an_empty_reply() -> None:
    (reply,) = from_json({"dialog": [[asked("a", labels=["b"]), {"id": "model"}]]})
    assert (reply.reply, reply.references) == ("", ("b",))


def test_conversation_continues_after_missing_answer() -> None:
    failed = {"id": "model", "no_answer": "time-out"}
    first, second = from_json({"dialog": [[asked("a", eval_labels=["b"]), failed], [asked("c"), said("y")]]})
    assert (first.reply, first.no_answer) == ("", "time-out")
    assert (second.context, second.no_answer) == (("a", "b", "c"), "")


@pytest.mark.parametrize(
    ("dialog", "message"),
    [
        ([[asked("a")]], "log, line 1: pair 1 of the conversation is not a pair of messages"),
        ([[asked("a"), said("b")], "c"], "log, line 1: pair 2 of the conversation is not a pair of messages"),
        (None, "log, line 1: pair 1 of the conversation is not a pair of messages"),
        ([[asked("a", eval_labels=[3]), said("b")]], "log, line 1, pair 1: eval_labels is [3], expected a text or a"),
        ([[{"text": 3}, said("b")]], "log, line 1, pair 1: text is 3, expected a text"),
        ([[asked("a"), {"no_answer": 3}]], "log, line 1, pair 1: no_answer is 3, expected a text"),
    ],
)
def test_invalid_conversation_error_names_line_and_pair(dialog: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        from_json({"dialog": dialog})
    assert message in str(caught.value)
