"""EnDex with tiny models trained on the sample of RED, and files that are not EnDex models."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_models import load
from tiny_judge import train_judge
from tiny_parts import train_base, train_classifier

from parlai_empathy.errors import ModelFileError, NotComputableError, OptionError
from parlai_empathy.scoring.agent_judge import AgentJudge
from parlai_empathy.scoring.endex import Endex, check_engagement_judge, engagement_judge

CONTEXTS = [["my cat ran away"], ["hello", "what did you do today?"], []]
REPLIES = ["oh no, where did you see it last?", "nothing", "a text that stands alone"]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a classifier of engaging posts on the sample."""
    return train_judge(tmp_path_factory.mktemp("endex"), task="empathy:red", precision="float32")


def options_changed(model_file: Path, folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Return a copy of the model with its options changed."""
    folder.mkdir()
    for file in model_file.parent.glob("model*"):
        (folder / file.name).symlink_to(file)
    opt = json.loads((model_file.parent / "model.opt").read_text())
    change(opt)
    (folder / "model.opt").unlink()
    (folder / "model.opt").write_text(json.dumps(opt))
    return folder / "model"


# --- scores ----------------------------------------------------------------------------------------------------------


def test_score_is_probability_of_class_engaging(model_file: Path) -> None:
    agent: Any = load(model_file)
    assert agent.classes == ["not engaging", "engaging"]
    judge = Endex(str(model_file), "mine")
    found = judge.score(CONTEXTS, REPLIES)
    assert found == pytest.approx(agent.class_probabilities(CONTEXTS, REPLIES)[:, 1], abs=1e-6)
    assert found.dtype == np.float64
    assert ((found > 0) & (found < 1)).all()
    text = r"mine\|agent:text_classifier\|trained:empathy:red\|weights:[0-9a-f]{8}\|reads:context\+reply"
    assert re.match(text + r"\|output:probability\|version:", judge.signature)


def test_without_context_only_replies_are_scored(model_file: Path) -> None:
    alone = Endex(str(model_file), with_context=False)
    assert alone.score(CONTEXTS, REPLIES) == pytest.approx(alone.score([[], [], []], REPLIES), abs=1e-6)
    assert "|reads:reply|" in alone.signature
    shown = Endex(str(model_file), with_context=True).score(CONTEXTS, REPLIES)
    differences = np.abs(shown - alone.score(CONTEXTS, REPLIES))
    assert (differences > 1e-5).tolist() == [True, True, False]


def test_output_class_returns_zero_or_one(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Endex(str(model_file), output="class")
    found = np.array([[0.3, 0.7], [0.8, 0.2], [0.5, 0.5]])
    monkeypatch.setattr(judge._agent, "class_probabilities", lambda contexts, replies: found)
    assert judge.score(CONTEXTS, REPLIES).tolist() == [1, 0, 1]
    found[1] = np.nan  # as of a broken model, which is no 0
    assert judge.score(CONTEXTS, REPLIES) == pytest.approx(np.array([1, np.nan, 1]), nan_ok=True)
    assert "|output:class|" in judge.signature


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"red_context": False}, False),
        ({"task": "empathy:red:red_context=false"}, False),
        ({"task": "empathy:red:EE:red_context=False:edition=sample"}, False),
        ({"task": "empathy:red:red_context=true", "red_context": False}, True),
    ],
)
def test_with_context_defaults_to_training_option(
    model_file: Path, tmp_path: Path, change: dict[str, Any], expected: bool
) -> None:
    changed = str(options_changed(model_file, tmp_path / "changed", lambda opt: opt.update(change)))
    assert Endex(changed).with_context is expected
    assert Endex(changed, with_context=not expected).with_context is not expected


def test_mismatched_or_empty_lists_raise(model_file: Path) -> None:
    judge = Endex(str(model_file))
    with pytest.raises(NotComputableError, match=r"^1 x context for 2 replies: "):
        judge.score([[]], ["a", "b"])
    with pytest.raises(NotComputableError, match=r"^no list of replies to score"):
        judge.score([], [])


# --- files that are not EnDex models ---------------------------------------------------------------------------------


def test_missing_model_error_names_the_model(tmp_path: Path) -> None:
    for make in (Endex, engagement_judge, check_engagement_judge):
        with pytest.raises(ModelFileError, match=r"^\S+/none is not a trained model: none and none.opt must exist$"):
            make(f"{tmp_path}/none")


def test_classifier_of_other_classes_is_rejected(tmp_path: Path) -> None:
    emotions = train_classifier(tmp_path / "emotions", num_epochs=1)
    message = r"emotions has no class 'engaging' \(only \w+, \w+, \w+, \w+, \.\.\.\): name a model that was trained on"
    with pytest.raises(OptionError, match=message):
        Endex(str(emotions))
    with pytest.raises(OptionError, match=r"emotions: this judge's classes .* are not numbers: .* no score: name"):
        engagement_judge(str(emotions))


def test_retrieval_agent_is_rejected(tmp_path: Path) -> None:
    retriever = str(train_base(tmp_path / "retriever"))
    with pytest.raises(OptionError, match=r"empathy:retrieval has no class 'engaging': name a model that was trained"):
        Endex(retriever)
    with pytest.raises(OptionError, match=r"empathy:retrieval does not score replies: name a model of"):
        check_engagement_judge(retriever)


def test_next_utterance_judge_is_no_endex_but_an_engagement_judge(tmp_path: Path) -> None:
    chooser = str(train_judge(tmp_path / "chooser", task="empathy:humod:NextUtterance"))
    with pytest.raises(OptionError, match=r"model has no class 'engaging' \(no classes\): "):
        Endex(chooser)
    assert isinstance(engagement_judge(chooser), AgentJudge)


def test_unknown_output_raises(model_file: Path) -> None:
    with pytest.raises(OptionError, match=r"^output 'odds': must be one of probability, class$"):
        Endex(str(model_file), output="odds")


def test_invalid_opt_file_error_names_the_file(model_file: Path, tmp_path: Path) -> None:
    broken = options_changed(model_file, tmp_path / "broken", lambda opt: None)
    broken.with_name("model.opt").write_text("[1, 2]")
    with pytest.raises(ModelFileError, match=r"model\.opt names no agent .*: train the model again$"):
        Endex(str(broken))


# --- the judge of each kind of model ---------------------------------------------------------------------------------


def test_engagement_judge_is_endex_only_for_red_models(model_file: Path, tmp_path: Path) -> None:
    judge = engagement_judge(str(model_file), "one", with_context=False, output="class")
    assert isinstance(judge, Endex)
    assert (judge.name, judge.with_context) == ("one", False)
    assert "|output:class|" in judge.signature
    rater = train_judge(tmp_path / "rater")
    judge = engagement_judge(str(rater), "other", output="class")
    assert isinstance(judge, AgentJudge)
    assert judge.name == "other"
    assert engagement_judge(str(rater)).name == "rater/model"
