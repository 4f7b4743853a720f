"""JSON lines, CSV, and the conversations that ParlAI logs."""

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


# --- JSON lines ------------------------------------------------------------------------------------------------------


def test_all_fields() -> None:
    record = {"reply": " so sorry ", "context": ["My cat", "Oh?"], "reference": "Oh no!", "emotion": "sad"}
    assert from_json({**record, "system": "MIME", "else": 3}) == [
        LoggedReply("so sorry", ("My cat", "Oh?"), ("Oh no!",), "sad", "MIME", 1)
    ]


def test_only_a_reply_which_may_be_empty() -> None:
    assert from_json({"reply": "hi"}, {"reply": ""}) == [LoggedReply("hi", line=1), LoggedReply("", line=2)]


def test_a_context_in_lines_and_several_references() -> None:
    record = {"reply": "c", "context": "a\n\n b", "reference": "x", "references": ["y", " ", "z"]}
    (reply,) = from_json(record)
    assert reply.context == ("a", "b")
    assert reply.references == ("x", "y", "z")


def test_blank_lines_are_passed_over_and_null_is_nothing() -> None:
    text = '\n{"reply": "a", "reference": null, "context": null, "emotion": null, "system": null}\n\n{"reply": "b"}\n'
    assert [(one.reply, one.line) for one in read_json_lines(numbered(text), LOG)] == [("a", 2), ("b", 4)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"reply": "a"', "log, line 2: no JSON object, or not a whole one ("),
        ("nonsense", "log, line 2: no JSON object"),
        ("[1]", "log, line 2: '[1]' is no JSON object: expected one with reply"),
        ("{}", "log, line 2: no reply: expected reply, and perhaps context, reference or references, emotion, system"),
        ('{"reply": null}', "log, line 2: no reply: expected"),
        ('{"reply": 3}', "log, line 2: reply is no text: expected"),
        ('{"reply": "a", "references": "x", "reference": {}}', "log, line 2: reference is {}, expected a text or a"),
        ('{"reply": "a", "context": [1]}', "log, line 2: context is [1], expected a text or a list of texts"),
        ('{"reply": "a", "emotion": 3}', "log, line 2: emotion is 3, expected a text"),
        ("[" * 100_000, "log, line 2: no JSON object"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(line: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        list(read_json_lines(numbered('{"reply": "a"}\n' + line), LOG))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# --- CSV -------------------------------------------------------------------------------------------------------------


def test_columns_are_found_by_name_and_texts_may_have_commas_and_lines() -> None:
    text = (
        'emotion,reply,id,context,reference\r\nsad,"Oh no, really?",7,"My cat\nran away","Sorry, dear"\r\njoy,,8,,\r\n'
    )
    assert from_csv(text) == [
        LoggedReply("Oh no, really?", ("My cat", "ran away"), ("Sorry, dear",), "sad", "", 3),
        LoggedReply("", (), (), "joy", "", 4),
    ]


def test_lists_are_json() -> None:
    text = 'reply\tcontext\treferences\na\t["x", "y"]\t["p", "q"]\nb\t\t\n'
    assert from_csv(text, "\t") == [LoggedReply("a", ("x", "y"), ("p", "q"), line=2), LoggedReply("b", line=3)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "log, line 1: no column reply; there is: nothing; expected reply"),
        ("answer,context\na,b\n", "log, line 1: no column reply; there is: answer, context; expected reply"),
        ("reply,context\na\n", "log, line 2: more or fewer fields than the 2 of the header"),
        ("reply,context\na,b,c\n", "log, line 2: more or fewer fields than the 2 of the header"),
        ('reply,references\na,"[1, 2"\n', "log, line 2: references is '[1, 2', expected a JSON list of texts"),
        ("reply,references\na,{}\n", "log, line 2: references is {}, expected a text or a list of texts"),
        ('reply\n"a\n', "log, line 2: no row of a table ("),
        ('reply\n"a"b\n', "log, line 2: no row of a table ("),
        (f"reply\n{'a' * 200_000}\n", "log, line 2: no row of a table ("),
    ],
)
def test_a_row_that_cannot_be_read_is_named(text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        from_csv(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


words = st.text(alphabet="ab ,\"'", max_size=6).map(str.strip)


@given(st.lists(st.tuples(words, words.filter(bool), st.lists(words.filter(bool), max_size=3)), min_size=1, max_size=5))
def test_csv_and_json_lines_of_the_same_records_are_the_same(records: list[tuple[str, str, list[str]]]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["reply", "context", "references"])
    writer.writerows([reply, json.dumps([turn]), json.dumps(texts)] for reply, turn, texts in records)
    found = [(one.reply, one.context, one.references) for one in from_csv(out.getvalue())]
    rows = [{"reply": reply, "context": [turn], "references": texts} for reply, turn, texts in records]
    assert found == [(one.reply, one.context, one.references) for one in from_json(*rows)]


# --- ParlAI's conversations ------------------------------------------------------------------------------------------


def asked(text: str, **more: Any) -> dict[str, Any]:
    return {"id": "teacher", "text": text, **more}


def said(text: str) -> dict[str, Any]:
    return {"id": "model", "text": text}


def test_a_conversation_goes_on_with_the_true_replies() -> None:
    dialog = [
        [asked("a\nb", eval_labels=["c"], emotion="sad"), said("x")],
        [asked("d", eval_labels=["e", "E"]), said("y")],
    ]
    assert from_json({"dialog": dialog, "context": []}) == [
        LoggedReply("x", ("a", "b"), ("c",), "sad", "", 1),
        LoggedReply("y", ("a", "b", "c", "d"), ("e", "E"), None, "", 1),
    ]


def test_without_labels_it_goes_on_with_what_was_said() -> None:
    (first, second) = from_json({"dialog": [[asked("a"), said("x")], [asked("b"), said("y")]]})
    assert first.references == second.references == ()
    assert second.context == ("a", "x", "b")


def test_a_model_that_said_nothing_gave_an_empty_reply() -> None:
    (reply,) = from_json({"dialog": [[asked("a", labels=["b"]), {"id": "model"}]]})
    assert (reply.reply, reply.references) == ("", ("b",))


@pytest.mark.parametrize(
    ("dialog", "message"),
    [
        ([[asked("a")]], "log, line 1: pair 1 of the conversation is no pair of two messages"),
        ([[asked("a"), said("b")], "c"], "log, line 1: pair 2 of the conversation is no pair of two messages"),
        (None, "log, line 1: pair 1 of the conversation is no pair of two messages"),
        ([[asked("a", eval_labels=[3]), said("b")]], "log, line 1, pair 1: eval_labels is [3], expected a text or a"),
        ([[{"text": 3}, said("b")]], "log, line 1, pair 1: text is 3, expected a text"),
    ],
)
def test_a_conversation_that_cannot_be_read_is_named(dialog: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        from_json({"dialog": dialog})
    assert message in str(caught.value)
