"""The teacher of Lee et al.'s test prompts: one item per conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parlai.core.params import ParlaiParser
from parlai.core.teachers import create_task_agent_from_taskname

TASK = "empathy:empathetic_dialogues"


def items(task: str, fold: str, datapath: Path, **options: Any) -> list[dict[str, Any]]:
    """Return one epoch of a teacher that is created as in ParlAI's scripts."""
    parser = ParlaiParser(add_parlai_args=True, add_model_args=False)
    opt = parser.parse_kwargs(task=task, datapath=str(datapath), datatype=fold, **options)
    teacher = create_task_agent_from_taskname(opt)[0]
    found = []
    while not teacher.epoch_done():
        found.append(dict(teacher.act()))
    return found


@pytest.fixture
def _invented(fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the invented files, which test_ed_teachers.py describes, as the data set."""
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "empatheticdialogues").symlink_to(fixtures / "empathetic_dialogues")
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))


@pytest.mark.usefixtures("_invented")
def test_example_is_last_reply_with_full_context(tmp_path: Path) -> None:
    found = items(f"{TASK}:LastReply", "test", tmp_path)
    # Conversations of 4, 2 and 6 turns: the last reply is the last turn.
    assert [(item["turn"], len(item["text"].split("\n"))) for item in found] == [(4, 3), (2, 1), (6, 5)]
    every = {(item["conv_id"], item["turn"]): item for item in items(TASK, "test", tmp_path, ed_history=-1)}
    for item in found:
        assert item == {**every[item["conv_id"], item["turn"]], "id": f"{TASK}:LastReply"}
        assert {"emotion", "situation", "conv_id"} <= set(item)


@pytest.mark.usefixtures("_invented")
def test_trailing_speaker_turn_is_left_out(tmp_path: Path) -> None:
    # train: 4, 3, 4, 2 and 5 turns
    assert [item["turn"] for item in items(f"{TASK}:LastReply", "train:ordered", tmp_path)] == [4, 2, 4, 2, 4]


@pytest.mark.usefixtures("_invented")
@pytest.mark.parametrize("way", ["option", "colon"])
def test_history_of_one_keeps_only_the_previous_turn(tmp_path: Path, way: str) -> None:
    if way == "option":
        found = items(f"{TASK}:LastReply", "test", tmp_path, ed_history=1)
    else:
        found = items(f"{TASK}:LastReply:ed_history=1", "test", tmp_path)
    whole = items(f"{TASK}:LastReply", "test", tmp_path)
    assert [item["text"] for item in found] == [item["text"].split("\n")[-1] for item in whole]


@pytest.mark.usefixtures("_invented")
def test_default_teacher_history_is_four_turns(tmp_path: Path) -> None:
    assert max(len(item["text"].split("\n")) for item in items(TASK, "test", tmp_path)) == 4


def test_full_test_fold_has_2546_prompts(real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper has 2,547; the copy that is tested lacks one conversation."""
    if not (real_data / "empatheticdialogues" / "test.csv").is_file():
        pytest.skip("no EmpatheticDialogues here")
    monkeypatch.setenv("EMPATHY_MIRROR", str(real_data))
    found = items(f"{TASK}:LastReply", "test", tmp_path)
    assert len(found) == len({item["conv_id"] for item in found}) == 2_546
