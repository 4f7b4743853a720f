"""The classifier in ParlAI: a BERT with random weights, briefly trained on the samples, then queried.

What judges have in common is tested with a smaller model in test_judge.py.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from parlai.core.agents import create_agent
from parlai.core.opt import Opt
from parlai.scripts.train_model import TrainModel
from sample_models import check_copy, evaluate, load, weights

from parlai_empathy.errors import MissingDependencyError, ModelFileError, OptionError
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS

RATE, CHOOSE = "empathy:humod:Relevance", "empathy:humod:NextUtterance"
FEEL = "empathy:empathetic_dialogues:SituationEmotion"
CONTEXTS = [["how are you", "fine"], [], ["hello"], ["a " * 200, "did you see it?"]]
REPLIES = ["and you?", "a text that stands alone", "", "yes"]


def train(model_file: Path, bert: Path, task: str, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    options = {
        "task": task,
        "edition": "sample",
        "model": "empathy:text_classifier",
        "hf_model": str(bert),
        "precision": "float32",
        "max_train_steps": 4,
        "batchsize": 8,
        "seed": 3,
        "loglevel": "error",
        **changes,
    }
    return TrainModel.main(**options, model_file=str(model_file))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def chooser(tmp_path_factory: pytest.TempPathFactory, bert: Path) -> Path:
    """A model that distinguishes true replies from others."""
    path = tmp_path_factory.mktemp("chooser") / "model"
    train(path, bert, CHOOSE)
    return path


@pytest.fixture(scope="module")
def rater(tmp_path_factory: pytest.TempPathFactory, bert: Path) -> Path:
    """A model that rates replies from 1 to 5."""
    path = tmp_path_factory.mktemp("rater") / "model"
    train(path, bert, RATE)
    return path


# --- training --------------------------------------------------------------------------------------------------------


def test_preset_values_and_overrides() -> None:
    common = {"optimizer": "adamw", "learningrate": 5e-5, "lr_scheduler": "invsqrt", "warmup_updates": 100}
    minilm = "sentence-transformers/all-MiniLM-L6-v2"
    expected = {
        (): {**common, "hf_model": minilm, "pooling": "mean", "num_epochs": 4.0},
        # Xu et al. 2022: RoBERTa-large, 5e-5, two epochs
        ("--preset", "endex"): {**common, "hf_model": "roberta-large", "pooling": "first", "num_epochs": 2.0},
        # options override a preset, whether before or after it
        ("--pooling", "mean", "--preset", "endex", "--hf-model", "x"): {"pooling": "mean", "hf_model": "x"},
    }
    for arguments, values in expected.items():
        opt = TrainModel.setup_args().parse_args(["-t", RATE, "-m", "empathy:text_classifier", *arguments])
        assert {name: opt[name] for name in values} == values


def test_trained_model_keeps_its_preset(tmp_path: Path, bert: Path) -> None:
    train(tmp_path / "model", bert, FEEL, preset="endex", max_train_steps=1)
    agent = load(tmp_path / "model")
    assert (agent.opt["preset"], agent.opt["pooling"], agent.opt["hf_model"]) == ("endex", "first", str(bert))


@pytest.mark.parametrize(("task", "loss"), [(FEEL, "ce"), (RATE, "mse"), (CHOOSE, "ce"), (CHOOSE, "nnpu")])
def test_training_lowers_loss_on_each_task_type(tmp_path: Path, bert: Path, task: str, loss: str) -> None:
    learning = {"loss": loss, "batchsize": 16, "learningrate": 0.003, "lr_scheduler": "none", "warmup_updates": -1}
    train(tmp_path / "new", bert, task, **learning, max_train_steps=1)
    _, test = train(tmp_path / "model", bert, task, **learning, max_train_steps=50, validation_every_n_epochs=-1)
    before, after = (evaluate(tmp_path / name, task, datatype="train:evalmode") for name in ("new", "model"))
    assert float(after["loss"]) < 0.98 * float(before["loss"])
    expected = {FEEL: {"accuracy"}, RATE: {"accuracy", "pearson", "spearman"}, CHOOSE: {"hits@1"}}[task]
    assert expected | {"loss"} <= set(test)
    assert load(tmp_path / "model").classes == {FEEL: list(EMOTIONS), RATE: list("12345"), CHOOSE: None}[task]


def test_training_starts_from_the_encoder_weights(tmp_path: Path, bert: Path) -> None:
    train(tmp_path / "model", bert, RATE, max_train_steps=1, learningrate=1e-12)
    trained, pretrained = weights(tmp_path / "model"), transformers.BertModel.from_pretrained(bert).state_dict()
    assert all(torch.allclose(trained[f"encoder.{name}"], value, atol=1e-6) for name, value in pretrained.items())


def test_training_over_leftover_files_starts_from_the_encoder_weights(tmp_path: Path, bert: Path) -> None:
    """The model file was deleted, but not the folder beside it."""
    train(tmp_path / "model", bert, RATE, max_train_steps=1)
    for path in [*tmp_path.glob("model"), *tmp_path.glob("model.checkpoint*"), *tmp_path.glob("model.trainstats")]:
        path.unlink() if path.is_file() else shutil.rmtree(path)
    test_training_starts_from_the_encoder_weights(tmp_path, bert)


def test_same_seed_gives_same_weights(tmp_path: Path, bert: Path, rater: Path) -> None:
    train(tmp_path / "again", bert, RATE)
    train(tmp_path / "other", bert, RATE, seed=4)
    first, again, other = weights(rater), weights(tmp_path / "again"), weights(tmp_path / "other")
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_resumed_training_continues_the_rate_schedule(tmp_path: Path, bert: Path) -> None:
    """Its file contains NumPy scalars, with which the schedule computes."""
    train(tmp_path / "model", bert, RATE, max_train_steps=30)
    before = torch.load(tmp_path / "model.checkpoint", weights_only=False)
    assert isinstance(before["lr_scheduler"]["_last_lr"][0], np.floating)
    train(tmp_path / "model", bert, RATE, max_train_steps=60)
    after = torch.load(tmp_path / "model.checkpoint", weights_only=False)
    assert after["number_training_updates"] > before["number_training_updates"] > 20
    rates = [states["optimizer"]["param_groups"][0]["lr"] for states in (before, after)]
    assert rates == pytest.approx(
        [5e-5 * states["number_training_updates"] / 100 for states in (before, after)], rel=0.1
    )


def test_init_model_of_another_task_gets_a_new_head(tmp_path: Path, bert: Path, chooser: Path) -> None:
    """The encoder's configuration is beside the initial model, so its name, here a wrong one, is not used."""
    train(tmp_path / "model", Path("not/asked"), RATE, init_model=str(chooser), max_train_steps=1, learningrate=1e-12)
    before, after = weights(chooser), weights(tmp_path / "model")
    assert all(torch.allclose(before[name], after[name], atol=1e-6) for name in before if name.startswith("encoder."))
    assert (before["head.weight"].shape, after["head.weight"].shape) == ((1, 32), (5, 32))


