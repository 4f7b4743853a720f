"""The hierarchical attention network in ParlAI: briefly trained on the samples, then queried.

What judges have in common is tested with a smaller model in test_judge.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from parlai.core.agents import create_agent
from parlai.core.opt import Opt
from parlai.scripts.train_model import TrainModel
from sample_models import check_copy, evaluate, load, weights
from two_processes import check_gradients_are_averaged

from parlai_empathy.agent_kit.judging.examples import TextPair
from parlai_empathy.errors import ModelFileError, OptionError

RATE, CHOOSE = "empathy:humod:Relevance", "empathy:humod:NextUtterance"
FEEL = "empathy:empathetic_dialogues:SituationEmotion"
CONTEXTS = [["Who is it for?", "They did not say."], [], ["hello"], ["so " * 200, "did you see it?"]]
REPLIES = ["I don't like it.", "A text that stands alone", "", "yes"]


def train(model_file: Path, task: str, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    options = {
        "task": task,
        "edition": "sample",
        "model": "empathy:han",
        "embedding_size": 8,
        "hidden_size": 6,
        "max_train_steps": 3,
        "seed": 5,
        "loglevel": "error",
        **changes,
    }
    return TrainModel.main(**options, model_file=str(model_file))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def chooser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that distinguishes true replies from others."""
    path = tmp_path_factory.mktemp("chooser") / "model"
    train(path, CHOOSE)
    return path


