"""Trained agents as judges: a tiny trained one, and files that are not judges."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parlai.core.agents import create_agent
from parlai.scripts.train_model import TrainModel
from tiny_judge import train_judge

from parlai_empathy import __version__
from parlai_empathy.errors import ModelFileError, NotComputableError, OptionError
from parlai_empathy.modules.fingerprint import weights_fingerprint
from parlai_empathy.scoring.agent_judge import AgentJudge

CONTEXTS = [["how are you?"], ["my dog died", "oh no"], ["hello", "hi", "what is new?"]]
REPLIES = ["fine, thanks", "so sorry to hear that", "not much"]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a judge that rates replies from 1 to 5."""
    return train_judge(tmp_path_factory.mktemp("judge"))


@pytest.fixture
def judge(model_file: Path) -> AgentJudge:
    return AgentJudge(str(model_file), "mine")


# --- a trained judge -------------------------------------------------------------------------------------------------


def test_scores_match_the_agent(judge: AgentJudge, model_file: Path) -> None:
    scores = judge.score(CONTEXTS, REPLIES)
    assert (scores.shape, scores.dtype) == ((3,), np.float64)
    assert ((scores > 1) & (scores < 5)).all(), "on the scale of the ratings"
    agent = create_agent({"model_file": str(model_file), "override": {}})
    assert scores.tolist() == agent.score_pairs(CONTEXTS, REPLIES).tolist()


def test_scores_do_not_depend_on_order_or_batching(judge: AgentJudge) -> None:
    together = judge.score(CONTEXTS, REPLIES)
    for order in ([0], [1], [2], [2, 0, 1], [0, 0, 1, 2] * 200):  # the last order takes several batches
        again = judge.score([CONTEXTS[place] for place in order], [REPLIES[place] for place in order])
        assert again == pytest.approx(together[order], abs=1e-5)


def test_references_are_ignored(judge: AgentJudge) -> None:
    references = [["a"], ["b", "c"], []]
    assert judge.score(CONTEXTS, REPLIES, references).tolist() == judge.score(CONTEXTS, REPLIES).tolist()


@pytest.mark.parametrize(
    ("contexts", "replies", "message"),
    [
        ([], [], "no list of replies"),
        (CONTEXTS, REPLIES[:2], "3 x context for 2 replies"),
        (["hi", "ho"], REPLIES[:2], "item 0, counted from 0: the context is one text"),
    ],
)
def test_mismatched_lists_raise(judge: AgentJudge, contexts: Any, replies: list[str], message: str) -> None:
    with pytest.raises(NotComputableError, match=f"^{message}"):
        judge.score(contexts, replies)


def test_signature_names_agent_task_loss_and_weights(judge: AgentJudge) -> None:
    weights = weights_fingerprint(judge._agent.model)[:8]
    assert judge.signature == (
        f"mine|agent:text_classifier|trained:empathy:humod:Relevance|loss:ce|weights:{weights}|version:{__version__}"
    )


def test_next_utterance_judge_scores_are_probabilities(tmp_path: Path) -> None:
    scores = AgentJudge(str(train_judge(tmp_path, task="empathy:humod:NextUtterance"))).score(CONTEXTS, REPLIES)
    assert ((scores > 0) & (scores < 1)).all()