# --- a trained model -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reading", "size"), [("together", 32), ("apart", 64)])
def test_class_probabilities_are_softmax_of_head_on_features(
    tmp_path: Path, bert: Path, reading: str, size: int
) -> None:
    train(tmp_path / "model", bert, RATE, max_train_steps=1, reading=reading)
    agent = load(tmp_path / "model")
    features = agent.features(CONTEXTS, REPLIES)
    assert features.shape == (4, agent.feature_size)
    assert agent.feature_size == size
    expected = agent.model.head(features).double().softmax(dim=1).detach().numpy()
    assert np.abs(agent.class_probabilities(CONTEXTS, REPLIES) - expected).max() < 1e-6


def test_emotions_can_be_classified_with_first_token_pooling(tmp_path: Path, bert: Path) -> None:
    train(tmp_path / "model", bert, FEEL, max_train_steps=2, pooling="first")
    agent = load(tmp_path / "model")
    assert agent.classes == list(EMOTIONS)
    assert agent.class_probabilities([[]], ["i won a prize"]).sum() == pytest.approx(1)


def test_moved_model_works_without_the_pretrained_encoder(tmp_path: Path, bert: Path) -> None:
    shutil.copytree(bert, tmp_path / "bert")
    train(tmp_path / "trained" / "model", tmp_path / "bert", CHOOSE)
    expected = load(tmp_path / "trained" / "model").score_pairs(CONTEXTS, REPLIES)
    shutil.rmtree(tmp_path / "bert")
    shutil.move(tmp_path / "trained", tmp_path / "moved")
    assert load(tmp_path / "moved" / "model").score_pairs(CONTEXTS, REPLIES).tolist() == expected.tolist()


def test_pair_gets_the_same_score_alone_and_in_a_batch(rater: Path, chooser: Path) -> None:
    for path, low, high in ((rater, 1, 5), (chooser, 0, 1)):
        agent = load(path)
        together = agent.score_pairs(CONTEXTS * 20, REPLIES * 20)
        assert ((together > low) & (together < high)).all()
        for context, reply, score in zip(CONTEXTS, REPLIES, together, strict=False):
            assert agent.score_pairs([context], [reply])[0] == pytest.approx(score, abs=1e-5)
        assert len(set(together[:4].round(5))) == 4


def test_long_context_loses_its_oldest_turns(chooser: Path) -> None:
    """The reply loses none of its words, however long the context is."""
    agent = load(chooser)
    old = [["word", "b " * 200], ["other", "b " * 200]]
    same = agent.score_pairs(old, ["yes"] * 2)
    assert same[0] == same[1]
    new = agent.score_pairs([["b " * 200, "one"], ["b " * 200, "two"]], ["yes"] * 2)
    assert new[0] != new[1]
    replies = agent.score_pairs([["b " * 200]] * 2, ["c " * 40 + "one", "c " * 40 + "two"])
    assert replies[0] != replies[1]


