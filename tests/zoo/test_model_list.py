"""The zoo's list: ParlAI finds every model and accepts every training command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from parlai.core.build_data import modelzoo_path
from parlai.scripts.train_model import TrainModel

import parlai_empathy
from parlai_empathy.agent_kit.judging.frozen_classifier import PART as CLASSIFIER
from parlai_empathy.agent_kit.trained.frozen import FrozenPart
from parlai_empathy.agents.ensemble.ensemble import BASE as RETRIEVAL_BASE
from parlai_empathy.agents.rerank.rerank import RETRIEVER
from parlai_empathy.errors import ModelFileError
from parlai_empathy.reports.leaderboards.ed_figures import PUBLISHED
from parlai_empathy.zoo.model import ZooModel
from parlai_empathy.zoo.model_list import MODELS

AGENTS = Path(parlai_empathy.__file__).parent / "agents"
TRAINED = {name: model for name, model in MODELS.items() if model.recipe is not None}
DOWNLOADED = {name: model for name, model in MODELS.items() if model.recipe is None}


@pytest.fixture(autouse=True)
def _no_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR", raising=False)


def parsed(model: ZooModel) -> dict[str, object]:
    return dict(TrainModel.setup_args().parse_args(shlex.split(model.recipe or "")))


def agent_of(model: ZooModel) -> str:
    """Return the folder of the recipe's agent, with its base if it has one."""
    match = re.search(r"-m empathy:(\S+)", model.recipe or "")
    assert match
    return match[1]


def test_model_names_match_their_keys_and_are_identifiers() -> None:
    assert {name: model.name for name, model in MODELS.items()} == {name: name for name in MODELS}
    assert all(name.isidentifier() for name in MODELS)


def test_recipes_cover_the_expected_agents() -> None:
    agents = {agent_of(model) for model in TRAINED.values()}
    parts = {"prepend", "multitask", "ensemble"}
    bases = {"retrieval", "rerank", "generative", "fasttext", "deepmoji", "text_classifier", "epitome"}
    assert agents == bases | parts | {f"{part}/generative" for part in parts}


@pytest.mark.parametrize("model", TRAINED.values(), ids=TRAINED.keys())
def test_trainable_model_is_found_only_after_training(model: ZooModel, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=f"^{model.path} has no public download; train it with `"):
        modelzoo_path(str(tmp_path), model.path)
    trained = tmp_path / "models" / "empathy" / model.name / "model"
    trained.parent.mkdir(parents=True)
    trained.touch()
    assert modelzoo_path(str(tmp_path), f"zoo:empathy/{model.name}/model") == str(trained)


@pytest.mark.parametrize("model", DOWNLOADED.values(), ids=DOWNLOADED.keys())
def test_downloadable_model_has_https_url_and_is_found_once_present(model: ZooModel, tmp_path: Path) -> None:
    assert (model.url or "").startswith("https://")
    there = tmp_path / "models" / "empathy" / model.name / model.file
    there.parent.mkdir(parents=True)
    there.touch()
    assert modelzoo_path(str(tmp_path), model.path) == str(there)


@pytest.mark.parametrize("model", TRAINED.values(), ids=TRAINED.keys())
def test_recipe_is_a_valid_train_model_command(model: ZooModel) -> None:
    folder, *base = agent_of(model).split("/")
    if not (AGENTS / folder / f"{[folder, *base][-1]}.py").is_file():
        pytest.skip(f"there is no agent {agent_of(model)} yet")
    opt = parsed(model)  # ParlAI rejects unknown options
    assert opt["model"] == f"empathy:{agent_of(model)}"
    assert str(opt["task"]).startswith("empathy:")
    assert opt["seed"] is not None  # without a seed the model cannot be reproduced
    assert opt.get("model_file") is None  # chosen by the user who trains it


@pytest.mark.parametrize("model", TRAINED.values(), ids=TRAINED.keys())
def test_models_required_by_a_recipe_are_in_the_zoo(model: ZooModel) -> None:
    assert set(re.findall(r"zoo:\S+", model.recipe or "")) <= {other.path for other in MODELS.values()} - {model.path}


@pytest.mark.parametrize("part", [CLASSIFIER, RETRIEVAL_BASE, RETRIEVER], ids=lambda part: part.option)
def test_files_include_the_copies_of_other_models(part: FrozenPart) -> None:
    """Without them, a model from a mirror could not be loaded."""
    built_on_it = [model for model in TRAINED.values() if f" {part.flag} " in (model.recipe or "")]
    assert built_on_it
    for model in built_on_it:
        name = parsed(model)[part.option]
        (other,) = (other for other in MODELS.values() if other.path == name)
        copied = {f"{part.copy_of(model.file)}{ending}" for ending in ("", *other.companions) if ending != ".pool"}
        assert copied <= set(model.source.files), model.name


def test_paper_recipe_uses_paper_preset_both_roles_and_full_edition() -> None:
    opt = parsed(MODELS["retrieval_paper"])
    assert opt["preset"] == "paper"
    assert opt["task"] == "empathy:empathetic_dialogues:BothRoles"  # the paper trains on both roles' turns
    assert opt["edition"] == "full"


def pretraining_of(model: ZooModel) -> str:
    """What the model that a recipe starts from, or keeps a copy of, was trained on; empty if it starts from nothing."""
    if "BERT" in model.title:
        return "books and Wikipedia"
    recipe = model.recipe or ""
    if re.search("--encoder hf|-m empathy:(rerank|epitome|text_classifier)", recipe):  # MiniLM or MPNet
        return "over a billion pairs of texts, most of them from Reddit"
    if re.search("published_deepmoji|/deepmoji_", recipe):
        return "tweets"
    return "20 Newsgroups" if "fasttext_topic" in recipe else ""


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_data_include_those_of_the_pretrained_model(model: ZooModel) -> None:
    """Each card says what else its model knows."""
    assert model.data.startswith(pretraining_of(model))


def test_paper_figures_match_the_leaderboard() -> None:
    """The paper's figures are in two lists, which must agree."""
    columns = {"P@1,100": "p_at_1", "PPL": "ppl", "AVG BLEU": "avg_bleu"}
    columns["emotion accuracy from the situation"] = "emotion_situation"
    known = {(column, value) for one in PUBLISHED for column, value in one.values.items()}
    expected = {(columns[name], value) for model in MODELS.values() for name, value in model.paper.items()}
    assert expected
    assert expected <= known


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_titles_and_remarks_are_single_lines(model: ZooModel) -> None:
    assert model.title
    assert "\n" not in model.title + model.remark + model.data
