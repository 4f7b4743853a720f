"""The replies of a pool: from tasks or a file, and the options that select them."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.teachers import create_task_agent_from_taskname

from parlai_empathy.agents.retrieval.replies import (
    file_fingerprint,
    pool_options,
    read_replies,
    source_of,
    task_options,
    training_replies,
    without_stamps,
)
from parlai_empathy.errors import DataError
from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8], ids=["plain", "with a byte order mark"])
def test_read_replies_returns_distinct_nonempty_lines(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "own.txt"
    path.write_bytes(mark + "How nice!\n\n \t \n  I see. \r\nHow nice!\nÇa va?\u2028Oui.".encode())
    assert read_replies(path) == ["How nice!", "I see.", "Ça va?\u2028Oui."]


def test_file_fingerprint_depends_on_content_not_name(tmp_path: Path) -> None:
    for name, text in {"a.txt": "one\n", "b.txt": "one\n", "c.txt": "two\n"}.items():
        (tmp_path / name).write_text(text)
    a, b, c = (file_fingerprint(tmp_path / name) for name in ("a.txt", "b.txt", "c.txt"))
    assert a == b != c


@pytest.mark.parametrize("read", [read_replies, file_fingerprint])
def test_missing_reply_file_error_names_file_and_option(tmp_path: Path, read: Callable[[Path], object]) -> None:
    with pytest.raises(DataError, match=r"none\.txt cannot be read .* --fixed-candidates-path needs a text file"):
        read(tmp_path / "none.txt")


@pytest.mark.parametrize("read", [read_replies, file_fingerprint])
def test_reply_file_in_another_encoding_raises_data_error(tmp_path: Path, read: Callable[[Path], object]) -> None:
    (tmp_path / "latin.txt").write_bytes("How nice!\nThat café?\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"latin\.txt, line 2: b'\\xe9' is not UTF-8: save the file as UTF-8"):
        read(tmp_path / "latin.txt")


def options(*arguments: str) -> Opt:
    task = ["--task", "empathy:empathetic_dialogues", "--edition", "sample", "--datatype", "valid"]
    return ParlaiParser(True, False).parse_args([*task, *arguments])


def turns_of_the_training_fold(listener_only: bool) -> list[str]:
    dialogues = read_empathetic_dialogues(SAMPLE / "train.csv")
    return [turn.text for dialogue in dialogues for turn in dialogue.turns[1:] if turn.is_listener or not listener_only]


def test_training_replies_are_listener_turns_of_the_training_fold() -> None:
    opt = options()
    expected = turns_of_the_training_fold(listener_only=True)
    assert len(expected) > 288  # more than one per dialogue
    assert list(training_replies(opt, opt["task"])) == expected
    assert opt["datatype"] == "valid"  # the caller's options are not changed


def test_training_replies_of_both_roles() -> None:
    opt = options("--task", "empathy:empathetic_dialogues:BothRoles")
    assert list(training_replies(opt, opt["task"])) == turns_of_the_training_fold(listener_only=False)


@pytest.mark.parametrize("flag", ["interactive_task", "selfchat_task"])
def test_training_replies_are_the_same_in_a_chat(flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Opt] = []

    def teachers(opt: Opt) -> list[Any]:
        seen.append(opt)
        return create_task_agent_from_taskname(opt)  # type: ignore[no-any-return]

    monkeypatch.setattr("parlai_empathy.task_kit.training_fold.create_task_agent_from_taskname", teachers)
    opt = Opt({**options(), flag: True, "batchsize": 3})
    assert list(training_replies(opt, opt["task"])) == turns_of_the_training_fold(listener_only=True)
    # Some of ParlAI's tasks have other messages in a chat.
    assert [(one["interactive_task"], one["selfchat_task"], one["batchsize"]) for one in seen] == [(False, False, 1)]


def test_training_replies_of_two_tasks_are_combined() -> None:
    opt = options("--task", "empathy:empathetic_dialogues,empathy:empathetic_dialogues:BothRoles")
    expected = turns_of_the_training_fold(listener_only=True) + turns_of_the_training_fold(listener_only=False)
    assert Counter(training_replies(opt, opt["task"])) == Counter(expected)  # ParlAI may alternate between the tasks


def test_missing_training_data_file_raises_data_error(tmp_path: Path) -> None:
    typed = ["--task", "fromfile:parlaiformat", "--fromfile-datapath", str(tmp_path / "gone.txt")]
    opt = ParlaiParser(True, False).parse_args([*typed, "--fromfile-datatype-extension", "false"])
    with pytest.raises(DataError, match=r"^the training replies of fromfile:parlaiformat cannot be read .*gone\.txt"):
        list(training_replies(opt, opt["task"]))


def test_missing_conversations_of_parlai_raise_data_error(tmp_path: Path) -> None:
    typed = ["--task", "jsonfile", "--jsonfile-datapath", str(tmp_path / "gone.jsonl")]
    opt = ParlaiParser(True, False).parse_args([*typed, "--jsonfile-datatype-extension", "false"])
    with pytest.raises(DataError, match=r"^the training replies of jsonfile cannot be read .*gone\.jsonl"):
        list(training_replies(opt, opt["task"]))


def test_task_options_exclude_general_options() -> None:
    opt = options("--ed-history", "2", "--batchsize", "3")
    found = task_options(opt["task"], opt)
    assert (found["edition"], found["ed_history"]) == ("sample", 2)
    assert not {"batchsize", "task", "datatype"} & set(found)


@pytest.mark.parametrize("where", ["option", "task"])
def test_changed_task_file_changes_the_reply_source(tmp_path: Path, where: str) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for path in (first, second):
        path.write_text("{}")
    files = f"{first},{second}"
    tasks = ["empathy:reddit"] if where == "option" else ["empathy:daily_dialog", f"empathy:reddit:reddit_file={files}"]
    opt = {"pool_max_tokens": 20, **({"reddit_file": files} if where == "option" else {})}
    before = source_of(tasks, opt, opt)
    assert source_of(tasks, opt, opt) == before
    second.write_text("{}\n{}")
    assert source_of(tasks, opt, opt) != before


@pytest.mark.parametrize("at_home", [False, True])
def test_changed_folder_of_task_files_changes_the_reply_source(
    tmp_path: Path, at_home: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (dumps := tmp_path / "dumps").mkdir()
    (dumps / "a.jsonl").write_text("{}")
    opt = {"pool_max_tokens": 20, "reddit_file": "~/dumps" if at_home else str(dumps)}
    before = source_of(["empathy:reddit"], opt, opt)
    (dumps / "b.jsonl").write_text("{}")
    assert source_of(["empathy:reddit"], opt, opt) != before


@pytest.mark.parametrize("typed", [("--reddit-max-words", "6"), ("--reddit-min-words", "3"), ("--edition", "full")])
def test_each_option_of_a_task_changes_the_reply_source(typed: tuple[str, str]) -> None:
    tasks = ["empathy:reddit"]
    opts = [options("--task", *tasks), options("--task", *tasks, *typed)]
    plain, changed = (source_of(tasks, {**opt, "pool_max_tokens": 20}, pool_options(tasks, opt)) for opt in opts)
    assert plain != changed


def test_reply_source_without_stamps_is_that_of_missing_files(tmp_path: Path) -> None:
    (first := tmp_path / "a.jsonl").write_text("{}")
    (folder := tmp_path / "dumps").mkdir()
    (folder / "b.jsonl").write_text("{}")
    opt = {"pool_max_tokens": 20, "reddit_file": f"{first},{folder}", "edition": "sample"}
    before = source_of(["empathy:reddit"], opt, opt)
    first.unlink()
    (folder / "b.jsonl").unlink()
    missing = source_of(["empathy:reddit"], opt, opt)
    assert without_stamps(before) == missing != before


def test_pool_options_are_the_same_whether_or_not_the_command_has_the_task() -> None:
    tasks = ["empathy:daily_dialog", "empathy:empathetic_dialogues"]
    assert pool_options(tasks, options()) == pool_options(tasks, {"edition": "sample"})


def test_texts_that_are_no_paths_are_described_as_they_are() -> None:
    opt = {"pool_max_tokens": 20, "odd": "x" * 5000, "null": "a\0b", "empty": ",,"}
    assert source_of(["t"], opt, {"odd": opt["odd"], "null": "a\0b"}) == f"t 20 odd={'x' * 5000} null=a\0b"