def test_turn_boundaries_affect_the_score(chooser: Path) -> None:
    one, two = load(chooser).score_pairs([["ab cd"], ["ab", "cd"]], ["yes"] * 2)
    assert one != two


def test_reading_apart_gives_consistent_scores_and_initial_weights(tmp_path: Path, bert: Path) -> None:
    """Has all features of reading them together; and each kind can be initialised from the other's encoder."""
    train(tmp_path / "model", bert, CHOOSE, reading="apart", negatives=3)
    agent = load(tmp_path / "model")
    together = agent.score_pairs(CONTEXTS * 20, REPLIES * 20)
    assert ((together > 0) & (together < 1)).all()
    for context, reply, score in zip(CONTEXTS, REPLIES, together, strict=False):
        assert agent.score_pairs([context], [reply])[0] == pytest.approx(score, abs=1e-5)
    train(tmp_path / "stars", bert, RATE, reading="apart", init_model=str(tmp_path / "model"), max_train_steps=1)
    assert load(tmp_path / "stars").classes == list("12345")
    train(tmp_path / "other", bert, CHOOSE, init_model=str(tmp_path / "model"), max_train_steps=1, learningrate=1e-12)
    before, after = weights(tmp_path / "model"), weights(tmp_path / "other")
    assert all(torch.allclose(before[name], after[name], atol=1e-6) for name in before if name.startswith("encoder."))
    assert (before["head.weight"].shape, after["head.weight"].shape) == ((1, 64), (1, 32))


def test_shared_copy_gives_the_same_answer(rater: Path) -> None:
    check_copy(rater, "how are you\nfine")


def test_bfloat16_scores_are_close_to_float32(rater: Path) -> None:
    scores = load(rater).score_pairs(CONTEXTS, REPLIES)
    short = load(rater, precision="bfloat16").score_pairs(CONTEXTS, REPLIES)
    assert np.abs(scores - short).max() < 0.1
    assert (scores != short).any()


def test_pooling_option_changes_the_scores(rater: Path) -> None:
    mean = load(rater).score_pairs(CONTEXTS, REPLIES)
    first = load(rater, pooling="first").score_pairs(CONTEXTS, REPLIES)
    assert (mean != first).all()


STRANGE = ["x" * 50_000, "word " * 20_000, "a\n" * 5_000, "[PAD] [SEP] [MASK]", "\U0001f622 \u202e\u2028"]


@pytest.mark.parametrize("text", STRANGE)
def test_unusual_messages_get_a_rating(rater: Path, text: str) -> None:
    answer = load(rater, interactive_mode=True).respond(text)
    assert answer[0] in "12345"


# --- what cannot work ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"pooling": "max"}, "--pooling max: must be one of mean, first"),
        ({"reading": "twice"}, "--reading twice: must be one of together, apart"),
        ({"max_tokens": 7}, "--max-tokens 7: must be at least 8"),
        ({"max_tokens": 129}, "takes at most 128"),
        ({"loss": "nnpu"}, "--loss nnpu: the task must have replies to rank"),
        ({"task": FEEL, "loss": "mse"}, "--loss mse: the task's classes must be numbers"),
        ({"task": f"{RATE},{CHOOSE}"}, "its tasks have different classes"),
        ({"precision": "float16"}, "--precision float16: must be one of"),
    ],
)
def test_invalid_options_raise_option_error(rater: Path, changes: dict[str, Any], expected: str) -> None:
    """As from an options file: on the command line, argparse would reject some of them earlier."""
    new = {"model_file": None, "dict_file": None, "classes": [], "classes_known": False, "override": {}}
    opt = Opt({**Opt.load(f"{rater}.opt"), **new, **changes})
    with pytest.raises(OptionError) as caught:
        create_agent(opt).score_pairs([[]], ["a"])
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_pretrained_encoder_raises_model_file_error(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"^--hf-model .*nowhere cannot be loaded"):
        train(tmp_path / "model", tmp_path / "nowhere", RATE)


def test_init_model_lacking_a_weight_raises_model_file_error(tmp_path: Path, bert: Path, chooser: Path) -> None:
    states = torch.load(chooser, weights_only=False)
    del states["model"]["encoder.embeddings.LayerNorm.bias"]
    torch.save(states, tmp_path / "other")
    with pytest.raises(
        ModelFileError, match=r"is another kind of model: encoder\.embeddings\.LayerNorm\.bias does not"
    ):
        train(tmp_path / "model", bert, RATE, init_model=str(tmp_path / "other"))


def test_missing_transformers_raises_missing_dependency_error(
    tmp_path: Path, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "parlai-empathy\[hf\]"$'):
        train(tmp_path / "model", bert, RATE)
