"""Choosing the reader of a log by its name and first line, and the published logs of other systems."""

from __future__ import annotations

import json
import os
import re
import threading
from collections import Counter
from pathlib import Path

import pytest
from parlai.scripts.eval_model import EvalModel

from parlai_empathy.errors import DataError
from parlai_empathy.scoring.logs import LoggedReply, read_replies_log
from parlai_empathy.tasks.empathetic_dialogues.build import build
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues

BLOCK = "Emotion: sad\nContext: ['a']\nPred: b\nRef: c\n"
RECORD = '{"reply": "b", "context": ["a"], "reference": "c", "emotion": "sad"}\n'
CONVERSATION = '{"dialog": [[{"text": "a", "eval_labels": ["c"], "emotion": "sad"}, {"text": "b"}]]}\n'


def log(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("log.txt", BLOCK),
        ("log", "\n\n" + BLOCK),
        ("log.jsonl", RECORD),
        ("log.txt", RECORD),
        ("log.jsonl", b"\xef\xbb\xbf" + RECORD.encode()),
        ("log.jsonl", CONVERSATION),
        ("log.csv", "reply,context,reference,emotion\nb,a,c,sad\n"),
        ("log.CSV", b"\xef\xbb\xbfreply,context,reference,emotion\r\nb,a,c,sad\r\n"),
        ("log.tsv", "context\temotion\treply\treference\na\tsad\tb\tc\n"),
    ],
)
def test_log_format_is_detected(tmp_path: Path, name: str, content: str | bytes) -> None:
    (reply,) = read_replies_log(log(tmp_path, name, content))
    assert reply == LoggedReply("b", ("a",), ("c",), "sad", "", line=reply.line)
    assert reply.line > 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", " is empty: name a log of replies"),
        (b"\n \n", " is empty: name a log of replies"),
        (
            b"hello\n",
            ", line 1: 'hello' does not start a log of replies: expected JSON lines, a line that starts with Emotion:",
        ),
        (b'[{"reply": "a"}]', ', line 1: \'[{"reply": "a"}]\' does not start a log of replies'),
        (BLOCK.encode() + b"Emotion: \xff\n", ", line 5: not UTF-8 (invalid start byte): save the log as UTF-8"),
        (b'{"dialog": []}\n', " contains no reply: name a log with at least one"),
        (
            b'{"reply": "a"}\n{"reply": "\\ud83d"}\n',
            ", line 2: a text contains half a character (a lone surrogate): write it whole",
        ),
        (
            b'{"reply": "a", "context": ["b", "\\ude00"]}\n',
            ", line 1: a text contains half a character (a lone surrogate): write it whole",
        ),
        *(
            (
                b'{"reply": "a"}\n{"reply": "b", "%s": "a\\u0000b"}\n' % name,
                ", line 2: the item or system has a null character in its name: leave it out",
            )
            for name in (b"item", b"system")
        ),
    ],
)
def test_invalid_log_error_names_the_file(tmp_path: Path, content: bytes, message: str) -> None:
    path = log(tmp_path, "log", content)
    with pytest.raises(DataError, match=f"^{re.escape(str(path) + message)}"):
        read_replies_log(path)


@pytest.mark.parametrize(("name", "reason"), [("none", "No such file or directory"), ("", "Is a directory")])
def test_unreadable_file_error_names_the_file(tmp_path: Path, name: str, reason: str) -> None:
    path = tmp_path / name
    with pytest.raises(
        DataError, match=f"^{re.escape(str(path))} cannot be read \\({reason}\\): name a log of replies$"
    ):
        read_replies_log(path)


def test_parlai_world_logs_can_be_read(tmp_path: Path) -> None:
    EvalModel.main(
        model="repeat_label",
        task="empathy:empathetic_dialogues",
        edition="sample",
        datatype="test",
        world_logs=str(tmp_path / "log.jsonl"),
        loglevel="error",
    )
    replies = read_replies_log(tmp_path / "log.jsonl")
    assert len(replies) == 142, "the Listener's turns of the sample's test fold"
    assert all(reply.references == (reply.reply,) and reply.context and reply.emotion for reply in replies)
    test_fold = build({"edition": "sample", "datapath": str(tmp_path)}) / "test.csv"
    turns = [turn for one in read_empathetic_dialogues(test_fold) for turn in one.turns if turn.is_listener]
    assert [reply.known_turn for reply in replies] == [turn.index for turn in turns], "though contexts have four turns"
    assert max(len(reply.context) for reply in replies) == 4


def test_csv_with_bare_carriage_returns_raises(tmp_path: Path) -> None:
    path = log(tmp_path, "log.csv", "reply,context\ra,b\r")
    with pytest.raises(DataError, match=f"^{re.escape(str(path))}, line 1: not a valid table row \\("):
        read_replies_log(path)


@pytest.mark.parametrize(
    ("candidates", "warned"), [(["b", "c"], True), (["c", "d"], False), ("b", False), (None, False)]
)
def test_replies_chosen_from_candidates_give_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, candidates: object, warned: bool
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    asked = {"text": "a", "eval_labels": ["c"], "label_candidates": candidates}
    path = log(tmp_path, "log.jsonl", json.dumps({"dialog": [[asked, {"text": "b"}]]}))
    (reply,) = read_replies_log(path)
    assert (reply.reply, reply.is_candidate) == ("b", warned)
    assert [text.partition(": to score")[0] for text in warnings] == [
        f"{path}: each reply is one of its message's candidates, which may include the true reply"
    ] * warned


def test_one_reply_that_happens_to_be_a_candidate_gives_no_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    asked = {"text": "a", "label_candidates": ["b", "c"]}
    path = log(tmp_path, "log.jsonl", json.dumps({"dialog": [[asked, {"text": "b"}], [asked, {"text": "d"}]]}))
    assert [one.is_candidate for one in read_replies_log(path)] == [True, False]
    assert not warnings


def test_logs_of_published_systems_can_be_read(real_data: Path) -> None:
    moel = read_replies_log(real_data / "peers" / "MoEL_generation_result.txt")
    # MoEL's arrays have 5,255 test items, and so does the log (grep -c ^Emotion).
    assert Counter(reply.system for reply in moel) == dict.fromkeys(("trs", "trs+multitask", "MOE", "MOE+oracle"), 5255)
    assert all(reply.reply and reply.references and reply.context for reply in moel)
    for name in ("EmpDG", "Transformer", "EmoPrepend"):
        empdg = read_replies_log(real_data / "peers" / f"EmpDG_{name}.txt")
        assert Counter(reply.system for reply in empdg) == {"": 2713}
        assert {len(reply.references) for reply in empdg} == {1}


@pytest.mark.parametrize("content", [BLOCK, RECORD, CONVERSATION, "\n" + BLOCK])
def test_pipe_is_read_completely(content: str) -> None:
    """A pipe, as in ``--logs <(zcat log.gz)``, cannot be read twice. Each line is written separately."""
    reader, writer = os.pipe()

    def write() -> None:
        with os.fdopen(writer, "wb", buffering=0) as pipe:
            for line in (content * 50).splitlines(keepends=True):
                pipe.write(line.encode())

    threading.Thread(target=write).start()
    try:
        replies = read_replies_log(f"/dev/fd/{reader}")
    finally:
        os.close(reader)
    assert [one.reply for one in replies] == ["b"] * 50
