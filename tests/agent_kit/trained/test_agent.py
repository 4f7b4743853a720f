"""Finding trained agents: the files they need, and the methods they must have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_judge import train_judge
from tiny_parts import train_base

from parlai_empathy.agent_kit.trained.agent import check_agent, load_agent, model_path, task_option
from parlai_empathy.errors import ModelFileError, OptionError

OTHERWISE = "cannot do it: name another"


def a_model(folder: Path, options: Any) -> Path:
    """Write a file with options that cannot be loaded as a model."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model").write_bytes(b"no weights")
    raw = options if isinstance(options, bytes) else json.dumps(options).encode()
    (folder / "model.opt").write_bytes(raw)
    return folder / "model"


def test_agent_with_required_method_is_loaded(tmp_path: Path) -> None:
    model = train_judge(tmp_path)
    assert check_agent(str(model), "class_probabilities", OTHERWISE) == model
    agent = load_agent(model)
    assert agent.class_probabilities([["hi"]], ["ho"]).shape == (1, len(agent.classes))
    assert check_agent(str(model), "score_pairs", OTHERWISE, str(tmp_path)) == model, "a folder of data changes nothing"


def test_agent_without_required_method_is_rejected_before_loading(tmp_path: Path) -> None:
    model = a_model(tmp_path, {"model": "repeat_label"})
    with pytest.raises(OptionError) as error:
        check_agent(str(model), "class_probabilities", OTHERWISE)
    assert str(error.value) == f"{model}: repeat_label {OTHERWISE}"
    answers = train_base(tmp_path / "retrieval")
    with pytest.raises(OptionError, match=rf"^{answers}: empathy:retrieval {OTHERWISE}$"):
        check_agent(str(answers), "class_probabilities", OTHERWISE)


def test_tilde_in_path_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = a_model(tmp_path / "models", {"model": "repeat_label"})
    monkeypatch.setenv("HOME", str(tmp_path))
    assert check_agent("~/models/model", "act", OTHERWISE) == model


def test_zoo_name_requires_datapath(tmp_path: Path) -> None:
    model = a_model(tmp_path / "models" / "empathy" / "retrieval_sample", {"model": "repeat_label"})
    assert check_agent("zoo:empathy/retrieval_sample/model", "act", OTHERWISE, str(tmp_path)) == model
    with pytest.raises(ModelFileError, match=r"^zoo:empathy/retrieval_sample/model is not a trained model: "):
        check_agent("zoo:empathy/retrieval_sample/model", "act", OTHERWISE)


def test_name_that_the_zoo_lacks_raises_model_file_error(tmp_path: Path) -> None:
    reason = r"ImportError: Could not find pretrained model in parlai\.zoo\.nosuch\.bar or .*"
    remedy = "check the spelling and the network, or name another model"
    with pytest.raises(ModelFileError, match=rf"^zoo:nosuch/bar/model is not available \({reason}\): {remedy}$"):
        check_agent("zoo:nosuch/bar/model", "act", OTHERWISE, str(tmp_path))


def test_failed_download_raises_model_file_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        raise RuntimeError("Connection error when downloading file")

    monkeypatch.setattr("parlai.zoo.blender.blender_90M.download", fail)
    name = "zoo:blender/blender_90M/model"
    with pytest.raises(ModelFileError, match=rf"^{name} is not available \(RuntimeError: Connection error"):
        model_path(name, str(tmp_path))


@pytest.mark.parametrize("there", [[], ["model"], ["model.opt"]])
def test_missing_files_raise_model_file_error(tmp_path: Path, there: list[str]) -> None:
    for name in there:
        (tmp_path / name).write_text("{}")
    with pytest.raises(ModelFileError) as error:
        check_agent(str(tmp_path / "model"), "act", OTHERWISE)
    assert str(error.value) == f"{tmp_path}/model is not a trained model: model and model.opt must exist"


def test_unreadable_path_raises_model_file_error() -> None:
    """A name that is too long stands for any reason, such as a folder of somebody else."""
    with pytest.raises(ModelFileError, match=r"^m+/model cannot be read \(File name too long\): name another model$"):
        check_agent(f"{300 * 'm'}/model", "act", OTHERWISE)


@pytest.mark.parametrize(("name", "example"), [("", "model"), (".", "model"), ("/", "/model")])
def test_folder_path_raises_model_file_error(name: str, example: str) -> None:
    with pytest.raises(ModelFileError, match=f"is a folder: name the model in it, such as {example}$"):
        check_agent(name, "act", OTHERWISE)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (b"", "JSONDecodeError: "),
        (b"{", "JSONDecodeError: "),
        (b"\x80\x04.", "UnicodeDecodeError: "),  # ParlAI would unpickle this
        ([], "TypeError: "),
        ({"model": 1}, "TypeError: "),
        ({}, "KeyError: 'model'"),
        ({"model": "nobody"}, "nobody: there is no such agent; "),
        ({"model": "empathy:nobody"}, "empathy:nobody: there is no such agent; "),
    ],
)
def test_opt_file_without_agent_raises_model_file_error(tmp_path: Path, options: Any, reason: str) -> None:
    model = a_model(tmp_path, options)
    with pytest.raises(ModelFileError) as error:
        check_agent(str(model), "act", OTHERWISE)
    assert str(error.value).startswith(f"{model}.opt names no agent ({reason}")
    assert str(error.value).endswith("): train the model again")
    assert len(str(error.value).splitlines()) == 1


def test_unloadable_agent_raises_model_file_error(tmp_path: Path) -> None:
    model = a_model(tmp_path, {"model": "empathy:text_classifier"})
    with pytest.raises(ModelFileError) as error:
        load_agent(model)
    assert str(error.value).startswith(f"{model} cannot be loaded (")
    assert str(error.value).endswith("): train it again, or name another")
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("opt", "value"),
    [
        ({"task": "empathy:red:red_file=a", "red_file": "b"}, "a"),
        ({"task": "empathy:red", "red_file": "b"}, "b"),
        ({"task": "empathy:red:DefaultTeacher:red_file=a=c"}, "a=c"),
        ({"task": "empathy:red"}, None),
        ({}, None),
    ],
)
def test_task_option_is_read_from_task_name_or_options(opt: dict[str, Any], value: str) -> None:
    assert task_option(opt, "red_file") == value
