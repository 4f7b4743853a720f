"""``zoo:empathy/<name>/model`` through ParlAI's own look-up: already there, on a mirror, or to be trained."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path

import pytest
from parlai.core.build_data import modelzoo_path
from parlai.scripts.train_model import TrainModel

from parlai_empathy import zoo
from parlai_empathy.errors import ModelFileError
from parlai_empathy.zoo.build import ZooModel, all_models

FILES = ("model", "model.opt", "model.dict", "model.pool")
NAME = "retrieval_sample"
ZOO_PATH = f"zoo:empathy/{NAME}/model"


@pytest.fixture(autouse=True)
def _no_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR", raising=False)


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror's folder of the model, complete; each file says its own name."""
    folder = tmp_path / "mirror" / "models" / "empathy" / NAME
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / name).write_text(f"{name} from the mirror")
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
    return folder


def error_of(datapath: Path, path: str = ZOO_PATH) -> str:
    with pytest.raises(ModelFileError) as caught:
        modelzoo_path(str(datapath), path)
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- where models are found ------------------------------------------------------------------------------------------


def test_a_model_that_was_trained_there_is_taken_as_it_is(tmp_path: Path) -> None:
    model = tmp_path / "models" / "empathy" / NAME / "model"
    model.parent.mkdir(parents=True)
    model.write_text("trained here")
    assert modelzoo_path(str(tmp_path), ZOO_PATH) == str(model)
    assert model.read_text() == "trained here"
    assert [file.name for file in model.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("prefix", ["zoo", "models"])  # ParlAI takes both
def test_a_model_is_brought_from_a_mirror(tmp_path: Path, mirror: Path, prefix: str) -> None:
    found = Path(modelzoo_path(str(tmp_path / "data"), f"{prefix}:empathy/{NAME}/model"))
    assert found == tmp_path / "data" / "models" / "empathy" / NAME / "model"
    for name in FILES:
        assert (found.parent / name).read_text() == f"{name} from the mirror"


def test_a_second_look_needs_no_mirror(tmp_path: Path, mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = modelzoo_path(str(tmp_path / "data"), ZOO_PATH)
    monkeypatch.delenv("EMPATHY_MIRROR")
    assert modelzoo_path(str(tmp_path / "data"), ZOO_PATH) == first


def test_a_model_that_was_trained_there_beats_the_mirrors(tmp_path: Path, mirror: Path) -> None:
    model = tmp_path / "data" / "models" / "empathy" / NAME / "model"
    model.parent.mkdir(parents=True)
    model.write_text("trained here")
    modelzoo_path(str(tmp_path / "data"), ZOO_PATH)
    assert model.read_text() == "trained here"


def test_a_mirror_that_lacks_a_file_is_named_and_nothing_is_left_half_made(tmp_path: Path, mirror: Path) -> None:
    (mirror / "model.dict").unlink()
    message = error_of(tmp_path / "data")
    assert str(mirror / "model.dict") in message
    assert "EMPATHY_MIRROR" in message
    assert "or train it with `parlai train_model" in message
    assert not (tmp_path / "data" / "models" / "empathy" / NAME).exists()


def test_a_model_that_is_nowhere_is_explained_with_the_command_that_trains_it_there(tmp_path: Path) -> None:
    message = error_of(tmp_path)
    assert ZOO_PATH in message
    assert "EMPATHY_MIRROR" in message
    match = re.search(r"`parlai train_model (.*)`", message)
    assert match
    opt = TrainModel.setup_args().parse_args(shlex.split(match[1]))
    assert opt["model_file"] == str(tmp_path / "models" / "empathy" / NAME / "model")
    assert not (tmp_path / "models").exists()  # looking for it makes nothing


@pytest.mark.parametrize("path", ["zoo:empathy/retrieval_simple/model", "zoo:empathy/model"])
def test_an_unknown_model_is_answered_with_those_there_are(tmp_path: Path, path: str) -> None:
    message = error_of(tmp_path, path)
    for name in all_models():
        assert f"zoo:empathy/{name}/model" in message


def test_parlais_own_zoo_is_still_found() -> None:
    assert callable(importlib.import_module("parlai.zoo.blender.blender_90M").download)


# --- the models ------------------------------------------------------------------------------------------------------


def test_each_file_of_the_zoo_is_a_model_of_its_name() -> None:
    files = {file.stem for file in Path(zoo.__file__).parent.glob("*.py")} - {"__init__", "build"}
    models = all_models()
    assert models.keys() == files
    assert {name: model.name for name, model in models.items()} == {name: name for name in files}


@pytest.mark.parametrize("model", all_models().values(), ids=all_models().keys())
def test_each_model_is_found_by_parlai_and_described(model: ZooModel, tmp_path: Path) -> None:
    assert f"zoo:empathy/{model.name}/model has no public download" in error_of(
        tmp_path, f"zoo:empathy/{model.name}/model"
    )
    assert model.title
    assert "\n" not in model.title


@pytest.mark.parametrize("model", all_models().values(), ids=all_models().keys())
def test_each_recipe_is_a_command_that_train_model_understands(model: ZooModel) -> None:
    opt = TrainModel.setup_args().parse_args(shlex.split(model.recipe))
    assert opt["task"].startswith("empathy:")
    assert opt["model"] == "empathy:retrieval"
    assert opt.get("model_file") is None  # where it goes is added by whoever trains it
    assert opt["seed"] is not None  # without a seed nobody gets the same model again


def test_the_papers_recipe_is_the_papers_training() -> None:
    opt = TrainModel.setup_args().parse_args(shlex.split(all_models()["retrieval_paper"].recipe))
    assert opt["preset"] == "paper"
    assert opt["task"] == "empathy:empathetic_dialogues:BothRoles"  # the paper trains on both roles' turns
    assert opt["edition"] == "full"
