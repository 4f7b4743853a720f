"""The base class of all judges, with a model that counts words, trained briefly on the samples."""

from __future__ import annotations

import json
import random
import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from parlai.core.agents import create_agent_from_shared
from parlai.core.loader import register_agent
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.teachers import create_task_agent_from_taskname
from parlai.scripts.train_model import TrainModel
from sample_models import evaluate, load, weights
from scipy import stats
from tiny_parts import observed
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from parlai_empathy.agent_kit.judging import judge
from parlai_empathy.agent_kit.judging.examples import TextPair, last_line
from parlai_empathy.agent_kit.judging.judge import JudgeAgent
from parlai_empathy.agent_kit.judging.replies import Choice, sampled_choices
from parlai_empathy.errors import DataError, ModelFileError, OptionError
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS

RATE, CHOOSE = "empathy:humod:Relevance", "empathy:humod:NextUtterance"
FEEL, ANSWER = "empathy:empathetic_dialogues:SituationEmotion", "empathy:humod:DiverseReplies"


BUCKETS = 64  # hash buckets for words


class Counts(nn.Module):
    def __init__(self, hidden: int, outputs: int) -> None:
        super().__init__()
        self.body = nn.Linear(BUCKETS + 2, hidden)
        self.unused = nn.Linear(1, 1)  # as in some encoders
        self.head = nn.Linear(hidden, outputs)

    def forward(self, counts: Tensor) -> Tensor:
        logits: Tensor = self.head(nn.functional.dropout(self.features(counts), 0.1, self.training))
        return logits

    def features(self, counts: Tensor) -> Tensor:
        return torch.tanh(self.body(counts))


@register_agent("counting_judge")
class CountingJudge(JudgeAgent):
    """Judges by a reply's words, the number of turns before it, and the number of words shared with them."""

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        super().add_cmdline_args(parser, partial_opt)
        parser.add_argument("--hidden-size", type=int, default=8)
        return parser

    def build_model(self) -> nn.Module:
        return Counts(self.opt["hidden_size"], self.outputs)

    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        return (torch.tensor([counts(pair) for pair in pairs]),)


def counts(pair: TextPair) -> list[float]:
    before, words = {word for turn in pair.turns for word in turn.split()}, pair.reply.split()
    buckets = [zlib.crc32(word.encode()) % BUCKETS for word in words]
    return [float(buckets.count(n)) for n in range(BUCKETS)] + [len(pair.turns) / 10, len(before & set(words)) / 10]


TINY: dict[str, Any] = {"model": "counting_judge", "edition": "sample", "precision": "float32", "loglevel": "error"}


