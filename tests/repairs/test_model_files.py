"""The files beside a model's weights: ``kill -9`` leaves older ones intact; missing ones give a one-line error."""

from __future__ import annotations

import inspect
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import parlai.utils.logging as logging
import pytest
from parlai.core.agents import create_agent, create_agent_from_model_file
from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt
from parlai.scripts import train_model
from parlai.scripts.train_model import TrainModel
from parlai_as_it_comes import unrepaired
from processes import SAMPLE, TINY

from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.repairs import package_resources


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model"
    train(path)
    return path


def train(path: Path, epochs: int = 1) -> None:
    TrainModel.main(*SAMPLE, *TINY, "--model-file", str(path), "--num-epochs", str(epochs))


# --- atomic writes ----------------------------------------------------------------------------------------------------

# The process dies when the first three characters of its JSON are on disk.
DIE_IN_A_WRITE = """
import json, os, signal, sys
from parlai.core.opt import Opt
from parlai.scripts import train_model

class Half:
    def __init__(self, file): self.file = file
    def write(self, text):
        self.file.write(text[:3]); self.file.flush(); os.kill(os.getpid(), signal.SIGKILL)

dump = json.dump
json.dump = lambda value, file=None, fp=None, **options: dump(value, Half(file or fp), **options)
{save}
"""

SAVE_OPTIONS = "Opt(new=1).save(sys.argv[1] + '.opt')"
SAVE_STATS = """
loop = train_model.TrainLoop.__new__(train_model.TrainLoop)
loop.opt = {"model_file": sys.argv[1]}
class Time:
    def time(self): return 1.0
loop.train_time = Time()
loop.parleys = loop._train_steps = loop._total_epochs = loop.impatience = 1
loop.train_reports = loop.valid_reports = []
loop.best_valid = None
loop.final_valid_report = loop.final_test_report = loop.final_extra_valid_report = {}
loop._save_train_stats(".checkpoint")
"""


@pytest.mark.parametrize(
    ("save", "suffix"), [(SAVE_OPTIONS, ".opt"), (SAVE_STATS, ".checkpoint.trainstats")], ids=["options", "stats"]
)
def test_kill_during_write_keeps_previous_file(tmp_path: Path, save: str, suffix: str) -> None:
    older = tmp_path / f"model{suffix}"
    older.write_text('{"parleys": 5}')
    died = subprocess.run(
        [sys.executable, "-c", DIE_IN_A_WRITE.replace("{save}", save), str(tmp_path / "model")],
        capture_output=True,
        text=True,
    )
    assert died.returncode == -9, died.stderr
    assert json.loads(older.read_text()) == {"parleys": 5}


DIE_IN_A_DICTIONARY = """
import io, os, signal, sys
from parlai.core.dict import DictionaryAgent, PathManager
from parlai.core.opt import Opt

class Dying(io.TextIOWrapper):
    def write(self, text):
        super().write(text)
        if text.startswith("hello"): self.flush(); os.kill(os.getpid(), signal.SIGKILL)

PathManager.open = lambda path, mode="r", encoding=None: Dying(open(path, mode + "b"), encoding=encoding)
dictionary = DictionaryAgent(Opt())
dictionary.add_to_dict(["hello", "there"])
dictionary.save(sys.argv[1])
"""


def test_kill_during_write_leaves_no_part_of_a_dictionary(tmp_path: Path) -> None:
    """The next training would use it as if it were whole."""
    path = tmp_path / "model.dict"
    died = subprocess.run([sys.executable, "-c", DIE_IN_A_DICTIONARY, str(path)], capture_output=True, text=True)
    assert died.returncode == -9, died.stderr
    assert not path.exists()
    assert (tmp_path / "model.dict.unfinished").read_text().endswith("hello\t1\n")


def test_saved_dictionary_has_its_options_and_leaves_no_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, said = tmp_path / "model.dict", io.StringIO()
    monkeypatch.setattr(logging.logger.streamHandler, "stream", said)
    dictionary = DictionaryAgent(Opt(dict_file=str(path)))
    dictionary.add_to_dict(["hello"])
    dictionary.save()
    assert re.findall("Saving dictionary to .*", said.getvalue()) == [f"Saving dictionary to {path}"]
    dictionary.save(str(path), append=True)  # as ParlAI does
    assert {file.name for file in tmp_path.iterdir()} == {"model.dict", "model.dict.opt"}
    assert path.read_text().splitlines()[4:] == ["hello\t1", *path.read_text().splitlines()[:4], "hello\t1"]


FULL_DISK = """
import resource, signal, sys
import torch
from parlai.core import torch_agent

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
torch_agent.atomic_save({"model": torch.zeros(40_000)}, sys.argv[1])
"""


