"""Chats about EmpatheticDialogues: ParlAI finds our worlds, and its self-chats begin with a Speaker's turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parlai.agents.fixed_response.fixed_response import FixedResponseAgent
from parlai.agents.repeat_query.repeat_query import RepeatQueryAgent
from parlai.core.loader import load_world_module
from parlai.core.worlds import DialogPartnerWorld, create_task
from parlai.scripts.interactive import Interactive
from parlai.scripts.self_chat import SelfChat

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.tasks.empathetic_dialogues import worlds
from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE

TASK = "empathy:empathetic_dialogues"
NAMES = [
    TASK,
    f"{TASK}:edition=sample",
    f"{TASK}:Default",
    f"{TASK}:both_roles",
    f"{TASK}:BothRoles:edition=sample:ed_history=1",
    f"{TASK}:SituationEmotionCut",
]
# The first turns of the invented test fold.
OPENERS = {"I found my old kite in the cellar.", "My exam is tomorrow.", "My dog broke a leg."}

Chat = list[str]


# --- ParlAI finds them -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_parlai_loads_plugin_worlds(name: str) -> None:
    assert load_world_module(name, interactive_task=True, num_agents=2) is worlds.InteractiveWorld
    assert load_world_module(name, selfchat_task=True, num_agents=2) is worlds.SelfChatWorld


@pytest.mark.parametrize("name", NAMES)
def test_training_and_evaluation_use_dialog_partner_world(name: str) -> None:
    assert load_world_module(name, num_agents=2) is DialogPartnerWorld


def test_unknown_world_names_raise_attribute_error() -> None:
    for name in ("DefaultWorld", "World", "InteractiveTeacher", "no_such_name"):
        with pytest.raises(AttributeError, match=name):
            getattr(worlds, name)


# --- a person and a model --------------------------------------------------------------------------------------------


def test_interactive_model_observes_only_human_messages(tmp_path: Path) -> None:
    opt = Interactive.setup_args().parse_kwargs(task=TASK, datapath=str(tmp_path), model="repeat_query")
    person, model = FixedResponseAgent({**opt, "fixed_response": "I failed."}), Recorder(opt)
    world = create_task(opt, [person, model])
    assert type(world) is worlds.InteractiveWorld
    world.parley()
    world.parley()
    assert [act["text"] for act in world.get_acts()] == ["I failed.", "I failed."]
    assert model.observed == ["I failed.", "I failed."]
    assert list(tmp_path.iterdir()) == []  # chatting needs no data set


class Recorder(RepeatQueryAgent):
    """Repeats and records what it observes."""

    def __init__(self, opt: Any, shared: Any = None) -> None:
        super().__init__(opt, shared)
        self.observed: list[str] = []

    def observe(self, observation: Any) -> Any:
        self.observed.append(observation["text"])
        return super().observe(observation)


# --- a model with itself ----------------------------------------------------------------------------------------------


def self_chats(tmp_path: Path, task: str = TASK, **options: Any) -> list[Chat]:
    """Return the texts, chat by chat, of ParlAI's self-chat script with a model that always says the same."""
    logs = SelfChat.main(
        task=task,
        datapath=str(tmp_path / "data"),
        model="fixed_response",
        fixed_response="I agree.",
        selfchat_max_turns=2,
        display_examples=False,
        outfile=str(tmp_path / "chats.jsonl"),
        **options,
    )
    return [[act["text"] for pair in chat for act in pair] for chat in logs if chat]  # ParlAI's last chat is empty


def test_self_chats_open_with_first_turns_of_test_fold(tmp_path: Path, ed_mirror: Path) -> None:
    chats = self_chats(tmp_path, num_self_chats=30)
    assert {chat[0] for chat in chats} == OPENERS  # 30 draws of 3; with random seeds, P(a miss) <= 3 x (2/3)^30
    assert all(chat[1:] == ["I agree."] * 3 for chat in chats)  # so nothing precedes the opener


def test_self_chat_openers_depend_only_on_seed(tmp_path: Path, ed_mirror: Path) -> None:
    first, again, other = (self_chats(tmp_path, num_self_chats=20, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("task", "options"),
    [
        (TASK, {"edition": "sample"}),
        (f"{TASK}:edition=sample", {}),
        (f"{TASK}:BothRoles:edition=sample", {}),
        (f"{TASK}:BothRoles", {"edition": "sample"}),
    ],
)
def test_self_chat_openers_come_from_sample(tmp_path: Path, task: str, options: dict[str, str]) -> None:
    rows = [line.split(",") for line in (SAMPLE / "test.csv").read_text().splitlines()]
    openers = {row[5].replace("_comma_", ",") for row in rows if row[1] == "1"}
    chats = self_chats(tmp_path, task, num_self_chats=5, **options)
    assert {chat[0] for chat in chats} <= openers
    assert len({chat[0] for chat in chats}) > 1


def test_self_chat_with_misspelt_option_after_its_task_raises_option_error(tmp_path: Path, ed_mirror: Path) -> None:
    with pytest.raises(OptionError, match=rf"^-t {TASK}:editoin=sample: there is no option editoin; the task has ed_"):
        self_chats(tmp_path, f"{TASK}:editoin=sample")


def test_self_chat_without_openers_raises_data_error(tmp_path: Path, ed_mirror: Path) -> None:
    """An empty first turn is none."""
    (file := ed_mirror / "empatheticdialogues/test.csv").write_text(
        f"{file.read_text().splitlines()[0]}\nc,1,sad,It rained.,0, ,,\nc,2,sad,It rained.,1,Hello.,,\n"
    )
    with pytest.raises(DataError, match=r"test\.csv holds no conversation to begin a chat with$"):
        self_chats(tmp_path)


def test_self_chat_openers_can_come_from_file(tmp_path: Path) -> None:
    (file := tmp_path / "openers.txt").write_text("Let me tell you something.\n")
    chats = self_chats(tmp_path, seed_messages_from_file=str(file))
    assert chats == [["Let me tell you something.", "I agree.", "I agree.", "I agree."]]


def test_self_chat_with_empty_openers_file_begins_with_the_model(tmp_path: Path) -> None:
    (file := tmp_path / "openers.txt").touch()
    assert self_chats(tmp_path, seed_messages_from_file=str(file)) == [["I agree."] * 4]