def test_default_name_is_folder_and_file(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(model_file.parent)
    assert AgentJudge("model").name == "model"
    assert AgentJudge(str(model_file)).name == f"{model_file.parent.name}/model"
    monkeypatch.setenv("HOME", str(model_file.parent))
    assert AgentJudge("~/model", "at home").name == "at home"


def test_zoo_model_path_is_resolved(model_file: Path, tmp_path: Path) -> None:
    name = "zoo:empathy/text_classifier_emotion/model"
    shutil.copytree(model_file.parent, tmp_path / "models" / "empathy" / "text_classifier_emotion")
    found = AgentJudge(name, "mine", str(tmp_path)).score(CONTEXTS, REPLIES)
    assert found == pytest.approx(AgentJudge(str(model_file)).score(CONTEXTS, REPLIES))


# --- files that are not judges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", [[], ["model"], ["model.opt"]])
def test_missing_model_error_names_the_model(tmp_path: Path, there: list[str]) -> None:
    for name in there:
        (tmp_path / name).write_text("{}")
    with pytest.raises(ModelFileError) as error:
        AgentJudge(str(tmp_path / "model"))
    assert str(error.value) == f"{tmp_path}/model is not a trained model: model and model.opt must exist"


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_folder_as_model_file_raises(name: str) -> None:
    with pytest.raises(ModelFileError, match="is a folder: name the model in it, such as "):
        AgentJudge(name)


def test_invalid_opt_file_error_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "model").touch()
    (tmp_path / "model.opt").write_bytes(b"{")
    with pytest.raises(ModelFileError, match=rf"^{tmp_path}/model\.opt names no agent \(JSONDecodeError: "):
        AgentJudge(str(tmp_path / "model"))


def test_unknown_agent_error_names_the_file_and_the_agent(tmp_path: Path) -> None:
    (tmp_path / "model").touch()
    (tmp_path / "model.opt").write_text('{"model": "empathy:nobody"}')
    with pytest.raises(ModelFileError, match=r"/model\.opt names no agent \(empathy:nobody: there is no such agent; "):
        AgentJudge(str(tmp_path / "model"))


@pytest.mark.parametrize("content", [b"", b"no weights", "another model's"])
def test_broken_weights_error_names_the_model(model_file: Path, tmp_path: Path, content: Any) -> None:
    for path in model_file.parent.glob("model*"):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / path.name)
    if isinstance(content, bytes):
        (tmp_path / "model").write_bytes(content)
    else:
        opt = json.loads((tmp_path / "model.opt").read_text())
        (tmp_path / "model.opt").write_text(json.dumps({**opt, "classes": ["1", "2"]}))
    with pytest.raises(ModelFileError) as error:
        AgentJudge(str(tmp_path / "model"))
    assert str(tmp_path / "model") in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_incomplete_opt_file_error_names_the_model(model_file: Path, tmp_path: Path) -> None:
    shutil.copy(model_file, tmp_path)
    (tmp_path / "model.opt").write_text('{"model": "empathy:text_classifier"}')
    with pytest.raises(
        ModelFileError, match=rf"^{tmp_path}/model cannot be loaded \(\w+: .*\): train it again, or name"
    ):
        AgentJudge(str(tmp_path / "model"))


def test_reply_agents_are_rejected_before_loading(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"whatever this is, nobody looks")
    for model in ("repeat_label", "transformer/generator"):
        (tmp_path / "model.opt").write_text(json.dumps({"model": model}))
        with pytest.raises(OptionError) as error:
            AgentJudge(str(tmp_path / "model"))
        assert str(error.value) == (
            f"{tmp_path}/model: {model} does not score replies: name a model of an agent that does, such "
            "as empathy:text_classifier"
        )


def test_trained_retrieval_agent_is_rejected(tmp_path: Path) -> None:
    sizes = {"embedding_size": 16, "n_heads": 2, "n_layers": 1, "ffn_size": 16}
    TrainModel.main(
        task="empathy:empathetic_dialogues",
        edition="sample",
        model="empathy:retrieval",
        model_file=str(tmp_path / "model"),
        max_train_steps=1,
        loglevel="error",
        **sizes,
    )
    with pytest.raises(OptionError, match=r"/model: empathy:retrieval does not score replies: name a model"):
        AgentJudge(str(tmp_path / "model"))


def test_judge_with_non_numeric_classes_is_rejected(tmp_path: Path) -> None:
    model = train_judge(tmp_path, task="empathy:empathetic_dialogues:SituationEmotion")
    with pytest.raises(
        OptionError, match=r"are not numbers.*: name a model that was trained on ratings or on replies$"
    ) as e:
        AgentJudge(str(model))
    assert str(e.value).startswith(f"{model}: ")
