"""What the plug-in registers with ParlAI: names, worlds, zoo, sub-commands, metrics, errors."""

from __future__ import annotations

import importlib
import logging as python_logging
import shutil
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import parlai.core.metrics
import parlai.core.script
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlai.core import loader
from parlai.core.build_data import modelzoo_path
from parlai.core.metrics import METRICS_DISPLAY_DATA, AverageMetric
from parlai.core.worlds import DialogPartnerWorld
from parlai_as_it_comes import source_of, unrepaired
from processes import SAMPLE, TINY, CleanPython, parlai_command, run, succeeded

from parlai_empathy import plugin
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.metrics import precision_at_k
from parlai_empathy.metrics.avg_bleu import AvgBleu, bleu_statistics
from parlai_empathy.tasks.empathetic_dialogues import agents as teachers
from parlai_empathy.tasks.empathetic_dialogues import worlds
from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE as SAMPLE_FILES

# --- names -----------------------------------------------------------------------------------------------------------


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
    assert plugin.canonical_name(name, kind) == expected


@pytest.mark.parametrize("rest", ["", ":BothRoles", ":edition=sample", ":BothRoles:edition=sample:ed_history=-1"])
def test_canonical_name_keeps_teacher_and_options(rest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("made_up", "convai2"):  # the second is also ParlAI's
        (tmp_path / "tasks" / name).mkdir(parents=True)
        (tmp_path / "tasks" / name / "__init__.py").touch()
    monkeypatch.setattr(plugin, "_HERE", tmp_path)
    assert plugin.canonical_name("made_up" + rest, "tasks") == "empathy:made_up" + rest
    assert plugin.canonical_name("convai2" + rest, "tasks") == "convai2" + rest
    assert plugin.canonical_name("empathy:convai2" + rest, "tasks") == "empathy:convai2" + rest


@given(st.text(), st.sampled_from(["agents", "tasks"]))
def test_canonical_name_is_idempotent_for_any_text(name: str, kind: str) -> None:
    canonical = plugin.canonical_name(name, kind)
    assert canonical in (name.strip(), plugin.PREFIX + name.strip())
    assert plugin.canonical_name(canonical, kind) == canonical


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
        (loader.load_agent_module, "qwxyz", f"agent; those of this package are {', '.join(plugin._own('agents'))}"),
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


# --- zoo and data ----------------------------------------------------------------------------------------------------


def test_existing_zoo_model_resolves_to_its_path(tmp_path: Path) -> None:
    model = tmp_path / "models" / "empathy" / "retrieval_sample" / "model"
    model.parent.mkdir(parents=True)
    model.touch()
    assert modelzoo_path(str(tmp_path), "zoo:empathy/retrieval_sample/model") == str(model)
    assert modelzoo_path(str(tmp_path), "models:empathy/retrieval_sample/model") == str(model)


def test_missing_zoo_model_error_names_training_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR", raising=False)
    with pytest.raises(ModelFileError) as caught:
        modelzoo_path(str(tmp_path), "zoo:empathy/retrieval_sample/model")
    message = str(caught.value)
    assert "\n" not in message
    assert "zoo:empathy/retrieval_sample/model" in message
    assert "parlai train_model -t empathy:empathetic_dialogues --edition sample" in message
    assert "EMPATHY_MIRROR" in message


def test_unknown_zoo_model_error_lists_available_models(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        modelzoo_path(str(tmp_path), "zoo:empathy/no_such_model/model")
    message = str(caught.value)
    assert "\n" not in message
    assert "zoo:empathy/retrieval_sample/model" in message


def test_builtin_zoo_modules_still_import() -> None:
    assert importlib.import_module("parlai.zoo.blender.blender_90M").__file__


def test_builtin_task_builds_from_the_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SAMPLE_FILES, tmp_path / "mirror" / "empatheticdialogues")
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
    importlib.import_module("parlai.tasks.empathetic_dialogues.build").build({"datapath": str(tmp_path / "data")})
    built = tmp_path / "data" / "empatheticdialogues" / "empatheticdialogues"  # where ParlAI's teacher reads it
    assert (built / "test.csv").read_bytes() == (SAMPLE_FILES / "test.csv").read_bytes()


# --- sub-commands ----------------------------------------------------------------------------------------------------


def test_subcommands_are_registered() -> None:
    parlai.core.script.setup_script_registry()
    registered = loader.SCRIPT_REGISTRY
    assert registered["empathy_demo"].klass.__module__ == "parlai_empathy.scripts.empathy_demo"
    assert not registered["empathy_demo"].hidden
    assert registered["distributed_train"].klass.__module__ == "parlai.scripts.distributed_train"
    assert registered["distributed_train"].hidden  # as multiprocessing_train is
    assert {"train_model", "eval_model", "interactive"} <= set(registered)


def test_every_script_is_a_subcommand_with_a_description() -> None:
    parlai.core.script.setup_script_registry()
    folder = Path(plugin.__file__).parent / "scripts"
    for name in (path.stem for path in folder.glob("[!_]*.py")):
        assert loader.SCRIPT_REGISTRY[name].klass.setup_args().description, name


# --- metrics ---------------------------------------------------------------------------------------------------------


def test_every_metric_has_a_title_and_description() -> None:
    protocols = ("shuffled", "ordered", "inline")
    keys = [precision_at_k.key(k, protocol) for k in precision_at_k.CUTOFFS for protocol in protocols]
    for key in [*keys, "avg_bleu"]:
        assert METRICS_DISPLAY_DATA[key].title
        assert METRICS_DISPLAY_DATA[key].description
    assert METRICS_DISPLAY_DATA["f1"].title == "F1"  # ParlAI's own metrics are kept


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """The messages logged by ParlAI's logger during the test."""
    lines: list[str] = []

    class Keep(python_logging.Handler):
        def emit(self, record: python_logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logger = importlib.import_module("parlai.utils.logging").logger
    handler, level = Keep(), logger.level
    logger.addHandler(handler)
    logger.setLevel("INFO")
    yield lines
    logger.setLevel(level)
    logger.removeHandler(handler)


def bleu() -> AvgBleu:
    return AvgBleu(bleu_statistics(["a", "b"], ["a", "b"]), tokens="split", split="test")


def test_metric_signature_is_logged_after_evaluation(logged: list[str]) -> None:
    metric = bleu()
    report = parlai.core.metrics.aggregate_named_reports({"task": {"avg_bleu": metric, "f1": AverageMetric(1, 2)}})
    assert logged == [f"avg_bleu: {metric.signature}"]
    assert set(report) == {"avg_bleu", "f1"}  # the report itself is unchanged


def test_no_signature_is_logged_for_training_steps(logged: list[str]) -> None:
    parlai.core.metrics.aggregate_named_reports({"task": {"loss": AverageMetric(1, 2)}})
    parlai.core.metrics.aggregate_unnamed_reports([{"avg_bleu": bleu()}])  # the parts of one process
    assert logged == []


def test_distributed_evaluation_logs_one_signature_for_the_total(logged: list[str], process_group: None) -> None:
    parlai.core.metrics.aggregate_named_reports({"task": {"avg_bleu": bleu()}})
    assert logged == []
    parlai.core.metrics.aggregate_unnamed_reports([{"avg_bleu": bleu()}, {"avg_bleu": bleu()}])
    assert len(logged) == 1
    assert "|n:2|" in logged[0]


# --- errors ----------------------------------------------------------------------------------------------------------


def test_command_line_errors_are_one_line(tmp_path: Path) -> None:
    result = parlai_command("train_model", *SAMPLE, *TINY, "--n-heads", "3", "-mf", tmp_path / "model", cwd=tmp_path)
    assert result.returncode == 1
    assert "Traceback" not in result.stdout + result.stderr
    # TINY's embedding size is 16, which 3 does not divide.
    assert result.stderr.splitlines()[-1] == "error: --n-heads 3: must divide --embedding-size 16"
    assert result.stderr.count("error: ") == 1


RAISE = "import parlai; from parlai_empathy.errors import DataError; raise DataError('x.csv, line 2: no comma')"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> CleanPython:
    """A Python with the hook and a stub of ParlAI that has only a version, which starts quickly."""
    clean = CleanPython(tmp_path_factory.mktemp("plugin") / "env")
    clean.add_hook()
    clean.add_package("parlai", "__version__ = '1.7.2'")
    return clean


def test_error_shows_only_its_message_without_debug_loglevel(python: CleanPython) -> None:
    result = run([python.python, "-c", RAISE, "--loglevel", "info"], python.home)
    assert (result.returncode, result.stdout, result.stderr) == (1, "", "error: x.csv, line 2: no comma\n")


@pytest.mark.parametrize("debug", [["--loglevel", "debug"], ["--loglevel=debug"], ["--loglevel", "DEBUG"]])
def test_debug_loglevel_shows_the_traceback(python: CleanPython, debug: list[str]) -> None:
    result = run([python.python, "-c", RAISE, *debug], python.home)
    assert result.returncode == 1
    assert result.stderr.startswith("Traceback")
    assert result.stderr.endswith("DataError: x.csv, line 2: no comma\n")


def test_missing_dependency_error_shows_only_its_message(python: CleanPython) -> None:
    code = "import parlai; from parlai_empathy.errors import MissingDependencyError as E; raise E('pip install x')"
    assert run([python.python, "-c", code], python.home).stderr == "error: pip install x\n"


def test_foreign_errors_keep_their_traceback(python: CleanPython) -> None:
    result = run([python.python, "-c", "import parlai; raise ValueError('theirs')"], python.home)
    assert result.returncode == 1
    assert result.stderr.startswith("Traceback")
    assert result.stderr.endswith("ValueError: theirs\n")


@pytest.mark.parametrize("program", ["/bin/parlai", "parlai.exe", "/lib/parlai/__main__.py"])
def test_ctrl_c_stops_parlai_commands_without_traceback(python: CleanPython, program: str) -> None:
    code = f"import sys; sys.argv = ['{program}', 'train_model']; import parlai; raise KeyboardInterrupt"
    ended = run([python.python, "-c", code], python.home)
    assert (ended.returncode, ended.stderr) == (130, "\nStopped.\n")


@pytest.mark.parametrize("program", ["train.py", "/home/parlai/train.py", "/lib/other/__main__.py", "-c", None])
def test_ctrl_c_in_other_programs_keeps_the_traceback(python: CleanPython, program: str | None) -> None:
    arguments = [program, "train_model"] if program else []
    code = f"import sys; sys.argv = {arguments}; import parlai; raise KeyboardInterrupt"
    ended = run([python.python, "-c", code], python.home)
    assert ended.returncode == -signal.SIGINT  # shown as 130 by shells
    assert ended.stderr.startswith("Traceback")


def test_existing_excepthook_still_receives_foreign_errors(python: CleanPython) -> None:
    code = (
        "import sys; sys.excepthook = lambda *error: print('mine', error[1]); import parlai; raise ValueError('theirs')"
    )
    assert run([python.python, "-c", code], python.home).stdout == "mine theirs\n"


# --- ParlAI's version ------------------------------------------------------------------------------------------------


def test_untested_parlai_version_gives_one_warning(tmp_path: Path) -> None:
    other = CleanPython(tmp_path / "env")
    other.add_hook()
    other.add_package("parlai", "__version__ = '1.8.0'")
    result = succeeded(run([other.python, "-c", "import parlai; import parlai; print(parlai.__version__)"], other.home))
    assert result.stdout == "1.8.0\n"
    [line] = [line for line in result.stderr.splitlines() if "Warning" in line]
    for part in ("1.7.2", "found 1.8.0", "pip install --no-deps parlai==1.7.2"):
        assert part in line


def test_tested_parlai_version_gives_no_warning(python: CleanPython) -> None:
    assert python("import parlai", "-W", "error") == ""


# --- the tables ------------------------------------------------------------------------------------------------------


def test_every_watched_module_exists_in_parlai() -> None:
    for name in plugin.watched_modules():
        assert find_spec(name) is not None, name


def test_import_actions_run_once_for_their_module_only(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    monkeypatch.setitem(plugin._BEFORE, "parlai.made_up", lambda: calls.append("before"))
    monkeypatch.setitem(plugin._AFTER, "parlai.made_up", [calls.append, calls.append])
    module = ModuleType("parlai.made_up")
    assert "parlai.made_up" in plugin.watched_modules()
    for name in ("parlai.other", "parlai.made_up"):
        plugin.before_import(name)
        plugin.after_import(name, module)
    assert calls == ["before", module, module]


def test_stub_pkg_resources_is_removed_after_import() -> None:
    assert not hasattr(sys.modules.get("pkg_resources"), "lent_by_parlai_empathy")


def test_unknown_base_of_agent_raises_option_error() -> None:
    with pytest.raises(OptionError, match="empathy:prepend/nonsense: there is no such agent"):
        loader.load_agent_module("empathy:prepend/nonsense")
    assert loader.load_agent_module("empathy:prepend/generative").__name__ == "GenerativeAgent"


@pytest.mark.parametrize("name", ["empathy:Retrieval", "empathy:RETRIEVAL", "prepend/generative"])
def test_agent_names_are_case_insensitive_and_may_include_a_base(name: str) -> None:
    """Case-insensitively, as ParlAI reads the names of tasks."""
    assert loader.load_agent_module(name) is loader.load_agent_module(plugin.canonical_name(name.lower(), "agents"))


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
    assert str(caught.value) == (
        f"{plugin.canonical_name(name, 'tasks')}: there is no such teacher; available: {there_are}"
    )


def test_unknown_teacher_of_builtin_task_keeps_parlai_error() -> None:
    with pytest.raises(AttributeError, match="NonsenseTeacher"):
        loader.load_teacher_module("convai2:nonsense")


# --- what ParlAI does without repairs --------------------------------------------------------------------------------


def test_unrepaired_parlai_ignores_worlds_of_registered_repos() -> None:
    loader: Any = unrepaired("parlai.core.loader")
    loader.REGISTERED_REPOS["empathy:"] = {"repo": "parlai_empathy", "source": ""}
    assert loader.load_teacher_module("empathy:empathetic_dialogues").__module__.startswith("parlai_empathy.")
    found = loader.load_world_module("empathy:empathetic_dialogues", interactive_task=True, num_agents=2)
    assert found is DialogPartnerWorld


def test_unrepaired_parlai_does_not_register_distributed_train() -> None:
    assert "register_script" not in source_of("parlai.scripts.distributed_train")
