"""A fingerprint changes with everything that affects a model's answers, and with nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from parlai_empathy.errors import ModelFileError
from parlai_empathy.reports.evaluations.model_fingerprint import model_fingerprint


def fingerprint(path: Path, options: Sequence[str] = (), datapath: str = "data") -> str:
    return model_fingerprint(path, options, datapath)


def write(folder: Path, name: str = "model", **opt: Any) -> Path:
    """Write those of a model's files that a fingerprint includes."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"weights")
    path.with_name(f"{name}.opt").write_text(json.dumps({"model": "empathy:retrieval", **opt}))
    path.with_name(f"{name}.dict").write_text("word\t1\n")
    return path


def test_fingerprint_does_not_depend_on_location(tmp_path: Path) -> None:
    first = fingerprint(write(tmp_path / "a"))
    assert first == fingerprint(write(tmp_path / "b"))
    assert len(first) == 64
    assert set(first) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    "file",
    ["model", "model.opt", "model.dict", "model.encoder/config.json", "model.classifier/model", "model.base/model.opt"],
)
def test_fingerprint_changes_with_each_model_file(tmp_path: Path, file: str) -> None:
    path = write(tmp_path)
    before = fingerprint(path)
    changed = tmp_path / file
    changed.parent.mkdir(exist_ok=True)
    changed.write_text('{"model": "empathy:generative"}')
    assert fingerprint(path) != before


@pytest.mark.parametrize(
    "file",
    [
        *("model.pool", "model.trainstats", "model.checkpoint", "other"),
        *("model.retriever/model.pool", "model.retriever/model.ed+dd.pool", "model.retriever/model.pool.index"),
    ],
)
def test_fingerprint_ignores_evaluation_outputs_and_unused_files(tmp_path: Path, file: str) -> None:
    path = write(tmp_path)
    write(tmp_path / "model.retriever")
    before = fingerprint(path)
    (tmp_path / file).write_text("x")
    assert fingerprint(path) == before


def test_fingerprint_changes_with_model_named_by_option(tmp_path: Path) -> None:
    classifier = write(tmp_path / "c", "classifier")
    path = write(tmp_path, classifier=str(classifier))
    before = fingerprint(path)
    assert before != fingerprint(write(tmp_path / "without"))
    classifier.write_bytes(b"other weights")
    after = fingerprint(path)
    assert after != before
    classifier.with_name("classifier.dict").write_text("other\t1\n")
    assert fingerprint(path) != after


def test_fingerprint_changes_with_zoo_model_named_by_option(tmp_path: Path) -> None:
    """ParlAI does not save ``datapath`` with a model: a command has its own."""
    classifier = write(tmp_path / "data" / "models" / "empathy" / "fasttext_emotion")
    path = write(tmp_path, emotion_classifier="zoo:empathy/fasttext_emotion/model")
    before = fingerprint(path, datapath=str(tmp_path / "data"))
    classifier.write_bytes(b"other weights")
    assert fingerprint(path, datapath=str(tmp_path / "data")) != before