def test_full_disk_keeps_previous_weights_and_gives_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("older")
    ended = subprocess.run(
        [sys.executable, "-c", "import parlai_empathy\n" + FULL_DISK, str(tmp_path / "model")],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    line = f"error: {tmp_path / 'model'} could not be written ("
    assert ended.stderr.strip().split("\n")[-1].startswith(line), ended.stderr
    assert "Traceback" not in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model").read_text() == "older"


@pytest.fixture
def parlais() -> Any:
    """ParlAI's module of options, unrepaired."""
    package_resources.lend_pkg_resources()
    try:
        return unrepaired("parlai.core.opt")
    finally:
        package_resources.take_back_pkg_resources(ModuleType("parlai.core.opt"))


def test_saved_options_are_identical_to_parlai_output(tmp_path: Path, parlais: Any) -> None:
    options = {"model": "empathy:retrieval", "seed": 1, "words": ["ä", "b"]}
    Opt(options).save(str(tmp_path / "ours.opt"))
    parlais.Opt(options).save(str(tmp_path / "parlais.opt"))
    assert (tmp_path / "ours.opt").read_bytes() == (tmp_path / "parlais.opt").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ours.opt", "parlais.opt"]


def test_training_leaves_no_temporary_files(trained: Path) -> None:
    names = {path.name for path in trained.parent.iterdir()}
    assert {"model", "model.opt", "model.trainstats"} <= names
    assert not [name for name in names if "unfinished" in name]


def test_secondary_process_does_not_write_stats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise another one moves the file that the first is still writing, or fails because the first has moved it."""
    being_written = tmp_path / "model.unfinished.trainstats"
    being_written.write_text('{"parl')
    monkeypatch.setattr(train_model, "is_primary_worker", lambda: False)
    loop = train_model.TrainLoop.__new__(train_model.TrainLoop)
    loop.opt = {"model_file": str(tmp_path / "model")}
    loop._save_train_stats()
    assert [path.name for path in tmp_path.iterdir()] == [being_written.name]


def test_unrepaired_parlai_truncates_options_before_writing(
    tmp_path: Path, parlais: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.opt").write_text("{}")

    def fail(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(parlais, "json", type("Broken", (), {"dump": staticmethod(fail)}))
    with pytest.raises(KeyboardInterrupt):
        parlais.Opt().save(str(tmp_path / "x.opt"))
    assert (tmp_path / "x.opt").read_text() == ""


# --- missing or broken ------------------------------------------------------------------------------------------------


def copy_of(trained: Path, folder: Path) -> Path:
    for path in trained.parent.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder / trained.name


def message(path: Path | str, **options: Any) -> str:
    with pytest.raises(ModelFileError) as caught:
        create_agent(Opt(model_file=str(path), datapath="data", **options), requireModelExists=True)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_misspelt_model_file_error_suggests_the_right_name(trained: Path) -> None:
    asked = trained.with_name("modle")
    for named in ({}, {"model": "empathy:retrieval"}):
        assert message(asked, **named) == f"{asked}: there is no such model file; did you mean {trained}?"


def test_unknown_model_file_error_lists_models_in_folder(trained: Path) -> None:
    assert message(trained.with_name("zzz")).endswith(f"; the models in {trained.parent} are model")


def test_missing_model_file_error_when_folder_is_empty_or_missing(tmp_path: Path) -> None:
    assert "there is no other in" in message(tmp_path / "model")
    assert f"there is no folder {tmp_path / 'none'} either" in message(tmp_path / "none" / "model")


def test_model_in_unreadable_folder_is_reported_in_one_line(tmp_path: Path) -> None:
    """A name that is too long stands for any reason, such as a folder of somebody else."""
    folder = tmp_path / (300 * "f")
    assert message(folder / "model").endswith(f"; {folder} cannot be read (File name too long): name another with -mf")


def test_folder_as_model_file_error_suggests_the_file_in_it(trained: Path, tmp_path: Path) -> None:
    assert message(trained.parent) == (
        f"{trained.parent} is a folder: name the model file in it; did you mean {trained}?"
    )


def test_missing_options_file_raises_model_file_error(trained: Path, tmp_path: Path) -> None:
    path = copy_of(trained, tmp_path)
    Path(f"{path}.opt").unlink()
    assert message(path).startswith(f"{path}.opt is missing, which names the model's agent")


def test_options_file_without_an_agent_raises_model_file_error(trained: Path, tmp_path: Path) -> None:
    path = copy_of(trained, tmp_path)
    Path(f"{path}.opt").write_text("{}")
    assert message(path) == f"{path}.opt names no agent: fetch the file again, or train again"


@pytest.mark.parametrize("content", ["", "{", '{"model": "empathy:ret', "[1, 2", "hello"])
def test_truncated_options_file_raises_model_file_error(trained: Path, tmp_path: Path, content: str) -> None:
    path = copy_of(trained, tmp_path)
    Path(f"{path}.opt").write_text(content)
    assert re.match(rf"{re.escape(str(path))}\.opt, line 1: not valid JSON", message(path))


def test_damaged_weights_and_missing_model_keep_their_own_errors(trained: Path, tmp_path: Path) -> None:
    """Only missing files are reported as missing; later errors keep their own messages."""
    path = copy_of(trained, tmp_path)
    path.write_bytes(path.read_bytes()[:1000])
    assert f"{path} is cut off or damaged" in message(path)
    with pytest.raises(OptionError, match="--model is missing"):
        create_agent(Opt(datapath="data"))


def test_complete_model_is_loaded(trained: Path) -> None:
    assert create_agent_from_model_file(str(trained)).opt["model_file"] == str(trained)


def test_truncated_training_stats_raise_model_file_error(trained: Path, tmp_path: Path) -> None:
    path = copy_of(trained, tmp_path)
    stats = Path(f"{path}.checkpoint.trainstats")
    stats.write_text(stats.read_text()[:50])
    with pytest.raises(ModelFileError, match=re.escape(f"{stats} is not a valid record of the training's progress")):
        train(path, epochs=2)
    stats.unlink()  # as the message says
    train(path)
    assert json.loads(Path(f"{path}.trainstats").read_text())["total_epochs"] >= 1


def test_unrepaired_parlai_raises_generic_errors(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Model file does not exist"):
        inspect.unwrap(create_agent)(Opt(model_file=str(tmp_path / "none"), datapath="data"), True)
    path = copy_of(trained, tmp_path)
    Path(f"{path}.opt").write_text("{")
    with pytest.raises(json.JSONDecodeError):
        Opt.load.__func__.__wrapped__(Opt, f"{path}.opt")