def train(model_file: Path, task: str = RATE, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    options = {**TINY, "task": task, "num_epochs": 2, "learningrate": 0.1, "batchsize": 8, "seed": 7, **changes}
    return TrainModel.main(**options, model_file=str(model_file))  # type: ignore[no-any-return]


def messages(task: str, fold: str = "test") -> list[dict[str, Any]]:
    """Return the task's messages from its teacher, with their lines split."""
    opt = ParlaiParser(True, False).parse_args(["--task", task, "--datatype", fold])
    (teacher,) = create_task_agent_from_taskname(Opt({**opt, "edition": "sample"}))
    given = [teacher.act() for _ in range(teacher.num_examples())]
    return [{**message, "lines": message["text"].split("\n")} for message in given]


def same(one: dict[str, Tensor], other: dict[str, Tensor], part: str = "") -> bool:
    return all(torch.equal(one[name], other[name]) for name in one if name.startswith(part))


def talk(agent: Any, texts: list[str]) -> list[str]:
    """Return the answers of one conversation with history."""
    answers = []
    for text in texts:
        agent.observe(Message({"text": text, "episode_done": False}))
        answers.append(agent.act().get("text"))
    return answers


@pytest.fixture(scope="module")
def rater(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a judge that rates from 1 to 5."""
    path = tmp_path_factory.mktemp("rater") / "model"
    train(path)
    return path


@pytest.fixture(scope="module")
def placer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a judge with a single output, a position on the scale."""
    path = tmp_path_factory.mktemp("placer") / "model"
    train(path, loss="mse")
    return path


@pytest.fixture(scope="module")
def chooser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a judge that tells true replies from others."""
    path = tmp_path_factory.mktemp("chooser") / "model"
    train(path, CHOOSE)
    return path


@pytest.fixture(scope="module")
def feeler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a classifier of emotions."""
    path = tmp_path_factory.mktemp("feeler") / "model"
    train(path, FEEL)
    return path


# --- training --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "loss"), [(RATE, "ce"), (RATE, "mse"), (CHOOSE, "ce"), (CHOOSE, "nnpu"), (FEEL, "ce")]
)
def test_training_lowers_the_loss(tmp_path: Path, task: str, loss: str) -> None:
    train(tmp_path / "model", task, loss=loss, num_epochs=12, log_every_n_steps=5)
    reports = json.loads((tmp_path / "model.trainstats").read_text())["train_reports"]
    losses = [report["loss"] for report in reports]
    assert np.mean(losses[-3:]) < np.mean(losses[:2]) - 0.01


def test_classes_come_from_the_task(rater: Path, feeler: Path, chooser: Path) -> None:
    assert load(rater).classes == ["1", "2", "3", "4", "5"]
    assert load(feeler).classes == list(EMOTIONS)
    assert load(chooser).classes is None
    assert [load(path).outputs for path in (rater, feeler, chooser)] == [5, 32, 1]


def test_classes_option_sets_class_order(tmp_path: Path) -> None:
    train(tmp_path / "model", FEEL, classes=list(reversed(EMOTIONS)), num_epochs=1)
    assert load(tmp_path / "model").classes == list(reversed(EMOTIONS))


def test_trained_classes_cannot_be_reordered(rater: Path) -> None:
    """The outputs would stay in their order, and each score would be that of another class."""
    assert load(rater, classes=list("12345")).classes == list("12345")
    with pytest.raises(OptionError, match=rf"^--classes 5 4 3 2 1: {rater} was trained with 1 2 3 4 5; leave"):
        load(rater, classes=list("54321"))


def test_label_outside_classes_raises_data_error(tmp_path: Path, rater: Path) -> None:
    with pytest.raises(DataError, match=r"^the label '[a-z]+' is not one of this judge's classes \(sad, glad\)"):
        train(tmp_path / "model", FEEL, classes=["sad", "glad"])
    with pytest.raises(DataError, match=r"is not one of this judge's classes \(1, 2, 3, 4, 5\): check --task and"):
        evaluate(rater, CHOOSE)


def test_training_is_reproducible_with_the_same_seed(tmp_path: Path, chooser: Path) -> None:
    train(tmp_path / "again", CHOOSE)
    train(tmp_path / "other", CHOOSE, seed=8)
    assert same(weights(chooser), weights(tmp_path / "again"))
    assert not same(weights(chooser), weights(tmp_path / "other"))


def test_resumed_training_continues_updates_optimizer_and_schedule(tmp_path: Path) -> None:
    """The remaining checkpoint is from before the end, as after a killed run."""
    train(tmp_path / "model", num_epochs=2, lr_scheduler="invsqrt", optimizer="adam")
    first = json.loads((tmp_path / "model.checkpoint.trainstats").read_text())
    states = torch.load(tmp_path / "model.checkpoint", weights_only=False)
    train(tmp_path / "model", num_epochs=4, lr_scheduler="invsqrt", optimizer="adam", init_model="is/gone")
    stats = json.loads((tmp_path / "model.trainstats").read_text())
    updates = [report["total_train_updates"] for report in stats["valid_reports"]]
    assert updates[: len(first["valid_reports"])] == [r["total_train_updates"] for r in first["valid_reports"]]
    assert updates == sorted(updates)
    assert stats["total_epochs"] >= 4 > first["total_epochs"] > 0
    after = torch.load(tmp_path / "model.checkpoint", weights_only=False)
    steps = [next(iter(each["optimizer"]["state"].values()))["step"] for each in (states, after)]
    assert steps[1] > steps[0] > 0, "the optimizer goes on as well"
    rates = [each["lr_scheduler"]["_last_lr"][0] for each in (states, after)]
    assert rates[1] < rates[0], "and so does the rate, which falls"


@pytest.mark.parametrize(
    ("task", "metric", "best"), [(RATE, "loss", min), (RATE, "pearson", max), (CHOOSE, "hits@1", max)]
)
def test_best_validation_value_follows_direction_of_metric(tmp_path: Path, task: str, metric: str, best: Any) -> None:
    """And no value of the metric ends training early."""
    train(tmp_path / "model", task, validation_metric=metric, num_epochs=5, learningrate=0.5)
    stats = json.loads((tmp_path / "model.trainstats").read_text())
    values = [report[metric] for report in stats["valid_reports"]]
    assert len(values) >= 4
    assert stats["best_valid"] == best(values)
    assert len(set(values)) > 1


def test_rerunning_finished_training_changes_nothing(tmp_path: Path) -> None:
    train(tmp_path / "model")
    before = weights(tmp_path / "model")
    train(tmp_path / "model")
    assert same(before, weights(tmp_path / "model"))


@pytest.mark.usefixtures("process_group")
def test_distributed_training_saves_unwrapped_weights(tmp_path: Path, rater: Path) -> None:
    """Unused parameters must not cause an error; a single process is wrapped here as each of several is."""
    train(tmp_path / "model", dict_file=f"{rater}.dict")
    agent = load(tmp_path / "model")
    assert isinstance(agent.model, DistributedDataParallel)
    assert set(weights(tmp_path / "model")) == set(Counts(8, 5).state_dict()), "saved without the wrapper's names"


# --- rating ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rater", "placer"])
def test_rating_metrics_match_direct_computation(name: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(name)
    report, agent, rated = evaluate(path, RATE), load(path), messages(RATE)
    scores = agent.score_pairs([m["lines"][:-1] for m in rated], [m["lines"][-1] for m in rated])
    ratings = [m["rating_mean"] for m in rated]
    assert float(report["pearson"]) == pytest.approx(stats.pearsonr(scores, ratings)[0])
    assert float(report["spearman"]) == pytest.approx(stats.spearmanr(scores, ratings)[0])
    assert f"n:{len(rated)}|split:test" in report["pearson"].signature
    if name == "placer":  # the loss is the squared error, and the answer the class nearest to the score
        assert float(report["loss"]) == pytest.approx(np.mean((scores - ratings) ** 2), rel=1e-5)
        right = [float(min("12345", key=lambda star: abs(float(star) - s))) == float(m["eval_labels"][0])
                 for s, m in zip(scores, rated, strict=True)]  # fmt: skip
        assert float(report["accuracy"]) == pytest.approx(np.mean(right))


@pytest.mark.parametrize("batchsize", [1, 32])
def test_ratings_on_another_scale_give_correlation_but_no_loss(rater: Path, batchsize: int) -> None:
    """Alone in a batch, a message whose label happens to be a class must not be taken for one on the judge's scale."""
    # rated 0 to 2; this judge's classes are 1 to 5
    report = evaluate(rater, "empathy:engagement:Fed", batchsize=batchsize)
    assert -1 <= float(report["pearson"]) <= 1
    assert "loss" not in report


def test_batched_scores_equal_single_scores(rater: Path) -> None:
    agent = load(rater)
    contexts = [["word " * (number % 7)] * (number % 4) for number in range(600)]
    replies = ["reply " * (number % 11) + str(number) for number in range(600)]
    scores = agent.score_pairs(contexts, replies)
    assert scores.shape == (600,)
    assert scores.dtype == np.float64
    for number in range(0, 600, 37):
        assert agent.score_pairs([contexts[number]], [replies[number]])[0] == pytest.approx(scores[number], abs=1e-6)
    assert len(set(scores.round(6))) > 10, "they differ, so that a wrong order would show"


def test_score_pairs_matches_scores_of_logits(rater: Path, placer: Path, chooser: Path) -> None:
    pair = TextPair(("how are you",), "how is that")
    for path, low, high in ((rater, 1, 5), (placer, 1, 5), (chooser, 0, 1)):
        agent = load(path)
        agent.model.eval()
        with torch.no_grad():
            expected = agent.scores(agent.logits([pair]))[0].item()
        (score,) = agent.score_pairs([[" how are you ", " "]], ["how is that\n"])
        assert score == pytest.approx(expected)
        assert low < score < high


def test_empty_contexts_and_replies_have_finite_scores(rater: Path, chooser: Path) -> None:
    for path in (rater, chooser):
        assert np.isfinite(load(path).score_pairs([[], ["", " "], ["hello"]], ["hello", "", ""])).all()
        assert load(path).score_pairs([], []).shape == (0,)


def test_score_of_non_numeric_classes_raises_option_error(feeler: Path) -> None:
    with pytest.raises(OptionError, match="are not numbers: it gives no score"):
        load(feeler).score_pairs([["a"]], ["b"])
    assert "pearson" not in evaluate(feeler, FEEL)


# --- probabilities and features for other models ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rater", "feeler"])
def test_class_probabilities_are_softmax_of_logits(name: str, request: pytest.FixtureRequest) -> None:
    agent = load(request.getfixturevalue(name))
    contexts = [["word " * (number % 7)] * (number % 4) for number in range(300)]
    replies = ["reply " * (number % 11) + str(number) for number in range(300)]
    probabilities = agent.class_probabilities(contexts, replies)
    assert probabilities.shape == (300, len(agent.classes))
    assert probabilities.dtype == np.float64
    assert np.abs(probabilities.sum(axis=1) - 1).max() < 1e-12
    for number in (0, 7, 299):
        pair = TextPair(tuple(turn.strip() for turn in contexts[number] if turn.strip()), replies[number].strip())
        with torch.no_grad():  # class_probabilities has set evaluation mode
            logits = agent.logits([pair])[0].double().numpy()
        assert probabilities[number] == pytest.approx(np.exp(logits) / np.exp(logits).sum(), abs=1e-6)
    assert len(set(probabilities[:, 0].round(6))) > 10, "they differ, so that a wrong order would show"


def test_unavailable_class_probabilities_raise_option_error(placer: Path, chooser: Path) -> None:
    with pytest.raises(OptionError, match="trained with --loss mse: it gives scores, not probabilities"):
        load(placer).class_probabilities([[]], ["a"])
    with pytest.raises(OptionError, match="it has no classes, and gives no class probabilities"):
        load(chooser).class_probabilities([[]], ["a"])


@pytest.mark.parametrize("name", ["rater", "placer", "chooser", "feeler"])
def test_features_are_inputs_of_the_head(name: str, request: pytest.FixtureRequest) -> None:
    agent = load(request.getfixturevalue(name))
    contexts = [["word " * (number % 7)] * (number % 4) for number in range(300)]
    replies = ["reply " * (number % 11) + str(number) for number in range(300)]
    agent.model.train()  # as between training steps
    features = agent.features(contexts, replies)
    assert features.shape == (300, agent.feature_size)
    assert agent.feature_size == 8
    assert not features.requires_grad
    pairs = [TextPair(tuple(turn.strip() for turn in turns if turn.strip()), reply.strip())
             for turns, reply in zip(contexts, replies, strict=True)]  # fmt: skip
    with torch.no_grad():
        assert torch.allclose(agent.model.head(features), agent.logits(pairs), atol=1e-5)
    assert torch.equal(features, agent.features(contexts, replies))


def test_replies_are_drawn_anew_in_each_step(chooser: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = load(chooser, datatype="train", seed=3)
    drawn: list[float] = []

    def draw(messages: Sequence[Any], negatives: int, draw: random.Random) -> list[Choice]:
        drawn.append(draw.random())
        return sampled_choices(messages, negatives, draw)

    monkeypatch.setattr(judge, "sampled_choices", draw)
    for _ in range(3):
        agent.batch_act(observed(agent, {"text": "How?", "labels": ["So."], "label_candidates": ["So.", "No."]}))
    assert len(set(drawn)) == 3


def test_training_after_an_evaluation_drops_again(feeler: Path) -> None:
    agent = load(feeler, datatype="train")
    agent.class_probabilities([[]], ["a"])
    assert not agent.model.training
    agent.batch_act(observed(agent, {"text": "I won!", "labels": ["joyful"]}))
    assert agent.model.training


def test_empty_input_gives_empty_features_and_probabilities(feeler: Path) -> None:
    agent = load(feeler)
    assert agent.features([], []).shape == (0, 8)
    assert agent.class_probabilities([], []).shape == (0, 32)


# --- choosing --------------------------------------------------------------------------------------------------------


def test_ranking_metrics_match_direct_computation(chooser: Path) -> None:
    report, agent = evaluate(chooser, CHOOSE), load(chooser)
    hits, losses = [], []
    for message in messages(CHOOSE):
        first, second = agent.score_pairs([message["lines"]] * 2, message["label_candidates"])
        is_first = message["label_candidates"][0] in message["eval_labels"]
        hits.append(first >= second if is_first else second > first)  # on ties the first candidate is chosen
        losses.append(-np.log([first, 1 - second] if is_first else [1 - first, second]).mean())
    assert float(report["hits@1"]) == pytest.approx(np.mean(hits))
    assert float(report["loss"]) == pytest.approx(np.mean(losses), rel=1e-5)
    assert 0 < np.mean(hits) < 1


def test_reply_ranking_scores_are_correlated_with_ratings(chooser: Path) -> None:
    report, agent, rated = evaluate(chooser, RATE), load(chooser), messages(RATE)
    scores = agent.score_pairs([m["lines"][:-1] for m in rated], [m["lines"][-1] for m in rated])
    assert float(report["spearman"]) == pytest.approx(stats.spearmanr(scores, [m["rating_mean"] for m in rated])[0])


def test_training_works_on_task_without_candidates(tmp_path: Path) -> None:
    _, report = train(tmp_path / "model", ANSWER, num_epochs=1)
    assert float(report["loss"]) > 0
    assert load(tmp_path / "model").classes is None


def test_missing_candidates_are_replaced_by_batch_replies(chooser: Path) -> None:
    report, agent = evaluate(chooser, ANSWER, batchsize=2), load(chooser)
    asked, hits = messages(ANSWER), []
    for place in range(0, len(asked) - len(asked) % 2, 2):
        for one, other in ((place, place + 1), (place + 1, place)):
            true, wrong = asked[one]["eval_labels"], asked[other]["eval_labels"][0]
            scores = agent.score_pairs([asked[one]["lines"]] * 2, [true[0], wrong])
            hits.append(scores[0] >= scores[1] or wrong in true)
    if len(asked) % 2 == 0:
        assert float(report["hits@1"]) == pytest.approx(np.mean(hits))
    assert 0 < float(report["hits@1"]) < 1


def test_single_candidate_gives_no_accuracy(chooser: Path) -> None:
    report = evaluate(chooser, ANSWER, batchsize=1)
    assert "hits@1" not in report
    assert "accuracy" not in report
    assert float(report["loss"]) > 0


@pytest.mark.parametrize(("name", "task"), [("rater", RATE), ("chooser", CHOOSE), ("feeler", FEEL)])
def test_metrics_do_not_depend_on_batch_size(name: str, task: str, request: pytest.FixtureRequest) -> None:
    reports = [evaluate(request.getfixturevalue(name), task, batchsize=size) for size in (1, 64)]
    for key in {"loss", "accuracy", "pearson", "hits@1"} & set(reports[0]):
        assert float(reports[0][key]) == pytest.approx(float(reports[1][key]), rel=1e-4)


def test_nnpu_loss_does_not_depend_on_the_batch_size(tmp_path: Path) -> None:
    train(tmp_path / "model", CHOOSE, loss="nnpu", prior=0.97)  # the second term is clipped in some batches
    one, three, whole = (float(evaluate(tmp_path / "model", CHOOSE, batchsize=size)["loss"]) for size in (1, 3, 64))
    assert one == pytest.approx(whole, abs=1e-6)
    assert three == pytest.approx(whole, abs=1e-6)


# --- initialising, saving and sharing --------------------------------------------------------------------------------


def test_init_model_weights_are_used_except_for_mismatched_head(tmp_path: Path, chooser: Path) -> None:
    still = {"learningrate": 1e-12, "max_train_steps": 1, "init_model": str(chooser)}
    train(tmp_path / "stars", RATE, **still)
    train(tmp_path / "place", RATE, **still, loss="mse")
    before, stars, place = weights(chooser), weights(tmp_path / "stars"), weights(tmp_path / "place")
    assert same(before, stars, "body")
    assert stars["head.weight"].shape == (5, 8)
    assert same(before, place), "one number comes out of both: the head stays"


def test_head_is_new_if_init_model_learnt_the_same_classes_with_another_loss(tmp_path: Path, placer: Path) -> None:
    train(tmp_path / "stars", RATE, learningrate=1e-12, max_train_steps=1, init_model=str(placer))
    assert same(weights(placer), weights(tmp_path / "stars"), "body")
    assert weights(tmp_path / "stars")["head.weight"].shape == (5, 8)


def test_classes_of_init_model_may_have_another_order(tmp_path: Path, feeler: Path) -> None:
    first, *others = load(feeler).classes
    turned = [*others, first]  # unlike reversing, turning in the wrong direction gives another order
    still = {"learningrate": 1e-12, "max_train_steps": 1, "init_model": str(feeler)}
    train(tmp_path / "model", FEEL, **still, classes=turned)
    agent = load(tmp_path / "model")
    assert agent.classes == turned
    mine, theirs = (each.class_probabilities([[]], ["i am so happy"]) for each in (agent, load(feeler)))
    np.testing.assert_allclose(np.roll(mine, 1, axis=1), theirs, rtol=1e-5)


def test_head_of_other_classes_is_new_even_if_they_are_as_many(tmp_path: Path, feeler: Path) -> None:
    theirs = Opt.load(f"{feeler}.opt")
    for ending in ("", ".dict"):
        shutil.copy(f"{feeler}{ending}", tmp_path / f"other{ending}")
    Opt({**theirs, "classes": ["nostalgic", *theirs["classes"][1:]]}).save(str(tmp_path / "other.opt"))
    still = {"learningrate": 1e-12, "max_train_steps": 1}
    train(tmp_path / "model", FEEL, **still, init_model=str(tmp_path / "other"))
    train(tmp_path / "fresh", FEEL, **still)
    model, fresh = weights(tmp_path / "model"), weights(tmp_path / "fresh")
    assert same(weights(feeler), model, "body")
    assert same(fresh, model, "head")


def test_dictionary_comes_from_init_model(tmp_path: Path, feeler: Path) -> None:
    """By then ParlAI has built a dictionary from the new task beside the model."""
    train(tmp_path / "model", RATE, init_model=str(feeler), max_train_steps=1)
    assert (tmp_path / "model.dict").read_text() == Path(f"{feeler}.dict").read_text()
    assert load(tmp_path / "model").dict.tok2ind == load(feeler).dict.tok2ind


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"hidden_size": 4}, "is another kind of model: body.bias does not fit"),
        ({"init_model": "no/where"}, r"--init-model no/where: there is no such file"),
    ],
)
def test_unusable_init_model_raises_model_file_error(
    tmp_path: Path, chooser: Path, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ModelFileError, match=f"{reason}$"):
        train(tmp_path / "model", RATE, **{"init_model": str(chooser), **changes})


