"""The conversations from which examples are selected."""

from __future__ import annotations

from pathlib import Path

import pytest
from parlai.core.opt import Opt

from parlai_empathy.agents.in_context.example_source import LONGEST_CONTEXT, Conversation, training_conversations
from parlai_empathy.errors import DataError
from parlai_empathy.tasks.empathetic_dialogues.reader import COLUMNS, read_empathetic_dialogues


def from_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *conversations: list[str]) -> list[Conversation]:
    """Read a file with these conversations."""
    folder = tmp_path / "mirror" / "empatheticdialogues"
    folder.mkdir(parents=True)
    rows = [
        f"c{number},{turn},sad,I lost c{number}.,{turn % 2},{text},,"
        for number, turns in enumerate(conversations)
        for turn, text in enumerate(turns, start=1)
    ]
    for fold in ("train", "valid", "test"):
        (folder / f"{fold}.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
    return training_conversations(Opt(datapath=str(tmp_path / "data"), task="interactive"))


def test_conversations_end_with_the_last_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = from_csv(tmp_path, monkeypatch, ["a", "b", "c", "d"], ["e", "f", "g"], ["h"], ["i", "j"])
    assert found == [
        Conversation("c0", "sad", "I lost c0.", ("a", "b", "c", "d")),
        Conversation("c1", "sad", "I lost c1.", ("e", "f")),  # g has no reply
        Conversation("c3", "sad", "I lost c3.", ("i", "j")),
    ]
    assert [conversation.context for conversation in found] == ["a\nb\nc", "e", "i"]


def test_conversations_with_empty_turns_are_cut_or_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = from_csv(tmp_path, monkeypatch, ["a", "", "c", "d"], ["", "f"], ["g", "h", "i", ""], ["j", ""])
    assert [conversation.turns for conversation in found] == [("g", "h")]


def test_no_conversation_with_a_reply_raises_data_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"train\.csv holds no conversation with a reply.*set --examples 0"):
        from_csv(tmp_path, monkeypatch, ["a"], ["b"])


@pytest.mark.parametrize(
    "opt",
    [
        {"edition": "sample", "task": "interactive"},
        {"task": "empathy:empathetic_dialogues:LastReply:edition=sample"},
        {"task": "empathetic_dialogues:edition=sample"},
        {"task": "empathy:humod,empathy:empathetic_dialogues:edition=sample,empathy:daily_dialog"},
        {"edition": "sample"},
    ],
)
def test_edition_is_read_from_option_or_task_name(tmp_path: Path, opt: dict[str, str]) -> None:
    made = Opt(datapath=str(tmp_path), **opt)
    found = training_conversations(made)
    assert len(found) == 288
    assert found[0].conv_id == "sample_train:0"
    assert made == Opt(datapath=str(tmp_path), **opt)  # and the caller's options are not changed


def test_full_training_fold_matches_known_length_and_count(
    real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = real_data / "empatheticdialogues" / "train.csv"
    if not path.is_file():
        pytest.skip(f"no {path}")
    monkeypatch.setenv("EMPATHY_MIRROR", str(real_data))
    found = training_conversations(Opt(datapath=str(tmp_path), edition="full"))
    longest = max(len(dialogue.turns) for dialogue in read_empathetic_dialogues(path))
    assert longest - 1 == LONGEST_CONTEXT
    assert len(found) == 19_530  # those with a reply, as counted in the task's README
    assert all(len(conversation.turns) % 2 == 0 for conversation in found)
