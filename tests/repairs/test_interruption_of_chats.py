"""A chat or self-chat that is interrupted keeps what was said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parlai.scripts.interactive import Interactive
from parlai.scripts.self_chat import SelfChat
from parlai_as_it_comes import unrepaired

from parlai_empathy.agents.in_context.in_context import InContextAgent

ECHO: dict[str, Any] = {"model": "empathy:in_context", "lm_backend": "echo", "lm_cache": "none", "loglevel": "error"}


def type_lines(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Type lines, then press Ctrl-C."""
    left = list(lines)

    def type_line(prompt: str = "") -> str:
        if not left:
            raise KeyboardInterrupt
        return left.pop(0)

    monkeypatch.setattr("builtins.input", type_line)


def press_in_reply(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Press Ctrl-C while a reply is generated, counted from 1."""
    acts, replies = InContextAgent.batch_act, iter(range(1, 1000))

    def batch_act(self: Any, observations: Any) -> Any:
        if next(replies) == number:
            raise KeyboardInterrupt
        return acts(self, observations)

    monkeypatch.setattr(InContextAgent, "batch_act", batch_act)


def said_in(file: Path) -> list[list[str]]:
    """Return the first speaker's texts of each conversation."""
    return [[pair[0]["text"] for pair in json.loads(line)["dialog"]] for line in file.read_text().splitlines()]


def chat(file: Path, command: Any = Interactive, **options: Any) -> None:
    """Run a chat that must end by Ctrl-C."""
    with pytest.raises(KeyboardInterrupt):
        command.main(**ECHO, outfile=str(file), **options)


def test_interrupted_chat_saves_its_conversations(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    type_lines(monkeypatch, "I won!", "A race.", "[DONE]", "I fell.")
    chat(tmp_path / "chat.jsonl")
    assert said_in(tmp_path / "chat.jsonl") == [["I won!", "A race."], ["I fell."]]
    type_lines(monkeypatch, "I won!", "A race.")
    chat(tmp_path / "chat.txt", save_format="parlai")
    assert [line.split("\t")[1] for line in (tmp_path / "chat.txt").read_text().split("\n") if line] == [
        "text:I won!", "text:A race."
    ]  # fmt: skip


def test_interrupted_self_chat_saves_its_conversations(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each has four replies, two by each speaker; Ctrl-C comes in the third of the second."""
    press_in_reply(monkeypatch, 7)
    chat(tmp_path / "chat.jsonl", SelfChat, num_self_chats=5, selfchat_max_turns=3)
    first, second = said_in(tmp_path / "chat.jsonl")
    assert len(first) == 2
    assert len(second) == 1


@pytest.mark.parametrize("command", [Interactive, SelfChat])
def test_agents_of_an_interrupted_chat_are_shut_down_once_it_is_saved(
    command: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    downs: list[bool] = []
    monkeypatch.setattr(InContextAgent, "shutdown", lambda agent: downs.append((tmp_path / "chat.jsonl").exists()))
    type_lines(monkeypatch, "I won!")
    press_in_reply(monkeypatch, 2)
    chat(tmp_path / "chat.jsonl", command)
    assert downs == [True] * (2 if command is SelfChat else 1)


def test_chat_in_which_nothing_was_said_leaves_an_earlier_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text("before")
    type_lines(monkeypatch)
    chat(tmp_path / "chat.jsonl")
    assert (tmp_path / "chat.jsonl").read_text() == "before"


def test_interrupted_chat_without_outfile_saves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    type_lines(monkeypatch, "I won!")
    with pytest.raises(KeyboardInterrupt):
        Interactive.main(**ECHO)
    assert list(tmp_path.iterdir()) == []


def test_unrepaired_chat_loses_its_conversations(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    type_lines(monkeypatch, "I won!")
    chat(tmp_path / "chat.jsonl", unrepaired("parlai.scripts.interactive").Interactive)
    assert list(tmp_path.iterdir()) == []