def test_saved_judge_gives_the_same_scores(tmp_path: Path, rater: Path) -> None:
    agent = load(rater)
    agent.save(str(tmp_path / "copy"))
    pairs = ([["how are you"]], ["how is that"])
    assert load(tmp_path / "copy").score_pairs(*pairs) == agent.score_pairs(*pairs)


def test_copies_share_the_model(rater: Path) -> None:
    agent = load(rater)
    copy = create_agent_from_shared(agent.share())
    assert copy.model is agent.model
    assert copy.optimizer is agent.optimizer
    assert copy.classes == agent.classes
    for each in (agent, copy):
        each.observe(Message({"text": "how are you\nfine", "episode_done": True}))
    assert copy.act()["text"] == agent.act()["text"]


def test_truncated_model_raises_model_file_error(tmp_path: Path, rater: Path) -> None:
    for suffix in ("", ".opt", ".dict"):
        (tmp_path / f"model{suffix}").write_bytes(Path(f"{rater}{suffix}").read_bytes())
    (tmp_path / "model").write_bytes(rater.read_bytes()[:100])
    with pytest.raises(ModelFileError, match="is cut off or damaged"):
        load(tmp_path / "model")


# --- chat ------------------------------------------------------------------------------------------------------------


def test_chat_answer_is_class_with_score_or_probability(rater: Path, placer: Path, chooser: Path, feeler: Path) -> None:
    """Answers are the class with its score or probability; for replies, the probability only."""
    texts = ["how are you", "how is that"]
    for path in (rater, placer):
        agent = load(path, interactive_mode=True)
        answer = talk(agent, texts)[-1]
        score = agent.score_pairs([texts[:1]], texts[1:])[0]
        assert answer[:1] in "12345"
        assert answer[1:] == f" ({score:.2f})"
    agent = load(chooser, interactive_mode=True)
    assert talk(agent, texts) == [f"{score:.3f}" for score in agent.score_pairs([[], texts[:1]], texts)]
    agent = load(feeler, interactive_mode=True)
    agent.model.eval()
    with torch.no_grad():
        probabilities = agent.logits([last_line(texts[:1])]).softmax(dim=1)[0]
    best = int(probabilities.argmax())
    assert talk(agent, texts[:1]) == [f"{EMOTIONS[best]} ({probabilities[best]:.2f})"]


