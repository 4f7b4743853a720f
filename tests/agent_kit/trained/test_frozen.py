"""Frozen models that others build on: finding the file, its errors, and the copy beside the new model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.opt import Opt
from sample_models import weights
from tiny_judge import train_judge
from tiny_parts import train_base, train_classifier

from parlai_empathy.agent_kit.judging.frozen_classifier import PART
from parlai_empathy.errors import EmpathyError, ModelFileError, OptionError

ENDINGS = ("", ".opt", ".dict")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train two classifiers of emotions and a model of another kind in one folder."""
    folder = tmp_path_factory.mktemp("models")
    train_classifier(folder / "emotions")
    train_classifier(folder / "others", seed=8, max_train_steps=1)
    train_base(folder / "retrieval", max_train_steps=1)
    return folder


def copy_of(model: Path, folder: Path) -> Path:
    for ending in ENDINGS:
        shutil.copy(f"{model}{ending}", folder / f"{model.name}{ending}")
    return folder / model.name


def training(folder: Path, classifier: Path | None, **options: Any) -> Opt:
    """Return the options for training a model on top of a classifier."""
    named = {"classifier": str(classifier)} if classifier else {}
    return Opt({"model_file": str(folder / "new"), "datatype": "train", **named, **options})


def begun(folder: Path, classifier: Path) -> Opt:
    """The same after the model was saved."""
    opt = training(folder, classifier)
    PART.load(opt)
    (folder / "new").touch()
    opt.save(f"{folder / 'new'}.opt")
    return opt


def failure(opt: Opt) -> EmpathyError:
    with pytest.raises(EmpathyError) as caught:
        PART.load(opt)
    assert "\n" not in str(caught.value)
    return caught.value


# --- errors ----------------------------------------------------------------------------------------------------------


def test_loaded_model_is_frozen(models: Path, tmp_path: Path) -> None:
    agent = PART.load(training(tmp_path, models / "emotions"))
    assert not any(weight.requires_grad for weight in agent.model.parameters())
    assert not agent.model.training
    assert not hasattr(agent, "optimizer") or agent.optimizer is None


def test_missing_classifier_option_raises_option_error(tmp_path: Path) -> None:
    error = failure(training(tmp_path, None))
    assert isinstance(error, OptionError)
    assert "--classifier is missing" in str(error)


@pytest.mark.parametrize("missing", ["", ".opt"])
def test_missing_file_raises_model_file_error(models: Path, tmp_path: Path, missing: str) -> None:
    copy = copy_of(models / "emotions", tmp_path)
    Path(f"{copy}{missing}").unlink()
    error = failure(training(tmp_path, copy))
    assert isinstance(error, ModelFileError)
    assert f"--classifier {copy} is not a trained model: emotions and emotions.opt must exist" == str(error)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"model": "nobody"}', '{"model": "empathy:nobody"}'])
def test_invalid_opt_file_error_names_file_or_agent(models: Path, tmp_path: Path, content: str) -> None:
    copy = copy_of(models / "emotions", tmp_path)
    Path(f"{copy}.opt").write_text(content)
    assert "nobody" in str(failure(training(tmp_path, copy))) or f"{copy}.opt" in str(failure(training(tmp_path, copy)))


