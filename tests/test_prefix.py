"""How agents, tasks and worlds are found by name, with and without the prefix ``empathy:``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlai.core import loader
from parlai.core.worlds import DialogPartnerWorld
from parlai_as_it_comes import unrepaired

from parlai_empathy import prefix
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.errors import OptionError
from parlai_empathy.prefix import PREFIX, canonical_name
from parlai_empathy.tasks.empathetic_dialogues import agents as teachers
from parlai_empathy.tasks.empathetic_dialogues import worlds


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("retrieval", "agents", "empathy:retrieval"),
        (" retrieval ", "agents", "empathy:retrieval"),
        ("prepend/generative", "agents", "empathy:prepend/generative"),
        ("empathy:retrieval", "agents", "empathy:retrieval"),
        ("repeat_label", "agents", "repeat_label"),  # ParlAI's
        ("transformer/biencoder", "agents", "transformer/biencoder"),
        ("retrieval", "tasks", "retrieval"),  # an agent, not a task
        ("empathetic_dialogues", "tasks", "empathetic_dialogues"),  # ParlAI has a task of this name
        ("empathetic_dialogues:EmotionClassification", "tasks", "empathetic_dialogues:EmotionClassification"),
        ("empathy:empathetic_dialogues:BothRoles", "tasks", "empathy:empathetic_dialogues:BothRoles"),
        ("builder", "tasks", "builder"),  # a module in the same folder, not a task
        ("__pycache__", "tasks", "__pycache__"),
        ("internal:retrieval", "agents", "internal:retrieval"),
        ("parlai_empathy.agents.retrieval:A", "agents", "parlai_empathy.agents.retrieval:A"),
        ("no_such_name", "agents", "no_such_name"),
        ("", "tasks", ""),
        ("../agents", "tasks", "../agents"),
    ],
)
def test_canonical_name_prefixes_only_names_unique_to_the_plugin(name: str, kind: str, expected: str) -> None:
    assert canonical_name(name, kind) == expected


@pytest.mark.parametrize("rest", ["", ":BothRoles", ":edition=sample", ":BothRoles:edition=sample:ed_history=-1"])
def test_canonical_name_keeps_teacher_and_options(rest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("made_up", "convai2"):  # the second is also ParlAI's
        (tmp_path / "tasks" / name).mkdir(parents=True)
        (tmp_path / "tasks" / name / "__init__.py").touch()
    monkeypatch.setattr(prefix, "_HERE", tmp_path)
    assert canonical_name("made_up" + rest, "tasks") == "empathy:made_up" + rest
    assert canonical_name("convai2" + rest, "tasks") == "convai2" + rest
    assert canonical_name("empathy:convai2" + rest, "tasks") == "empathy:convai2" + rest


@given(st.text(), st.sampled_from(["agents", "tasks"]))
def test_canonical_name_is_idempotent_for_any_text(name: str, kind: str) -> None:
    canonical = canonical_name(name, kind)
    assert canonical in (name.strip(), PREFIX + name.strip())
    assert canonical_name(canonical, kind) == canonical


@pytest.mark.parametrize(
    "name", ["empathy:retrieval", "retrieval", "parlai_empathy.agents.retrieval.retrieval:RetrievalAgent"]
)
def test_agent_loads_by_each_of_its_names(name: str) -> None:
    assert loader.load_agent_module(name) is RetrievalAgent


def test_builtin_agents_still_load() -> None:
    assert loader.load_agent_module("repeat_label").__module__ == "parlai.agents.repeat_label.repeat_label"


def test_user_registered_agent_overrides_the_unprefixed_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine:
        pass

    monkeypatch.setitem(loader.AGENT_REGISTRY, "retrieval", Mine)
    assert loader.load_agent_module("retrieval") is Mine
    assert loader.load_agent_module("empathy:retrieval") is RetrievalAgent


@pytest.mark.parametrize(
    ("name", "teacher"),
    [
        ("empathy:empathetic_dialogues", teachers.DefaultTeacher),
        ("empathy:empathetic_dialogues:", teachers.DefaultTeacher),
        ("empathy:empathetic_dialogues:edition=sample", teachers.DefaultTeacher),
        ("empathy:empathetic_dialogues:BothRoles", teachers.BothRolesTeacher),
        ("empathy:empathetic_dialogues:BothRoles:edition=sample", teachers.BothRolesTeacher),
        ("empathy:empathetic_dialogues:situation_emotion", teachers.SituationEmotionTeacher),
    ],
)
def test_teacher_loads_by_name(name: str, teacher: type) -> None:
    assert loader.load_teacher_module(name) is teacher
    assert loader.load_task_module(name) is teachers


def test_unprefixed_empathetic_dialogues_is_the_builtin_task() -> None:
    theirs = importlib.import_module("parlai.tasks.empathetic_dialogues.agents")
    assert loader.load_teacher_module("empathetic_dialogues") is theirs.DefaultTeacher
    assert loader.load_task_module("empathetic_dialogues") is theirs


@pytest.mark.parametrize(
    ("load", "name", "told"),
    [
        (loader.load_agent_module, "retreival", "agent; did you mean retrieval?"),
        (loader.load_agent_module, "empathy/retrieval", "agent; did you mean empathy:retrieval?"),
        (loader.load_agent_module, "transformer/generatr", "agent; did you mean transformer?"),
        (loader.load_agent_module, "qwxyz", f"agent; those of this package are {', '.join(prefix._own('agents'))}"),
        (loader.load_teacher_module, "dayli_dialog:Act:dd_history=2", "task; did you mean daily_dialog?"),
        (loader.load_teacher_module, "empaty:red", "task; did you mean empathy:red?"),
        (loader.load_teacher_module, "Convai3", "task; did you mean convai2?"),
    ],
)
def test_unknown_name_is_one_line_with_a_close_one(load: Any, name: str, told: str) -> None:
    with pytest.raises(OptionError) as caught:
        load(name)
    assert str(caught.value) == f"{name}: there is no such {told}"


@pytest.mark.parametrize("lacking", ["no_such_library", "parlai.agents.no_such_agent"])
def test_agent_that_lacks_an_import_keeps_its_error(monkeypatch: pytest.MonkeyPatch, lacking: str) -> None:
    error = ModuleNotFoundError(f"No module named {lacking!r}", name=lacking)
    monkeypatch.setattr(importlib, "import_module", Mock(side_effect=error))
    with pytest.raises(ModuleNotFoundError, match=lacking):
        loader.load_agent_module("repeat_label")


@pytest.mark.parametrize("rest", ["", ":edition=sample"])
def test_plugin_worlds_load_by_task_name(rest: str) -> None:
    name = "empathy:empathetic_dialogues" + rest
    assert loader.load_world_module(name, interactive_task=True) is worlds.InteractiveWorld
    assert loader.load_world_module(name, selfchat_task=True) is worlds.SelfChatWorld
    assert loader.load_world_module(name, False, True) is worlds.SelfChatWorld  # by position, as ParlAI allows


def test_world_is_chosen_by_teacher_name_not_by_options(monkeypatch: pytest.MonkeyPatch) -> None:
    class World:
        pass

    class RoleWorld:
        pass

    made_up = ModuleType("parlai_empathy.tasks.made_up.worlds")
    made_up.__dict__.update(InteractiveWorld=World, InteractiveRoleWorld=RoleWorld)
    monkeypatch.setitem(sys.modules, made_up.__name__, made_up)
    for name in ("empathy:made_up", "empathy:made_up:", "empathy:Made_Up", "empathy:made_up:edition=sample:x=1"):
        assert loader.load_world_module(name, interactive_task=True) is World
    for name in ("empathy:made_up:role", "empathy:made_up:role:x=1", "empathy:made_up:x=1:role"):
        assert loader.load_world_module(name, interactive_task=True) is RoleWorld


def test_default_world_is_used_without_a_plugin_world() -> None:
    name = "empathy:empathetic_dialogues"
    assert loader.load_world_module(name, num_agents=2) is DialogPartnerWorld  # neither interactive nor self-chat
    assert loader.load_world_module(name, default_world=DialogPartnerWorld) is DialogPartnerWorld
    assert loader.load_world_module("empathy:no_such_task", interactive_task=True, num_agents=2) is DialogPartnerWorld


def test_builtin_worlds_still_load() -> None:
    found = loader.load_world_module("blended_skill_talk", interactive_task=True)
    assert found.__module__ == "parlai.tasks.blended_skill_talk.worlds"


def test_unknown_base_of_agent_raises_option_error() -> None:
    with pytest.raises(OptionError, match="empathy:prepend/nonsense: there is no such agent"):
        loader.load_agent_module("empathy:prepend/nonsense")
    assert loader.load_agent_module("empathy:prepend/generative").__name__ == "GenerativeAgent"


@pytest.mark.parametrize("name", ["empathy:Retrieval", "empathy:RETRIEVAL", "prepend/generative"])
def test_agent_names_are_case_insensitive_and_may_include_a_base(name: str) -> None:
    """Case-insensitively, as ParlAI reads the names of tasks."""
    assert loader.load_agent_module(name) is loader.load_agent_module(canonical_name(name.lower(), "agents"))


@pytest.mark.parametrize(
    ("load", "name", "known"),
    [
        (loader.load_teacher_module, "empathy:empathetic_dialogue:BothRoles", "mean empathy:empathetic_dialogues?"),
        (loader.load_task_module, "empathy:qwxyz:edition=sample", "are empathy:daily_dialog, empathy:empathetic_d"),
        (loader.load_agent_module, "empathy:retreival", "did you mean empathy:retrieval?"),
    ],
)
def test_unknown_prefixed_name_error_names_a_close_one_or_all(load: Any, name: str, known: str) -> None:
    with pytest.raises(OptionError) as caught:
        load(name)
    message = str(caught.value)
    assert message.startswith(":".join(name.split(":")[:2]) + ": there is no such ")
    assert known in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "name", ["empathy:humod:Relevence", "humod:relevence", "empathy:humod:relevence:edition=sample"]
)
def test_unknown_teacher_error_lists_available_teachers(name: str) -> None:
    with pytest.raises(OptionError) as caught:
        loader.load_teacher_module(name)
    there_are = "Default, DiverseReplies, Extended, NextUtterance, Relevance"
    assert str(caught.value) == (f"{canonical_name(name, 'tasks')}: there is no such teacher; available: {there_are}")


def test_unknown_teacher_of_builtin_task_keeps_parlai_error() -> None:
    with pytest.raises(AttributeError, match="NonsenseTeacher"):
        loader.load_teacher_module("convai2:nonsense")


def test_unrepaired_parlai_ignores_worlds_of_registered_repos() -> None:
    loader: Any = unrepaired("parlai.core.loader")
    loader.REGISTERED_REPOS["empathy:"] = {"repo": "parlai_empathy", "source": ""}
    assert loader.load_teacher_module("empathy:empathetic_dialogues").__module__.startswith("parlai_empathy.")
    found = loader.load_world_module("empathy:empathetic_dialogues", interactive_task=True, num_agents=2)
    assert found is DialogPartnerWorld