def test_candidates_are_returned_in_chat(chooser: Path) -> None:
    agent = load(chooser, interactive_mode=True)
    agent.observe(Message({"text": "how are you", "label_candidates": ["fine", "how is that"], "episode_done": False}))
    assert sorted(agent.act()["text_candidates"]) == ["fine", "how is that"]


def test_judge_answers_are_not_added_to_history(rater: Path) -> None:
    agent = load(rater, interactive_mode=True)
    talk(agent, ["hello", "hi"])
    assert agent.observe(Message({"text": "bye", "episode_done": False}))["lines"] == ["hello", "hi", "bye"]


def test_true_replies_are_added_to_history_but_ratings_are_not(chooser: Path, rater: Path) -> None:
    for path, label, expected in ((chooser, "hi", ["hello", "hi", "and you?"]), (rater, "5", ["hello", "and you?"])):
        agent = load(path)
        agent.observe(Message({"text": "hello", "eval_labels": [label], "episode_done": False}))
        agent.act()
        last = Message({"text": "and you?", "eval_labels": [label], "episode_done": True})
        assert agent.observe(last)["lines"] == expected
        agent.act()
        assert agent.observe(Message({"text": "new", "episode_done": True}))["lines"] == ["new"]


def test_use_reply_option_adds_the_true_reply_once(chooser: Path) -> None:
    agent = load(chooser, use_reply="label")
    agent.observe(Message({"text": "hello", "eval_labels": ["hi"], "episode_done": False}))
    agent.act()
    assert agent.observe(Message({"text": "and you?", "episode_done": True}))["lines"] == ["hello", "hi", "and you?"]