def test_retrieval_model_is_rejected_as_classifier(models: Path, tmp_path: Path) -> None:
    error = failure(training(tmp_path, models / "retrieval"))
    assert isinstance(error, OptionError)
    assert "empathy:retrieval is not a classifier" in str(error)


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"task": "empathy:humod:NextUtterance"}, "has no classes"), ({"loss": "mse"}, "--loss mse")],
)
def test_judge_without_class_probabilities_is_rejected(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    error = failure(training(tmp_path, train_judge(tmp_path / "judge", max_train_steps=1, **changes)))
    assert isinstance(error, OptionError)
    assert words in str(error)


def test_mismatched_weights_raise_model_file_error(models: Path, tmp_path: Path) -> None:
    copy = copy_of(models / "emotions", tmp_path)
    options = json.loads(Path(f"{copy}.opt").read_text())
    Path(f"{copy}.opt").write_text(json.dumps({**options, "embedding_size": 9}))
    error = failure(training(tmp_path, copy))
    assert isinstance(error, ModelFileError)
    assert "does not fit" in str(error)


def test_truncated_file_raises_error_and_leaves_no_copy(models: Path, tmp_path: Path) -> None:
    copy = copy_of(models / "emotions", tmp_path)
    copy.write_bytes(copy.read_bytes()[:500])
    assert str(copy) in str(failure(training(tmp_path, copy)))
    assert not (tmp_path / "new.classifier").exists()


# --- the copy --------------------------------------------------------------------------------------------------------


def test_training_copies_only_the_weights(models: Path, tmp_path: Path) -> None:
    PART.load(training(tmp_path, models / "emotions"))
    copied = torch.load(tmp_path / "new.classifier" / "model", weights_only=True)
    assert set(copied) == {"model"}
    own = weights(models / "emotions")
    assert all(torch.equal(own[name], values) for name, values in copied["model"].items())


@pytest.mark.parametrize("datatype", ["valid", "train:evalmode", ""])
def test_no_copy_is_written_outside_training(models: Path, tmp_path: Path, datatype: str) -> None:
    PART.load(training(tmp_path, models / "emotions", datatype=datatype))
    assert not (tmp_path / "new.classifier").exists()


def test_copy_is_used_after_original_is_deleted(models: Path, tmp_path: Path) -> None:
    original = copy_of(models / "emotions", tmp_path)
    opt = begun(tmp_path, original)
    for ending in ENDINGS:
        Path(f"{original}{ending}").unlink()
    assert PART.path(opt) == tmp_path / "new.classifier" / "model"
    PART.load(opt)


def test_copy_is_used_after_original_changes(models: Path, tmp_path: Path) -> None:
    original = copy_of(models / "emotions", tmp_path)
    opt = begun(tmp_path, original)
    shutil.copy(models / "others", original)
    agent = PART.load(opt)
    assert torch.equal(agent.model.head.weight, weights(models / "emotions")["head.weight"])


def test_resuming_with_another_model_raises_option_error(models: Path, tmp_path: Path) -> None:
    opt = begun(tmp_path, models / "emotions")
    error = failure(Opt({**opt, "classifier": str(models / "others")}))
    assert isinstance(error, OptionError)
    assert "was trained with another model" in str(error)


def test_resuming_with_missing_model_raises_model_file_error(models: Path, tmp_path: Path) -> None:
    opt = begun(tmp_path, models / "emotions")
    error = failure(Opt({**opt, "classifier": "gone"}))
    assert str(error) == "--classifier gone is not a trained model: gone and gone.opt must exist"


def test_resuming_with_same_model_at_another_path_is_accepted(models: Path, tmp_path: Path) -> None:
    opt = begun(tmp_path, models / "emotions")
    PART.load(Opt({**opt, "classifier": str(copy_of(models / "emotions", tmp_path))}))


def test_missing_copy_raises_model_file_error(models: Path, tmp_path: Path) -> None:
    opt = begun(tmp_path, models / "emotions")
    shutil.rmtree(tmp_path / "new.classifier")
    error = failure(opt)
    assert isinstance(error, ModelFileError)
    assert f"{tmp_path / 'new'} needs {tmp_path / 'new.classifier' / 'model'}, which is missing" in str(error)
    Opt({"model": "empathy:retrieval"}).save(str(tmp_path / "new.opt"))
    assert f"{tmp_path / 'new'}, a model of empathy:retrieval, needs" in str(failure(opt))


def test_stale_copy_without_its_model_is_replaced(models: Path, tmp_path: Path) -> None:
    PART.load(training(tmp_path, models / "others"))
    PART.load(training(tmp_path, models / "emotions"))
    copied = weights(tmp_path / "new.classifier" / "model")
    assert torch.equal(copied["head.weight"], weights(models / "emotions")["head.weight"])


def test_left_over_copy_can_be_named_by_another_path(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be the only one left: the new training must not delete what it is about to copy."""
    PART.load(training(tmp_path, models / "emotions"))
    monkeypatch.chdir(tmp_path)
    PART.load(training(Path(), tmp_path / "new.classifier" / "model"))
    copied = weights(tmp_path / "new.classifier" / "model")
    assert torch.equal(copied["head.weight"], weights(models / "emotions")["head.weight"])


def test_copy_beside_init_model_is_used(models: Path, tmp_path: Path) -> None:
    begun(tmp_path, models / "emotions")
    (tmp_path / "next").mkdir()
    opt = training(tmp_path / "next", None, init_model=str(tmp_path / "new"))
    assert PART.path(opt) == tmp_path / "new.classifier" / "model"