@pytest.fixture(scope="module")
def rater(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that rates replies from 1 to 5."""
    path = tmp_path_factory.mktemp("rater") / "model"
    train(path, RATE)
    return path


# --- training --------------------------------------------------------------------------------------------------------


def test_default_option_values() -> None:
    opt = TrainModel.setup_args().parse_args(["-t", "empathy:humod:Relevance", "-m", "empathy:han"])
    expected = {
        "embedding_size": 50,  # these two are the paper's
        "hidden_size": 100,
        "dict_lower": True,
        "optimizer": "adam",
        "learningrate": 1e-3,
        "lr_scheduler": "none",
        "precision": "float32",
        "loss": "ce",
        "max_turns": 10,
        "max_words": 100,
    }
    assert {name: opt[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("task", "loss", "reported"),
    [
        (FEEL, "ce", {"accuracy"}),
        (RATE, "mse", {"accuracy", "pearson", "spearman"}),
        (CHOOSE, "nnpu", {"hits@1"}),
    ],
)
def test_training_lowers_loss_on_each_task_type(tmp_path: Path, task: str, loss: str, reported: set[str]) -> None:
    learning = {"loss": loss, "learningrate": 0.02, "dropout": 0.0, "validation_every_n_epochs": -1}
    train(tmp_path / "new", task, **learning, max_train_steps=1)
    _, test = train(tmp_path / "model", task, **learning, max_train_steps=40)
    before, after = (evaluate(tmp_path / name, task, datatype="train:evalmode") for name in ("new", "model"))
    assert float(after["loss"]) < float(before["loss"]) - 0.01
    assert reported | {"loss"} <= set(test)


def test_same_seed_gives_same_weights(tmp_path: Path, chooser: Path) -> None:
    train(tmp_path / "again", CHOOSE)
    train(tmp_path / "other", CHOOSE, seed=6)
    first, again, other = weights(chooser), weights(tmp_path / "again"), weights(tmp_path / "other")
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_training_resumes_from_checkpoint(tmp_path: Path) -> None:
    train(tmp_path / "model", CHOOSE, max_train_steps=6)
    before = torch.load(tmp_path / "model.checkpoint", weights_only=True)
    train(tmp_path / "model", CHOOSE, max_train_steps=12)
    after = torch.load(tmp_path / "model.checkpoint", weights_only=True)
    assert after["number_training_updates"] > before["number_training_updates"] > 0
    assert json.loads((tmp_path / "model.trainstats").read_text())["train_steps"] >= 12
    assert not torch.equal(after["model"]["head.weight"], before["model"]["head.weight"])


@pytest.mark.parametrize("task", [RATE, FEEL])
def test_two_processes_average_their_gradients(tmp_path: Path, task: str) -> None:
    """Situations have no context: its layers are not used there, and must not be waited for."""
    train(tmp_path / "model", task)
    check_gradients_are_averaged(tmp_path / "model", tmp_path)


def test_dictionary_of_another_agent_raises_model_file_error(tmp_path: Path) -> None:
    (tmp_path / "model.dict").write_text('["</s>", 3]\n["i", 2]\n')
    with pytest.raises(ModelFileError, match=r"model\.dict is the dictionary of another kind of agent: delete it"):
        train(tmp_path / "model", RATE)


# --- words -----------------------------------------------------------------------------------------------------------


def test_vectors_file_is_only_needed_for_initialisation(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("the " + " ".join(["0.5"] * 8) + "\n")
    train(tmp_path / "model", CHOOSE, vectors_file=str(vectors), learningrate=1e-9, max_train_steps=1)
    dictionary = load(tmp_path / "model").dict
    embedding = weights(tmp_path / "model")["embedding.weight"]
    assert torch.allclose(embedding[dictionary["the"]], torch.tensor(0.5))
    assert embedding[dictionary["__unk__"]].abs().max() < 1e-6, "a word that training never met says nothing"
    vectors.unlink()
    assert load(tmp_path / "model").score_pairs(CONTEXTS, REPLIES).shape == (4,), "it is not asked for again"


def test_vectors_of_wrong_size_raise_model_file_error(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("the 0.5 0.5\n")
    with pytest.raises(ModelFileError, match=r"vectors\.txt, line 1: 2 numbers, but --embedding-size is 8"):
        train(tmp_path / "model", CHOOSE, vectors_file=str(tmp_path / "vectors.txt"))


def test_scores_ignore_case(chooser: Path) -> None:
    agent = load(chooser)
    assert agent.score_pairs([["WHO is it FOR?"]], ["Me."]) == agent.score_pairs([["who is it for?"]], ["me."])


def words(agent: Any, turns: list[str], reply: str) -> tuple[list[list[int]], list[int]]:
    """Return the model's input ids for a pair, without padding."""
    context, replies = agent.model_inputs([TextPair(tuple(turns), reply)])
    kept = [[index for index in turn if index != agent.NULL_IDX] for turn in context[0].tolist()]
    return kept, [index for index in replies[0].tolist() if index != agent.NULL_IDX]


def test_newest_turns_and_first_words_are_kept(chooser: Path) -> None:
    agent = load(chooser, max_turns=2, max_words=3)
    ids = {word: agent.dict[word] for word in ("i", "you", "is", "it")}
    assert len(set(ids.values())) == 4, "they are words of the sample"
    assert words(agent, ["it", "i you is it", "you"], "it is you i") == (
        [[ids["i"], ids["you"], ids["is"]], [ids["you"]]],
        [ids["it"], ids["is"], ids["you"]],
    )


def test_unknown_words_and_typed_padding_map_to_the_unknown_token(chooser: Path) -> None:
    agent = load(chooser)
    unknown = agent.dict["__unk__"]
    assert words(agent, ["qqqq __null__ i"], "__null__") == ([[unknown, unknown, agent.dict["i"]]], [unknown])


def test_turns_without_words_are_left_out(chooser: Path) -> None:
    agent = load(chooser)
    i, you, it = (agent.dict[word] for word in ("i", "you", "it"))
    assert words(agent, ["i", " ", "you"], "it") == ([[i], [you]], [it])


def test_empty_context_and_reply_have_no_words(chooser: Path) -> None:
    assert words(load(chooser), [], "") == ([[]], [])


# --- a trained model -------------------------------------------------------------------------------------------------


def test_pair_gets_the_same_score_alone_and_in_a_batch(rater: Path, chooser: Path) -> None:
    for path, low, high in ((rater, 1, 5), (chooser, 0, 1)):
        agent = load(path)
        together = agent.score_pairs(CONTEXTS * 80, REPLIES * 80)
        assert ((together > low) & (together < high)).all()
        for context, reply, score in zip(CONTEXTS, REPLIES, together, strict=False):
            assert agent.score_pairs([context], [reply])[0] == pytest.approx(score, abs=1e-6)
        assert len(set(together[:4].round(6))) == 4


def test_a_saved_model_gives_the_same_scores(tmp_path: Path, rater: Path) -> None:
    agent = load(rater)
    agent.save(str(tmp_path / "copy"))
    assert (
        load(tmp_path / "copy").score_pairs(CONTEXTS, REPLIES).tolist() == agent.score_pairs(CONTEXTS, REPLIES).tolist()
    )


def test_shared_copy_gives_the_same_answer(rater: Path) -> None:
    check_copy(rater, "who is it for?\nme")


def test_init_model_of_another_task_gets_a_new_head(tmp_path: Path, chooser: Path) -> None:
    """With its own dictionary, whatever the words of the new task."""
    train(tmp_path / "model", RATE, init_model=str(chooser), max_train_steps=1, learningrate=1e-12)
    before, after = weights(chooser), weights(tmp_path / "model")
    assert all(torch.allclose(before[name], after[name]) for name in before if not name.startswith("head."))
    assert (len(before["head.bias"]), len(after["head.bias"])) == (1, 5)
    assert load(tmp_path / "model").dict.tok2ind == load(chooser).dict.tok2ind


def test_bfloat16_scores_are_close_to_float32(rater: Path) -> None:
    scores = load(rater).score_pairs(CONTEXTS, REPLIES)
    short = load(rater, precision="bfloat16").score_pairs(CONTEXTS, REPLIES)
    assert np.abs(scores - short).max() < 0.1


STRANGE = ["x" * 50_000, "word " * 20_000, "a\n" * 5_000, "\x00\x07", "\U0001f622 \u202e\u2028", "__null__"]


@pytest.mark.parametrize("text", STRANGE)
def test_unusual_messages_get_a_rating(rater: Path, text: str) -> None:
    assert load(rater, interactive_mode=True).respond(text)[0] in "12345"


def test_class_probabilities_are_softmax_of_head_on_features(rater: Path) -> None:
    agent = load(rater)
    features = agent.features(CONTEXTS, REPLIES)
    assert features.shape == (4, agent.feature_size)
    assert agent.feature_size == 4 * 6
    expected = agent.model.head(features).double().softmax(dim=1).detach().numpy()
    assert np.abs(agent.class_probabilities(CONTEXTS, REPLIES) - expected).max() < 1e-6


# --- what cannot work ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"embedding_size": 0}, "--embedding-size 0: must be at least 1"),
        ({"hidden_size": 0}, "--hidden-size 0: must be at least 1"),
        ({"max_words": 0}, "--max-words 0: must be at least 1"),
        ({"max_turns": -1}, "--max-turns -1: must be at least 1"),
        ({"dropout": 1.5}, "--dropout 1.5: must lie between 0 and 1"),
    ],
)
def test_invalid_options_raise_option_error(rater: Path, changes: dict[str, Any], expected: str) -> None:
    new = {"model_file": None, "dict_file": f"{rater}.dict", "override": {}}
    opt = Opt({**Opt.load(f"{rater}.opt"), **new, **changes})
    with pytest.raises(OptionError) as caught:
        create_agent(opt)
    assert str(caught.value) == expected


def test_weights_not_matching_options_raise_model_file_error(rater: Path) -> None:
    with pytest.raises(ModelFileError, match="does not fit its options"):
        load(rater, hidden_size=7)