@pytest.mark.parametrize("text", ["", "  \n "])
def test_empty_message_gets_no_answer(rater: Path, chooser: Path, text: str) -> None:
    for path in (rater, chooser):
        assert talk(load(path, interactive_mode=True), [text]) == [None]


@pytest.mark.parametrize(
    "message", [{"text": ""}, {"text": " \n"}, {"text": None}, {}]
)  # the last: the end of the input
def test_empty_message_within_a_chat_does_not_repeat_the_last_answer(
    rater: Path, chooser: Path, message: dict[str, Any]
) -> None:
    for path in (rater, chooser):
        agent = load(path, interactive_mode=True)
        assert None not in talk(agent, ["how are you", "fine"])
        agent.observe(Message({**message, "episode_done": False}))
        assert agent.act().get("text") is None
        assert None not in talk(agent, ["and you?"])


def test_empty_message_within_a_conversation_has_its_candidates_ranked(chooser: Path) -> None:
    agent = load(chooser)
    agent.observe(Message({"text": "how are you", "episode_done": False}))
    agent.observe(Message({"text": "", "label_candidates": ["fine", "it rains"], "episode_done": True}))
    assert sorted(agent.act()["text_candidates"]) == ["fine", "it rains"]


def test_empty_message_in_batch_leaves_others_answered(rater: Path) -> None:
    agent = load(rater)
    copies = [create_agent_from_shared(agent.share()) for _ in range(3)]
    texts = ["how are you\nfine", "", "hello"]
    seen = [copy.observe(Message({"text": t, "episode_done": True})) for copy, t in zip(copies, texts, strict=True)]
    answers = [answer.get("text") for answer in agent.batch_act(seen)]
    assert answers[1] is None
    assert None not in (answers[0], answers[2])


STRANGE = ["x" * 100_000, "word " * 20_000, "a\n" * 5_000, "\x00\x07\x7f", "\U0001f622 \u202e\u2028"]


@pytest.mark.parametrize("message", STRANGE)
def test_unusual_messages_get_an_answer(rater: Path, message: str) -> None:
    assert talk(load(rater, interactive_mode=True), [message])[0] is not None
