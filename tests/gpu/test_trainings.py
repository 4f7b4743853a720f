"""Every agent trains, is evaluated and resumes training on a GPU as on the CPU."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.scripts.train_model import TrainModel
from pretended_gpu import is_pretended
from sample_models import evaluate
from tiny_generators import write_language_model
from tiny_judge import write_bert
from tiny_parts import SIZES, train_base, train_classifier

STEPS = 4
BRIEF: dict[str, Any] = {
    "task": "empathy:empathetic_dialogues",
    "edition": "sample",
    "batchsize": 16,
    "max_train_steps": STEPS,
    "seed": 7,
    "precision": "float32",
    "loglevel": "error",
}
WORDS = {**SIZES, "dropout": 0.0}
FEW = {"validation_max_exs": 24, "short_final_eval": True}  # few examples: generation is slow
EMOTION = {"task": "empathy:empathetic_dialogues:SituationEmotion"}
RELEVANCE = {"task": "empathy:humod:Relevance"}
# A name in braces is a key of `parts`: the model on which the agent is built.
TRAININGS: dict[str, dict[str, Any]] = {
    "retrieval": {"model": "empathy:retrieval", **WORDS},
    "retrieval, of Hugging Face": {
        "model": "empathy:retrieval",
        "encoder": "hf",
        "hf_model": "{bert}",
        "gradient_cache": 4,
        "hard_negatives": 1,
    },
    "rerank": {"model": "empathy:rerank", "hf_model": "{bert}", "retriever": "{retrieval}", "rerank_top": 4},
    "prepend": {"model": "empathy:prepend", "classifier": "{classifier}", "prepend_k": 3, **WORDS},
    "multitask": {"model": "empathy:multitask", **WORDS},
    "ensemble": {"model": "empathy:ensemble", "base_model": "{retrieval}", "classifier": "{classifier}"},
    "generative": {"model": "empathy:generative", **WORDS, **FEW},
    "generative, T5": {"model": "empathy:generative", "hf_model": "{t5}", "hf_kind": "seq2seq", **FEW},
    "generative, GPT-2": {"model": "empathy:generative", "hf_model": "{gpt2}", "hf_kind": "causal", **FEW},
    "prepend/generative": {
        "model": "empathy:prepend/generative",
        "classifier": "{classifier}",
        "init_model": "{generative}",
        **WORDS,
        **FEW,
    },
    "multitask/generative": {"model": "empathy:multitask/generative", **WORDS, **FEW},
    "ensemble/generative": {
        "model": "empathy:ensemble/generative",
        "base_model": "{generative}",
        "classifier": "{classifier}",
        **FEW,
    },
    "fasttext": {"model": "empathy:fasttext", "embedding_size": 8, "buckets": 100, **EMOTION},
    "deepmoji": {"model": "empathy:deepmoji", "embedding_size": 8, "hidden_size": 6, **EMOTION},
    "text_classifier": {"model": "empathy:text_classifier", "hf_model": "{bert}", **EMOTION},
    "text_classifier, with context": {"model": "empathy:text_classifier", "hf_model": "{bert}", **RELEVANCE},
    "epitome": {"model": "empathy:epitome", "hf_model": "{bert}", "task": "empathy:epitome"},
    "han": {"model": "empathy:han", "embedding_size": 8, "hidden_size": 6, **RELEVANCE},
    "predictive_engagement": {
        "model": "empathy:predictive_engagement",
        "hf_model": "{bert}",
        "hidden_sizes": [8, 4],
        "task": "empathy:engagement:ConvAI",
    },
}


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The paths of models on which others are built."""
    folder = tmp_path_factory.mktemp("parts")
    torch.manual_seed(0)
    made = {
        "bert": write_bert(folder / "bert"),
        "t5": write_language_model("t5", folder / "t5"),
        "gpt2": write_language_model("gpt2", folder / "gpt2"),
        "retrieval": train_base(folder / "retrieval"),
        "generative": train_base(folder / "generative", "empathy:generative"),
        "classifier": train_classifier(folder / "classifier", num_epochs=5),
    }
    return {name: str(path) for name, path in made.items()}


def train(model_file: Path, name: str, parts: dict[str, str], **changes: Any) -> dict[str, float]:
    """Train, and return the metrics of the test fold."""
    options = {**BRIEF, **TRAININGS[name], **changes}
    named = {key: value.format(**parts) if isinstance(value, str) else value for key, value in options.items()}
    return measured(TrainModel.main(**named, model_file=str(model_file))[1])


# Speed, memory, and distinct n-grams: the replies of barely trained models depend on the last digits of scores.
ELSEWHERE = re.compile(r"[a-z]+ps|gpu_mem|dist_\d")


def measured(report: dict[str, Any]) -> dict[str, float]:
    """Return the metrics that are the same on every device."""
    return {name: float(value) for name, value in report.items() if not ELSEWHERE.fullmatch(name)}


@dataclass(frozen=True)
class Trained:
    """A model trained on a GPU."""

    name: str
    model_file: Path
    report: dict[str, float]  # of the test fold


@pytest.fixture(scope="module", params=list(TRAININGS))
def trained(request: pytest.FixtureRequest, parts: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Trained:
    model_file = tmp_path_factory.mktemp("trained") / "model"
    return Trained(request.param, model_file, train(model_file, request.param, parts))


def test_training_and_evaluation_match_cpu(trained: Trained, parts: dict[str, str], tmp_path: Path) -> None:
    if not is_pretended():
        pytest.skip("a GPU's dropout draws other numbers")
    here = train(tmp_path / "model", trained.name, parts, no_cuda=True)
    assert trained.report == pytest.approx(here, rel=1e-3, abs=1e-4)


def test_auto_precision_result_is_close_to_float32(trained: Trained, parts: dict[str, str], tmp_path: Path) -> None:
    short = train(tmp_path / "model", trained.name, parts, precision="auto")
    measure = next(name for name in ("mean_loss", "loss", "mrr") if name in short)
    assert short[measure] == pytest.approx(trained.report[measure], rel=0.05)


def test_gpu_trained_model_evaluates_the_same_on_cpu(trained: Trained) -> None:
    recipe = {**BRIEF, **TRAININGS[trained.name]}
    most = recipe.get("validation_max_exs", -1)
    there, here = (
        measured(evaluate(trained.model_file, recipe["task"], num_examples=most, no_cuda=no_cuda))
        for no_cuda in (False, True)
    )
    assert there == pytest.approx(here, rel=1e-3, abs=1e-4)


def test_training_resumes_from_checkpoint(trained: Trained, parts: dict[str, str]) -> None:
    train(trained.model_file, trained.name, parts, max_train_steps=STEPS + 2)
    reports = json.loads(Path(f"{trained.model_file}.trainstats").read_text())["valid_reports"]
    assert [reports[0]["total_train_updates"], reports[-1]["total_train_updates"]] == [STEPS, STEPS + 2]
