"""Missing tasks, models and option files, and unknown options, give one-line errors where ParlAI gives tracebacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.core.teachers import create_task_agent_from_taskname
from parlai.scripts.display_data import DisplayData
from parlai.scripts.display_model import DisplayModel
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.interactive import Interactive
from parlai.scripts.self_chat import SelfChat
from parlai.scripts.train_model import TrainModel
from parlai_as_it_comes import source_of
from tiny_parts import SIZES, TASK

from parlai_empathy.errors import OptionError

RETRIEVER: dict[str, Any] = {**SIZES, "model": "empathy:retrieval", "loglevel": "error"}


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (TrainModel, {**RETRIEVER, "model_file": "m"}),
        (EvalModel, RETRIEVER),
        (DisplayModel, RETRIEVER),
        (DisplayData, {"loglevel": "error"}),
    ],
)
def test_missing_task_raises_option_error(command: Any, options: dict[str, Any], tmp_path: Path) -> None:
    if "model_file" in options:
        options = {**options, "model_file": str(tmp_path / "m")}
    with pytest.raises(OptionError, match=r"^--task is missing: name the data, such as -t empathy:empathetic_dial"):
        command.main(**options)


def test_self_chat_refuses_batches() -> None:
    with pytest.raises(OptionError, match=r"^--batchsize 2: self_chat has one conversation at a time; leave it out, "):
        SelfChat.main(model="empathy:in_context", lm_backend="echo", lm_cache="none", loglevel="error", batchsize=2)


@pytest.mark.parametrize("datatype", ["train", "train:stream", "train:ordered"])
def test_evaluation_on_training_data_names_the_datatype(datatype: str) -> None:
    message = rf"^--datatype {datatype}: it is for training; to evaluate on the training data, use train:evalmode$"
    with pytest.raises(OptionError, match=message):
        EvalModel.main(**{**RETRIEVER, **TASK, "datatype": datatype})


@pytest.mark.parametrize("command", [EvalModel, DisplayModel, Interactive])
def test_missing_model_raises_option_error(command: Any) -> None:
    options = {"loglevel": "error"} if command is Interactive else {**TASK}
    with pytest.raises(OptionError, match=r"^--model is missing: name an agent, such as -m empathy:retrieval, or a"):
        command.main(**{name: value for name, value in options.items() if name != "edition"})


def test_unknown_option_in_init_opt_file_raises_option_error(tmp_path: Path) -> None:
    (tmp_path / "saved.opt").write_text(json.dumps({"starttime": "Nov23_16-21"}))
    message = rf"^--init-opt {tmp_path}/saved.opt: this command has no option starttime: remove it from the file, or "
    with pytest.raises(OptionError, match=message):
        DisplayData.main(**TASK, init_opt=str(tmp_path / "saved.opt"))


@pytest.mark.parametrize("named", ["{0}/none.opt", "{0}/saved.opt,{0}/none.opt"])
def test_missing_init_opt_file_raises_option_error(tmp_path: Path, named: str) -> None:
    (tmp_path / "saved.opt").write_text("{}")
    with pytest.raises(
        OptionError, match=rf"^--init-opt {tmp_path}/none.opt: there is no such file: name a JSON file of"
    ):
        DisplayData.main(**TASK, init_opt=named.format(tmp_path))


def test_unrepaired_parlai_raises_generic_errors() -> None:
    assert "raise RuntimeError(\n            'No task specified." in source_of("parlai.core.worlds")
    assert "raise RuntimeError('Need to set `model` argument" in source_of("parlai.core.agents")
    assert "'Trying to set opt from file that does not exist: '" in source_of("parlai.core.params")
    assert 'raise FileNotFoundError(\n            f"Could not find filename' in source_of("parlai.core.opt")
    assert "mutators = [MUTATOR_REGISTRY[name] for name in names]" in source_of("parlai.core.mutators")
    assert "tasks = opt['task'].split(',')" in source_of("parlai.scripts.eval_model")
    assert "raise ValueError(\n            'You should use --datatype" in source_of("parlai.scripts.eval_model")
    assert "assert bsz == 1" in source_of("parlai.scripts.self_chat")
    assert "            opt[key] = value\n        else:\n            task.append(f)" in source_of(
        "parlai.core.teachers"
    )


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("empathy:reddit:edition=sample:reddit_histroy=1", "reddit_histroy"),
        ("epitome:edition=sample,empathy:red:edition=sample:red-kappa=2", "red_kappa"),  # which only dimensions have
        ("empathy:red:edition=sample:dd_history=1,empathy:daily_dialog:edition=sample", "dd_history"),
        ("empathy:red:edition=sample:num_examples=1", "num_examples"),  # an option of the command, not of its teachers
    ],
)
def test_unknown_option_after_a_task_raises_option_error(task: str, name: str) -> None:
    with pytest.raises(
        OptionError, match=rf"^-t empathy:\S+: there is no option {name}; the task has edition, [^\n]+$"
    ):
        DisplayData.main(task=task, loglevel="error")


@pytest.mark.parametrize("more", ["edition=sample:Test", "Test:edition=sample:edition", "Test:Default"])
def test_teacher_behind_the_first_place_after_its_task_raises_option_error(more: str) -> None:
    with pytest.raises(OptionError, match=rf"^-t empathy:red:{more}: {more.rpartition(':')[2]} is neither the teacher"):
        DisplayData.main(task=f"empathy:red:{more}", loglevel="error")


@pytest.mark.parametrize("name", ["red", "empathy:red", "empathy:RED", "parlai_empathy.tasks.red.agents"])
def test_teacher_right_after_its_task_is_known(name: str) -> None:
    (teacher,) = create_task_agent_from_taskname(Opt(task=f"{name}:TestTeacher:edition=sample:", datatype="valid"))
    assert type(teacher).__name__ == "TestTeacher"


@pytest.mark.parametrize("named", [{"mutators": "flattn"}, {"task": f"{TASK['task']}:mutators=flatten+flattn"}])
def test_unknown_mutator_raises_option_error(named: dict[str, str]) -> None:
    message = r"^--mutators (flatten\+)?flattn: there is no mutator flattn; there are context_shuffle, [^\n]+$"
    with pytest.raises(OptionError, match=message):
        DisplayData.main(**{**TASK, "loglevel": "error", **named})


@pytest.mark.parametrize(
    "more",
    ["red_context=false", "hide_labels=true", "metrics=bleu", "mutators=episode_shuffle:preserve_context=true"],
)
def test_options_of_task_teachers_or_mutator_are_known(more: str) -> None:
    """Even if the caller's own options lack them."""
    (teacher,) = create_task_agent_from_taskname(Opt(task=f"empathy:red:edition=sample:{more}", datatype="valid"))
    assert teacher.num_examples() == 20


def test_unknown_option_after_a_task_of_parlai_is_passed_on(tmp_path: Path) -> None:
    opt = Opt(task="integration_tests:own=1", datatype="valid", datapath=str(tmp_path))
    (teacher,) = create_task_agent_from_taskname(opt)
    assert teacher.opt["own"] == 1