def test_zoo_model_is_downloaded_before_the_evaluation_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the fingerprint would change during the evaluation, and its result be repeated."""
    write(tmp_path / "mirror" / "models" / "empathy" / "fasttext_emotion")
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
    path = write(tmp_path, emotion_classifier="zoo:empathy/fasttext_emotion/model")
    before = fingerprint(path, datapath=str(tmp_path / "data"))
    assert (tmp_path / "data" / "models" / "empathy" / "fasttext_emotion" / "model").is_file()
    assert fingerprint(path, datapath=str(tmp_path / "data")) == before


def test_zoo_model_that_there_is_not_has_no_part(tmp_path: Path) -> None:
    assert fingerprint(write(tmp_path, other="zoo:nosuch/bar/model"))


@pytest.mark.parametrize(
    ("option", "ending"), [("classifier", "classifier"), ("base_model", "base"), ("retriever", "retriever")]
)
def test_fingerprint_depends_on_the_copy_of_a_model_and_not_on_its_original(
    tmp_path: Path, option: str, ending: str
) -> None:
    original = write(tmp_path / "original")
    path = write(tmp_path, **{option: str(original)})
    copy = write(tmp_path / f"model.{ending}")
    before = fingerprint(path)
    original.write_bytes(b"trained further")
    assert fingerprint(path) == before
    original.unlink()
    assert fingerprint(path) == before
    copy.write_bytes(b"other weights")
    assert fingerprint(path) != before


def test_fingerprint_changes_with_candidates_file_but_not_vectors_file(tmp_path: Path) -> None:
    (tmp_path / "replies.txt").write_text("hello\n")
    (tmp_path / "vectors.txt").write_text("a 1\n")
    opt = {"fixed_candidates_path": str(tmp_path / "replies.txt"), "vectors_file": str(tmp_path / "vectors.txt")}
    path = write(tmp_path, **opt)
    before = fingerprint(path)
    (tmp_path / "vectors.txt").write_text("a 2\n")
    assert fingerprint(path) == before
    (tmp_path / "replies.txt").write_text("good bye\n")
    assert fingerprint(path) != before


@pytest.mark.parametrize("option", ["lm_model", "sentence_encoder"])
def test_fingerprint_changes_with_hugging_face_model_folder(tmp_path: Path, option: str) -> None:
    folder = tmp_path / "lm"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    path = write(tmp_path, **{option: str(folder), "lm_backend": "hf"})
    before = fingerprint(path)
    (folder / "model.safetensors").write_bytes(b"others!")
    assert fingerprint(path) != before


def test_command_line_options_override_saved_ones(tmp_path: Path) -> None:
    """Two different language models under the same name, one after the other, must not share answers."""
    folder = tmp_path / "lm"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    path = write(tmp_path, model="empathy:in_context", lm_backend="echo")
    typed = ("--lm-backend", "hf", "--lm-model", str(folder), "--num-examples", "3")
    before = fingerprint(path, typed)
    assert before != fingerprint(path)
    assert before == fingerprint(path, typed)
    (folder / "model.safetensors").write_bytes(b"others!")
    assert fingerprint(path, typed) != before


def test_fingerprint_changes_with_files_below_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shell expands no tilde within quotes, as in ``--eval-args="--prompt ~/prompt.yaml"``; the agents do."""
    monkeypatch.setenv("HOME", str(tmp_path))
    path = write(tmp_path, prompt="~/prompt.yaml", sentence_encoder="~/encoder", other="~nobody/at/all")
    (tmp_path / "prompt.yaml").write_text("Hello")
    before = fingerprint(path)
    (tmp_path / "prompt.yaml").write_text("Hi")
    after = fingerprint(path)
    assert after != before
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "model.safetensors").write_bytes(b"weights")
    assert fingerprint(path) != after


def test_command_line_options_do_not_apply_to_nested_models(tmp_path: Path) -> None:
    """``--classifier`` is an option of the prepending agent, not of its classifier."""
    one, other = write(tmp_path / "one"), write(tmp_path / "other")
    path = write(tmp_path, model="empathy:prepend", classifier=str(one))
    typed = ("--classifier", str(other))
    before = fingerprint(path, typed)
    one.write_bytes(b"changed")
    assert fingerprint(path, typed) == before
    other.write_bytes(b"changed")
    assert fingerprint(path, typed) != before


def test_fingerprint_changes_with_server_but_not_with_api_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, lm_backend="openai", lm_model="m")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-one")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:secret@one:8000/v1")
    before = fingerprint(path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-two")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://one:8000/v1")
    assert fingerprint(path) == before
    monkeypatch.setenv("OPENAI_BASE_URL", "http://other:8000/v1")
    assert fingerprint(path) != before


def test_circular_model_references_terminate(tmp_path: Path) -> None:
    path = write(tmp_path, "a", classifier=str(tmp_path / "b"))
    write(tmp_path, "b", classifier=str(path))
    assert fingerprint(path)


def test_option_values_that_are_not_files_are_ignored(tmp_path: Path) -> None:
    assert fingerprint(write(tmp_path, a="x" * 5000, b="", c=None, d=["e"], f=3, g="."))


def test_invalid_opt_file_error_names_the_file(tmp_path: Path) -> None:
    path = write(tmp_path)
    (tmp_path / "model.opt").write_text("{")
    with pytest.raises(ModelFileError, match=rf"^{tmp_path}/model\.opt names no agent \(JSONDecodeError: "):
        fingerprint(path)


@pytest.mark.parametrize("missing", ["model", "model.opt"])
def test_missing_model_error_names_the_model(tmp_path: Path, missing: str) -> None:
    path = write(tmp_path)
    (tmp_path / missing).unlink()
    with pytest.raises(ModelFileError, match=r"/model is not a trained model: model and model\.opt must exist$"):
        fingerprint(path)


def test_fingerprint_ignores_cached_answers(tmp_path: Path) -> None:
    (tmp_path / "answers").write_bytes(b"one")
    path = write(tmp_path, lm_cache=str(tmp_path / "answers"))
    before = fingerprint(path)
    (tmp_path / "answers").write_bytes(b"one, two")
    assert fingerprint(path) == before
