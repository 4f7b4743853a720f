"""Predictive Engagement in ParlAI: briefly trained on the sample of ConvAI, then queried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from parlai.core.message import Message
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel
from processes import parlai_command, succeeded
from sample_models import load, weights
from sklearn.metrics import f1_score
from tiny_generators import write_language_model
from tiny_parts import observed
from two_processes import check_gradients_are_averaged

from parlai_empathy.agent_kit.judging.examples import TextPair
from parlai_empathy.agents.predictive_engagement.predictive_engagement import balanced_weights
from parlai_empathy.errors import ModelFileError, OptionError, TrainingError
from parlai_empathy.scoring.agent_judge import AgentJudge

TASK, FINETUNE = "empathy:engagement:ConvAI", "empathy:engagement:DailyDialogFinetune"
CONTEXTS = [["hello", "how are you"], [], ["what a day!"]]
REPLIES = ["fine", "a text that stands alone", ""]


def train(model_file: Path, bert: Path, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    options = {
        "task": TASK,
        "edition": "sample",
        "model": "empathy:predictive_engagement",
        "hf_model": str(bert),
        "hidden_sizes": [8, 4],
        "dropout": 0.1,
        "max_train_steps": 4,
        "seed": 3,
        "loglevel": "error",
        **changes,
    }
    return TrainModel.main(**options, model_file=str(model_file))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory, bert: Path) -> Path:
    path = tmp_path_factory.mktemp("engagement") / "model"
    train(path, bert)
    return path


def options(*arguments: str) -> Any:
    command = ["-t", TASK, "-m", "empathy:predictive_engagement", *arguments]
    return TrainModel.setup_args().parse_args(command)


# --- options ---------------------------------------------------------------------------------------------------------


def test_paper_preset_matches_the_authors_code() -> None:
    opt = options("--preset", "paper")
    expected = {
        "hf_model": "bert-base-uncased",
        "layer": -2,
        "pooling": "mean",
        "max_tokens": 128,
        "hidden_sizes": [64, 32, 8],
        "dropout": 0.8,
        "optimizer": "adam",
        "learningrate": 1e-3,
        "weight_decay": 1e-3,
        "batchsize": 100,
        "num_epochs": 400.0,
        "validation_patience": 50,
        "balance": True,
    }
    assert {name: opt[name] for name in expected} == expected
    default = options()
    assert {name for name in expected if default[name] != expected[name]} == {"hf_model", "layer"}
    assert default["hf_model"].endswith("MiniLM-L6-v2")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layer": 0}, r"^--layer 0: layers are counted from the end: -1 is the last one$"),
        ({"layer": -2}, r"^--layer -2: \S+bert has 1 layers$"),
        ({"hidden_sizes": [8, 0]}, r"^--hidden-sizes 8 0: name at least one layer, each of at least 1 unit$"),
        ({"dropout": 1.0}, r"^--dropout 1\.0: must be at least 0 and below 1$"),
        ({"max_tokens": 3}, r"^--max-tokens 3: must be at least 4$"),
        ({"max_tokens": 129}, r"^--max-tokens 129: \S+bert takes at most 128$"),
        ({"task": "empathy:humod:NextUtterance"}, r"predicts classes, and this task has none: train it on one such"),
        ({"loss": "nnpu"}, r"^--loss nnpu: the task must have replies"),
    ],
)
def test_invalid_options_raise_option_error(tmp_path: Path, bert: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message) as caught:
        train(tmp_path / "model", bert, **changes)
    assert "\n" not in str(caught.value)


def test_encoder_decoder_raises_option_error(tmp_path: Path) -> None:
    bart = write_language_model("bart", tmp_path / "bart")
    with pytest.raises(OptionError, match=rf"^--hf-model {bart}: its layers are not one stack: name an encoder such"):
        train(tmp_path / "model", bart, max_tokens=20)


# --- learning --------------------------------------------------------------------------------------------------------


def test_training_lowers_loss_with_frozen_encoder(tmp_path: Path, bert: Path) -> None:
    learning = {"learningrate": 0.05, "validation_every_n_epochs": -1, "hidden_sizes": [16], "dropout": 0.0}
    train(tmp_path / "new", bert, **learning, max_train_steps=1)
    train(tmp_path / "model", bert, **learning, max_train_steps=60)
    settings = {"task": TASK, "edition": "sample", "datatype": "train:evalmode", "loglevel": "error"}
    before, after = (EvalModel.main(model_file=str(tmp_path / name), **settings) for name in ("new", "model"))
    assert float(after["loss"]) < float(before["loss"]) - 0.02
    first, last = weights(tmp_path / "new"), weights(tmp_path / "model")
    assert all(torch.equal(first[name], last[name]) for name in first if name.startswith("reader."))
    assert not torch.equal(first["head.weight"], last["head.weight"])


def test_same_seed_gives_same_weights(tmp_path: Path, bert: Path, model_file: Path) -> None:
    train(tmp_path / "again", bert)
    train(tmp_path / "other", bert, seed=4)
    first, again, other = weights(model_file), weights(tmp_path / "again"), weights(tmp_path / "other")
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["head.weight"], other["head.weight"])


def test_init_model_can_be_fine_tuned_on_another_task(tmp_path: Path, bert: Path, model_file: Path) -> None:
    train(tmp_path / "tuned", bert, task=FINETUNE, init_model=str(model_file), hf_model="nowhere", learningrate=0.01)
    assert load(tmp_path / "tuned").score_pairs(CONTEXTS, REPLIES).shape == (3,)
    assert not torch.equal(weights(tmp_path / "tuned")["head.weight"], weights(model_file)["head.weight"])


def test_query_comes_from_init_model(tmp_path: Path, bert: Path) -> None:
    train(tmp_path / "model", bert, query="all", max_train_steps=1)
    train(tmp_path / "tuned", bert, task=FINETUNE, init_model=str(tmp_path / "model"), max_train_steps=1)
    assert load(tmp_path / "tuned").opt["query"] == "all"


def test_balanced_weights_equalise_the_classes_of_a_batch() -> None:
    # One of four examples has the rare class: 4 / (2 * 1) = 2, and 4 / (2 * 3) for each of the others.
    assert balanced_weights(["1", "0", "0", "0"]).tolist() == pytest.approx([2, 2 / 3, 2 / 3, 2 / 3])
    assert balanced_weights(["1", "1"]).tolist() == [1, 1]


def test_balance_option_reweights_the_losses(model_file: Path) -> None:
    agent = load(model_file)
    messages = observed(agent, *({"text": f"a\n{text}", "labels": [label]} for text, label in ("x1", "y0", "z0")))
    agent.model.eval()
    losses = {}
    for balance in (True, False):
        agent.opt["balance"] = balance
        losses[balance] = agent._losses(messages).detach()
    assert (losses[True] / losses[False]).tolist() == pytest.approx([3 / 2, 3 / 4, 3 / 4])


def test_nonfinite_loss_raises_training_error(tmp_path: Path, bert: Path) -> None:
    with pytest.raises(TrainingError, match=r"loss"):
        train(tmp_path / "model", bert, learningrate=1e38, gradient_clip=0, max_train_steps=20)


def test_two_processes_average_their_gradients(tmp_path: Path, model_file: Path) -> None:
    check_gradients_are_averaged(model_file, tmp_path)


def test_two_process_training_produces_a_usable_model(tmp_path: Path, bert: Path) -> None:
    command = [
        *("multiprocessing_train", "-t", TASK, "--edition", "sample", "-m", "empathy:predictive_engagement"),
        *("--hf-model", str(bert), "--num-epochs", "2", "--seed", "1", "-mf", str(tmp_path / "model")),
    ]
    result = succeeded(parlai_command(*command, "--distributed-world-size", "2", cwd=tmp_path))
    assert "macro_f1" in result.stdout + result.stderr
    assert load(tmp_path / "model").score_pairs(CONTEXTS, REPLIES).shape == (3,)


# --- scores ----------------------------------------------------------------------------------------------------------


def test_score_is_the_probability_of_the_second_class(model_file: Path) -> None:
    agent = load(model_file)
    assert agent.classes == ["0", "1"]
    found = agent.score_pairs(CONTEXTS, REPLIES)
    assert found == pytest.approx(agent.class_probabilities(CONTEXTS, REPLIES)[:, 1])
    assert AgentJudge(str(model_file), "pe").score(CONTEXTS, REPLIES) == pytest.approx(found)
    one_by_one = [load(model_file).score_pairs([c], [r])[0] for c, r in zip(CONTEXTS, REPLIES, strict=True)]
    assert found == pytest.approx(np.array(one_by_one), abs=1e-6)


def test_query_option_selects_last_turn_or_whole_context(model_file: Path) -> None:
    agent = load(model_file)
    long, short, none = agent.score_pairs([["hello", "how are you"], ["how are you"], []], ["fine"] * 3)
    assert long == short != none
    every = load(model_file, query="all")
    long, short = every.score_pairs([["hello", "how are you"], ["how are you"]], ["fine"] * 2)
    assert long != short


def test_each_distinct_text_is_encoded_once(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = load(model_file)
    read: list[int] = []
    vectors = agent.model.reader.vectors

    def count(tokens: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        read.append(len(tokens))
        return vectors(tokens, *rest)  # type: ignore[no-any-return]

    monkeypatch.setattr(agent.model.reader, "vectors", count)
    pairs = [TextPair(("a",), "b"), TextPair(("b",), "a"), TextPair((), "c")]
    queries, replies = agent.model_inputs(pairs)
    assert torch.equal(queries[0], replies[1])
    assert torch.equal(queries[2], replies[2]), "a reply that answers nothing counts alone"
    agent.clone().model_inputs(pairs)
    assert read == [3]


def test_scores_do_not_depend_on_the_encoding_batch_size(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contexts, replies = [*CONTEXTS, ["x y z"]], [*REPLIES, "a b"]  # seven different texts
    expected = load(model_file).score_pairs(contexts, replies)
    monkeypatch.setattr("parlai_empathy.agents.predictive_engagement.predictive_engagement._READ_BATCH", 2)
    np.testing.assert_allclose(load(model_file).score_pairs(contexts, replies), expected, rtol=1e-5)


def test_max_tokens_keeps_the_start_of_long_texts(model_file: Path) -> None:
    pairs = [TextPair(("a b c d e f",), "x"), TextPair(("a b c d e z",), "x")]
    # With two special tokens, seven leave room for five letters and eight for six.
    (one, other), _ = load(model_file, max_tokens=7).model_inputs(pairs)
    assert torch.equal(one, other)
    (one, other), _ = load(model_file, max_tokens=8).model_inputs(pairs)
    assert not torch.equal(one, other)


def test_macro_f1_matches_scikit_learn(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = load(model_file)
    messages = observed(
        agent, *({"text": text, "eval_labels": [label]} for text, label in ("a1", "b0", "c1", "d0", "e0"))
    )
    monkeypatch.setattr(agent._scale.__class__, "chosen", lambda self, logits: ["1", "1", "0", "0", "0"])
    agent._judge(messages)
    expected = f1_score([1, 0, 1, 0, 0], [1, 1, 0, 0, 0], average="macro")
    assert float(agent.global_metrics.report()["macro_f1"].value()) == pytest.approx(expected)


def test_macro_f1_accepts_any_of_several_labels(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = load(model_file)
    labels = (["0", "1"], ["0", "1"], ["0"], ["1"])
    messages = observed(agent, *({"text": f"a\nb{place}", "eval_labels": each} for place, each in enumerate(labels)))
    monkeypatch.setattr(agent._scale.__class__, "chosen", lambda self, logits: ["1", "0", "1", "1"])
    agent._judge(messages)
    # Only the third is wrong. Class 0: 1 TP, 1 FN, F1 2/3; class 1: 2 TP, 1 FP, F1 4/5.
    assert float(agent.global_metrics.report()["macro_f1"].value()) == pytest.approx((2 / 3 + 4 / 5) / 2)


def test_ratings_on_another_scale_give_correlations_only(model_file: Path) -> None:
    report = EvalModel.main(
        model_file=str(model_file), task="empathy:engagement:Predeng600", edition="sample", datatype="test",
        loglevel="error",
    )  # fmt: skip
    assert {"pearson", "spearman"} <= set(report)
    assert not {"macro_f1", "loss"} & set(report)


def test_chat_reply_states_class_and_probability(model_file: Path) -> None:
    agent = load(model_file, interactive_mode=True)
    agent.observe(Message({"text": "hello", "episode_done": False}))
    label, score = agent.act()["text"].split()
    assert label in ("0", "1")
    assert 0 < float(score.strip("()")) < 1


def test_moved_model_works_without_the_pretrained_encoder(model_file: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    for file in model_file.parent.glob("model*"):
        (moved / file.name).symlink_to(file)
    agent = load(moved / "model", hf_model="nowhere")
    assert agent.score_pairs(CONTEXTS, REPLIES) == pytest.approx(load(model_file).score_pairs(CONTEXTS, REPLIES))


def test_damaged_model_file_raises_model_file_error(model_file: Path, tmp_path: Path) -> None:
    for file in model_file.parent.glob("model*"):
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "model").unlink()
    (tmp_path / "model").write_bytes(b"no model")
    with pytest.raises(ModelFileError, match="or no model file: fetch it again"):
        load(tmp_path / "model")
