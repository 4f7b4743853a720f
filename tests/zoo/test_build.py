"""``zoo:empathy/<name>/model`` through ParlAI's own look-up: local models, those on a mirror, and untrained ones."""

from __future__ import annotations

import hashlib
import importlib
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
import requests
from parlai.core.build_data import modelzoo_path
from parlai.scripts.train_model import TrainModel

from parlai_empathy.errors import ModelFileError
from parlai_empathy.zoo.model import ZooModel
from parlai_empathy.zoo.model_list import MODELS

FILES = ("model", "model.opt", "model.dict", "model.pool")
NAME = "retrieval_sample"
ZOO_PATH = f"zoo:empathy/{NAME}/model"


@pytest.fixture(autouse=True)
def _no_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR", raising=False)


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror's complete folder of the model; each file contains its own name."""
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


def test_suggested_command_names_the_data_folder_throughout(tmp_path: Path) -> None:
    message = error_of(tmp_path, "zoo:empathy/deepmoji_as_is/model")
    assert f"--deepmoji-weights {tmp_path}/models/empathy/published_deepmoji " in message
    assert f"-mf {tmp_path}/models/empathy/deepmoji_as_is/model --datapath {tmp_path}`" in message


# --- where models are found ------------------------------------------------------------------------------------------


def test_locally_trained_model_is_used_unchanged(tmp_path: Path) -> None:
    model = tmp_path / "models" / "empathy" / NAME / "model"
    model.parent.mkdir(parents=True)
    model.write_text("trained here")
    assert modelzoo_path(str(tmp_path), ZOO_PATH) == str(model)
    assert model.read_text() == "trained here"
    assert [file.name for file in model.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("prefix", ["zoo", "models"])  # ParlAI accepts both
def test_model_files_are_copied_from_mirror(tmp_path: Path, mirror: Path, prefix: str) -> None:
    found = Path(modelzoo_path(str(tmp_path / "data"), f"{prefix}:empathy/{NAME}/model"))
    assert found == tmp_path / "data" / "models" / "empathy" / NAME / "model"
    for name in FILES:
        assert (found.parent / name).read_text() == f"{name} from the mirror"


def test_copied_model_is_found_without_the_mirror(
    tmp_path: Path, mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = modelzoo_path(str(tmp_path / "data"), ZOO_PATH)
    monkeypatch.delenv("EMPATHY_MIRROR")
    assert modelzoo_path(str(tmp_path / "data"), ZOO_PATH) == first


def test_locally_trained_model_takes_precedence_over_mirror(tmp_path: Path, mirror: Path) -> None:
    model = tmp_path / "data" / "models" / "empathy" / NAME / "model"
    model.parent.mkdir(parents=True)
    model.write_text("trained here")
    modelzoo_path(str(tmp_path / "data"), ZOO_PATH)
    assert model.read_text() == "trained here"


def test_incomplete_mirror_error_names_the_file_and_leaves_no_folder(tmp_path: Path, mirror: Path) -> None:
    (mirror / "model.dict").unlink()
    message = error_of(tmp_path / "data")
    assert str(mirror / "model.dict") in message
    assert "EMPATHY_MIRROR" in message
    assert "or train it with `parlai train_model" in message
    assert not (tmp_path / "data" / "models" / "empathy" / NAME).exists()


def test_missing_model_error_gives_the_training_command(tmp_path: Path) -> None:
    message = error_of(tmp_path)
    assert ZOO_PATH in message
    assert "EMPATHY_MIRROR" in message
    match = re.search(r"`parlai train_model (.*)`", message)
    assert match
    opt = TrainModel.setup_args().parse_args(shlex.split(match[1]))
    assert opt["model_file"] == str(tmp_path / "models" / "empathy" / NAME / "model")
    assert not (tmp_path / "models").exists()  # the look-up creates nothing


@pytest.mark.parametrize("path", ["zoo:empathy/retrieval_simple/model", "zoo:empathy/model"])
def test_unknown_model_error_lists_all_models(tmp_path: Path, path: str) -> None:
    message = error_of(tmp_path, path)
    for name in MODELS:
        assert f"zoo:empathy/{name}/" in message


def test_parlai_zoo_remains_importable() -> None:
    assert callable(importlib.import_module("parlai.zoo.blender.blender_90M").download)


# --- published models -------------------------------------------------------------------------------------------------


class Answer:
    """A server's response."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.headers = {"Content-Length": str(len(content))}
        self.raw = self

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def raise_for_status(self) -> None:
        pass

    def iter_content(self, size: int) -> list[bytes]:
        return [self.content]

    def tell(self) -> int:
        return len(self.content)


PUBLISHED = ZooModel("pub", "A published file", None, (), file="model.mdl", url="https://example.org/a.mdl")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that are requested; the server has every file."""
    addresses: list[str] = []

    def get(url: str, **_: object) -> Answer:
        addresses.append(url)
        return Answer(b"weights")

    monkeypatch.setattr("requests.get", get)
    return addresses


def test_published_file_is_downloaded_once_to_its_configured_name(tmp_path: Path, asked: list[str]) -> None:
    PUBLISHED.download(str(tmp_path))
    PUBLISHED.download(str(tmp_path))
    assert asked == ["https://example.org/a.mdl"]
    assert (tmp_path / "models" / "empathy" / "pub" / "model.mdl").read_bytes() == b"weights"


@pytest.mark.usefixtures("asked")
def test_known_checksum_is_verified(tmp_path: Path) -> None:
    right = replace(PUBLISHED, sha256=hashlib.sha256(b"weights").hexdigest())
    right.download(str(tmp_path / "right"))
    with pytest.raises(ModelFileError, match=r"^https://example.org/a.mdl is not the expected file: its SHA-256"):
        replace(right, sha256="0" * 64).download(str(tmp_path / "wrong"))
    assert not (tmp_path / "wrong" / "models" / "empathy" / "pub").exists()


def test_no_connection_error_explains_how_to_use_a_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def get(*_: object, **__: object) -> None:
        raise requests.ConnectionError

    monkeypatch.setattr("requests.get", get)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(ModelFileError) as caught:
        PUBLISHED.download(str(tmp_path))
    assert str(caught.value) == (
        "cannot download https://example.org/a.mdl (no connection). Without a network, set EMPATHY_MIRROR to a folder "
        "that holds models/empathy/pub/model.mdl"
    )
