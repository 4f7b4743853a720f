"""DeepMoji through ParlAI: new, or fine-tuned from small files in the published layout.

What judges have in common is tested with a smaller model in test_judge.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from parlai.core.agents import create_agent
from parlai.core.opt import Opt
from parlai.scripts.train_model import TrainModel
from sample_models import check_copy, evaluate, load, weights
from tiny_torchmoji import HIDDEN, WORDS, torchmoji_state, write_torchmoji
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from parlai_empathy.agent_kit.judging.examples import TextPair
from parlai_empathy.agents.deepmoji.chain_thaw import LAYERS
from parlai_empathy.agents.deepmoji.deepmoji import DeepmojiAgent
from parlai_empathy.errors import ModelFileError, OptionError

RATE, CHOOSE = "empathy:humod:Relevance", "empathy:humod:NextUtterance"
FEEL, CONTEXT = "empathy:empathetic_dialogues:SituationEmotion", "empathy:empathetic_dialogues:ContextEmotion"
TINY: dict[str, Any] = {"embedding_size": 8, "hidden_size": 6}
QUIET: dict[str, Any] = {"edition": "sample", "loglevel": "error"}


def train(model_file: Path, task: str = FEEL, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    sizes = {} if "deepmoji_weights" in changes else TINY
    options = {**QUIET, **sizes, "task": task, "model": "empathy:deepmoji", "seed": 5, "max_train_steps": 3, **changes}
    return TrainModel.main(**options, model_file=str(model_file))  # type: ignore[no-any-return]


def changed(one: dict[str, Tensor], other: dict[str, Tensor]) -> set[str]:
    """Return the layers whose weights differ."""
    return {name.split(".")[0] for name in one if not torch.equal(one[name], other[name])}


@pytest.fixture(scope="module")
def feeler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model trained on emotions."""
    path = tmp_path_factory.mktemp("feeler") / "model"
    train(path)
    return path


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write files in the published layout."""
    return write_torchmoji(tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="module")
def fine_tuned(tmp_path_factory: pytest.TempPathFactory, published: Path) -> Path:
    """A model fine-tuned on emotions, from the published weights."""
    path = tmp_path_factory.mktemp("fine_tuned") / "model"
    train(path, deepmoji_weights=str(published), finetuning="full", max_train_steps=1)
    return path


# --- new -------------------------------------------------------------------------------------------------------------


def test_default_options_match_the_paper() -> None:
    opt = TrainModel.setup_args().parse_args(["-t", FEEL, "-m", "empathy:deepmoji"])
    expected = {
        "embedding_size": 256,
        "hidden_size": 512,
        "finetuning": "new",
        "optimizer": "adam",
        "learningrate": 1e-3,
        "pretrained_learningrate": 1e-4,
        "gradient_clip": 1.0,
        "embedding_l2": 1e-6,
        "embedding_dropout": 0.1,
        "dropout": 0.5,
        "extend_vocabulary": 10_000,
        "lr_scheduler": "none",
    }
    assert {name: opt[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("task", "loss", "reported"),
    [
        (FEEL, "ce", {"accuracy"}),
        (CONTEXT, "ce", {"accuracy"}),
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


def test_same_seed_gives_same_weights(tmp_path: Path, feeler: Path) -> None:
    train(tmp_path / "again")
    train(tmp_path / "other", seed=6)
    first, again, other = weights(feeler), weights(tmp_path / "again"), weights(tmp_path / "other")
    assert changed(first, again) == set()
    assert changed(first, other) == set(LAYERS)


def test_training_resumes_from_checkpoint(tmp_path: Path) -> None:
    train(tmp_path / "model", max_train_steps=12)
    before = torch.load(tmp_path / "model.checkpoint", weights_only=True)
    train(tmp_path / "model", max_train_steps=24)
    after = torch.load(tmp_path / "model.checkpoint", weights_only=True)
    assert after["number_training_updates"] > before["number_training_updates"] > 0
    steps = [next(iter(each["optimizer"]["state"].values()))["step"] for each in (before, after)]
    assert steps[1] > steps[0] > 0, "the optimizer goes on as well"


@pytest.mark.usefixtures("process_group")
@pytest.mark.parametrize("finetuning", ["new", "last"])
def test_ddp_training_works_with_and_without_frozen_layers(tmp_path: Path, feeler: Path, finetuning: str) -> None:
    """DistributedDataParallel must not wait for frozen layers; a single process is wrapped in it here."""
    begin = {} if finetuning == "new" else {"init_model": str(feeler)}
    train(tmp_path / "model", dict_file=f"{feeler}.dict", finetuning=finetuning, **begin)
    assert isinstance(load(tmp_path / "model").model, DistributedDataParallel)
    expected = set(LAYERS) if finetuning == "new" else {"head"}
    assert changed(weights(feeler), weights(tmp_path / "model")) == (expected if begin else set())


# --- texts -----------------------------------------------------------------------------------------------------------


def ids(agent: Any, turns: list[str], reply: str) -> list[int]:
    tokens, lengths = agent.model_inputs([TextPair(tuple(turns), reply)])
    assert lengths.tolist() == [tokens.size(1)]
    return tokens[0].tolist()  # type: ignore[no-any-return]


def test_turns_are_joined_by_break_tokens(feeler: Path) -> None:
    agent = load(feeler)
    known = {word: agent.dict[word] for word in ("i", "was", "CUSTOM_BREAK", "CUSTOM_UNKNOWN")}
    assert len(set(known.values())) == 4
    assert ids(agent, ["I was", "qqqq"], "was i") == [
        known[word] for word in ("i", "was", "CUSTOM_BREAK", "CUSTOM_UNKNOWN", "CUSTOM_BREAK", "was", "i")
    ]
    assert ids(agent, [], "") == [known["CUSTOM_UNKNOWN"]], "nothing is an unknown word"


def test_max_words_drops_oldest_context_first(feeler: Path) -> None:
    agent = load(feeler, max_words=4)
    i, was, line_end = (agent.dict[word] for word in ("i", "was", "CUSTOM_BREAK"))
    assert ids(agent, ["i i i was"], "i") == [i, was, line_end, i]
    assert ids(agent, ["i was"], "was i i i i") == [was, i, i, i]


def test_class_probabilities_are_softmax_of_head_on_features(feeler: Path) -> None:
    agent = load(feeler)
    contexts, replies = [[], ["i was sad"], []], ["I won a prize", "why?", ""]
    features = agent.features(contexts, replies)
    assert features.shape == (3, agent.feature_size)
    assert agent.feature_size == 4 * 6 + 8
    expected = agent.model.head(features).double().softmax(dim=1).detach().numpy()
    assert np.abs(agent.class_probabilities(contexts, replies) - expected).max() < 1e-6


STRANGE = [
    "x" * 50_000,
    "word " * 20_000,
    "a\n" * 5_000,
    "\x00\x07",
    "\U0001f622 \u202e\u2028",
    "\ud83d",
    "CUSTOM_MASK",
]


@pytest.mark.parametrize("text", STRANGE)
def test_unusual_texts_get_finite_probabilities(feeler: Path, text: str) -> None:
    assert np.isfinite(load(feeler).class_probabilities([[]], [text])).all()


def test_shared_copy_gives_the_same_answer(feeler: Path) -> None:
    check_copy(feeler, "i won a prize")


# --- the published weights -------------------------------------------------------------------------------------------


def straight(state: dict[str, Tensor], tokens: list[int]) -> Tensor:
    """Compute the published model's penultimate layer from the published names, word by word, with hard sigmoids."""

    def lstm(layer: str, steps: Tensor, turn: str) -> Tensor:
        w_in, w_state, b_in, b_state = (
            state[f"{layer}.{kind}_l0{turn}"] for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        h = c = torch.zeros(HIDDEN)
        states = []
        for step in steps:
            i, f, g, o = (w_in @ step + b_in + w_state @ h + b_state).chunk(4)
            i, f, o = ((0.2 * gate + 0.5).clamp(0, 1) for gate in (i, f, o))
            c = f * c + i * g.tanh()
            h = o * c.tanh()
            states.append(h)
        return torch.stack(states)

    def both(layer: str, steps: Tensor) -> Tensor:
        return torch.cat([lstm(layer, steps, ""), lstm(layer, steps.flip(0), "_reverse").flip(0)], dim=1)

    words = state["embed.weight"][tokens].tanh()
    lower = both("lstm_0", words)
    states = torch.cat([both("lstm_1", lower), lower, words], dim=1)
    weights = (states @ state["attention_layer.attention_vector"]).exp()
    return (weights / weights.sum()) @ states


def test_published_weights_give_reference_features(tmp_path: Path, published: Path) -> None:
    train(tmp_path / "model", deepmoji_weights=str(published), finetuning="last", max_train_steps=1)
    agent = load(tmp_path / "model")
    assert list(agent.dict.tok2ind)[: len(WORDS)] == WORDS
    features = agent.features([[], ["the"]], ["I the \U0001f622 qqqq @you", "i 12"])
    assert torch.allclose(features[0], straight(torchmoji_state(), [6, 7, 8, 1, 2]), atol=1e-5)
    assert torch.allclose(features[1], straight(torchmoji_state(), [7, 5, 6, 4]), atol=1e-5)


def test_extend_vocabulary_appends_most_frequent_task_words(tmp_path: Path, published: Path) -> None:
    begin = {"deepmoji_weights": str(published), "finetuning": "full", "max_train_steps": 1}
    train(tmp_path / "all", **begin)
    train(tmp_path / "three", **begin, extend_vocabulary=3)
    train(tmp_path / "none", **begin, extend_vocabulary=0)
    words = {name: list(load(tmp_path / name).dict.tok2ind) for name in ("all", "three", "none")}
    assert len(words["all"]) > 500
    assert words["three"] == words["all"][: len(WORDS) + 3], "the most frequent ones come first"
    assert words["none"] == WORDS
    assert len(weights(tmp_path / "three")["embedding.weight"]) == len(WORDS) + 3


@pytest.mark.parametrize(("finetuning", "learns"), [("last", {"head"}), ("full", set(LAYERS))])
def test_finetuning_mode_selects_the_trained_layers(
    tmp_path: Path, published: Path, finetuning: str, learns: set[str]
) -> None:
    begin = {"deepmoji_weights": str(published), "finetuning": finetuning}
    train(tmp_path / "one", **begin, max_train_steps=1)
    train(tmp_path / "more", **begin, max_train_steps=4, validation_every_n_epochs=-1)
    assert changed(weights(tmp_path / "one"), weights(tmp_path / "more")) == learns


def test_learning_rates_and_weight_decay_per_parameter_group(tmp_path: Path, published: Path) -> None:
    train(tmp_path / "model", deepmoji_weights=str(published), finetuning="full", learningrate=3e-3)
    groups = torch.load(tmp_path / "model", weights_only=True)["optimizer"]["param_groups"]
    assert [(group["lr"], group["weight_decay"]) for group in groups] == [(3e-3, 0), (1e-4, 1e-6), (1e-4, 0)]
    assert [len(group["params"]) for group in groups] == [2, 1, 17]
    train(tmp_path / "new", learningrate=3e-3)
    groups = torch.load(tmp_path / "new", weights_only=True)["optimizer"]["param_groups"]
    assert [group["lr"] for group in groups] == [3e-3] * 3


def test_trained_model_does_not_need_published_files(tmp_path: Path) -> None:
    folder = write_torchmoji(tmp_path / "published")
    train(tmp_path / "model", deepmoji_weights=str(folder), finetuning="full")
    expected = load(tmp_path / "model").class_probabilities([[]], ["i won"])
    for path in folder.iterdir():
        path.unlink()
    assert (load(tmp_path / "model").class_probabilities([[]], ["i won"]) == expected).all()
    train(tmp_path / "model", deepmoji_weights=str(folder), finetuning="full", max_train_steps=5)


def test_training_resumes_from_checkpoint_without_model_file(tmp_path: Path, published: Path) -> None:
    """As after a run that was killed before its first validation."""
    begin = {"deepmoji_weights": str(published), "finetuning": "full", "extend_vocabulary": 3}
    train(tmp_path / "model", **begin, max_train_steps=12)
    before = torch.load(tmp_path / "model.checkpoint", weights_only=True)
    for name in ("model", "model.opt"):
        (tmp_path / name).unlink()
    train(tmp_path / "model", **begin, max_train_steps=24)
    after = torch.load(tmp_path / "model.checkpoint", weights_only=True)
    assert after["number_training_updates"] > before["number_training_updates"] > 0
    assert load(tmp_path / "model").opt["gates"] == "hard"


# --- chain-thaw ------------------------------------------------------------------------------------------------------


def stages_of(model_file: Path) -> dict[str, Any]:
    return torch.load(f"{model_file}.checkpoint", weights_only=True)["chain_thaw"]  # type: ignore[no-any-return]


# Learning rates that change weights but no prediction, so that the accuracy never improves.
NO_GAIN = {"learningrate": 2e-6, "pretrained_learningrate": 1e-6, "validation_metric": "accuracy"}


def test_chain_thaw_trains_one_layer_per_stage(
    tmp_path: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without improvement after the first validation, each stage lasts one epoch and starts from the best weights."""
    seen: list[tuple[int, set[str], float]] = []
    saved: dict[str, Tensor] = {}
    receive = DeepmojiAgent.receive_metrics

    def watched(self: Any, metrics: Any) -> None:
        trained = [
            group["lr"] for group in self.optimizer.param_groups if any(w.requires_grad for w in group["params"])
        ]
        now = {name: weight.clone() for name, weight in self.model.state_dict().items()}
        seen.append((self._chain.stage, changed(saved or now, now), max(trained)))
        saved.update(saved or now)
        receive(self, metrics)
        assert changed(self.model.state_dict(), saved) == set(), "the best weights are those of the first validation"
        assert self._chain.stage == 0 or not self.optimizer.state, "the moments of the steps left behind"

    monkeypatch.setattr(DeepmojiAgent, "receive_metrics", watched)
    begin = {"deepmoji_weights": str(published), "finetuning": "chain-thaw", "max_train_steps": -1, "num_epochs": 50}
    train(tmp_path / "model", **begin, **NO_GAIN)
    assert [stage for stage, _, _ in seen] == [0, 0, 1, 2, 3, 4, 5], "and then it ends, long before 50 epochs"
    assert [layers for _, layers, _ in seen[1:6]] == [{layer} for layer in LAYERS]
    assert seen[6][1] == set(LAYERS)
    assert [rate for _, _, rate in seen] == [2e-6] * 2 + [1e-6] * 5
    assert changed(weights(tmp_path / "model"), saved) == set()
    train(tmp_path / "model", **begin, **NO_GAIN)
    assert len(seen) == 7, "the same command only evaluates the model, as it has ended"


def test_chain_thaw_resumes_in_the_saved_stage(tmp_path: Path, published: Path) -> None:
    begin = {"deepmoji_weights": str(published), "finetuning": "chain-thaw", **NO_GAIN}
    train(
        tmp_path / "model", **begin, max_train_steps=10
    )  # one epoch is 9 steps: validations there and at the end, no improvement
    first = stages_of(tmp_path / "model")
    assert first["stage"] == 1
    train(tmp_path / "model", **begin, max_train_steps=12)
    second = stages_of(tmp_path / "model")
    assert second["stage"] == 2
    assert second["best"] == first["best"]


@pytest.mark.parametrize("schedule", ["invsqrt", "fixed"])
def test_head_has_the_pretrained_rate_after_chain_thaws_first_stage(
    tmp_path: Path, published: Path, monkeypatch: pytest.MonkeyPatch, schedule: str
) -> None:
    """A schedule computes the rates of each step from the first ones."""
    seen: list[tuple[bool, float]] = []
    step = DeepmojiAgent.train_step

    def watched(self: Any, batch: Any) -> Any:
        head, _, others = self.optimizer.param_groups
        seen.append((self._chain.stage > 0, head["lr"] / others["lr"]))
        return step(self, batch)

    monkeypatch.setattr(DeepmojiAgent, "train_step", watched)
    begin = {"deepmoji_weights": str(published), "finetuning": "chain-thaw", "validation_patience": 0}
    changing = {"lr_scheduler": schedule, "lr_scheduler_patience": 1, "warmup_updates": 2, **NO_GAIN}
    train(tmp_path / "model", **begin, **changing, max_train_steps=28)
    train(tmp_path / "model", **begin, **changing, max_train_steps=38)
    assert {later for later, _ in seen} == {False, True}
    assert all(ratio == pytest.approx(1 if later else 2) for later, ratio in seen)


def test_chain_thaw_resumed_with_another_metric_seeks_its_best_anew(tmp_path: Path, published: Path) -> None:
    begin = {"deepmoji_weights": str(published), "finetuning": "chain-thaw", "learningrate": 0.01}
    train(tmp_path / "model", **begin, validation_metric="accuracy", max_train_steps=1)
    assert stages_of(tmp_path / "model")["best"] >= 0
    train(tmp_path / "model", **begin, validation_metric="loss", max_train_steps=3)
    assert stages_of(tmp_path / "model")["best"] < 0, "the negative loss of the first validation by loss"
    assert stages_of(tmp_path / "model")["stage"] == 0


def test_chain_thaw_compares_a_loss_by_task_as_a_loss(tmp_path: Path, published: Path) -> None:
    metric = f"{FEEL}/loss"
    begin = {"deepmoji_weights": str(published), "finetuning": "chain-thaw", "validation_metric": metric}
    train(tmp_path / "model", **begin, task=f"{FEEL},{FEEL}Cut", max_train_steps=1)
    assert stages_of(tmp_path / "model")["best"] < 0, "more is better for its score, the negative loss"


@pytest.mark.usefixtures("process_group")
def test_chain_thaw_works_in_distributed_data_parallel(tmp_path: Path, published: Path, fine_tuned: Path) -> None:
    """Layers that are frozen at first must be synchronised later; a single process is wrapped here."""
    begin = {"deepmoji_weights": str(published), "finetuning": "chain-thaw", "dict_file": f"{fine_tuned}.dict"}
    train(tmp_path / "model", **begin, **NO_GAIN, max_train_steps=40)
    assert stages_of(tmp_path / "model")["stage"] >= 2


# --- what cannot work ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"embedding_size": 0}, "--embedding-size 0: must be at least 1"),
        ({"hidden_size": 0}, "--hidden-size 0: must be at least 1"),
        ({"max_words": 0}, "--max-words 0: must be at least 1"),
        ({"thaw_patience": 0}, "--thaw-patience 0: must be at least 1"),
        ({"dropout": 1.5}, "--dropout 1.5: must lie between 0 and 1"),
        ({"embedding_dropout": -0.5}, "--embedding-dropout -0.5: must lie between 0 and 1"),
        ({"embedding_l2": -1.0}, "--embedding-l2 -1.0: must not be below 0"),
        ({"extend_vocabulary": -1}, "--extend-vocabulary -1: must not be below 0"),
        ({"pretrained_learningrate": 0.0}, "--pretrained-learningrate 0.0: must be above 0"),
        ({"gates": "soft"}, "--gates soft: must be one of auto, sigmoid, hard"),
        ({"finetuning": "first"}, "--finetuning first: must be one of new, full, last, chain-thaw"),
    ],
)
def test_invalid_options_raise_option_error(feeler: Path, changes: dict[str, Any], expected: str) -> None:
    opt = Opt(
        {**Opt.load(f"{feeler}.opt"), "model_file": None, "dict_file": f"{feeler}.dict", "override": {}, **changes}
    )
    with pytest.raises(OptionError) as caught:
        create_agent(opt)
    assert str(caught.value) == expected


def test_invalid_initialisation_raises_error(tmp_path: Path, published: Path, feeler: Path) -> None:
    with pytest.raises(OptionError, match="--finetuning full: name --deepmoji-weights or --init-model"):
        train(tmp_path / "model", finetuning="full")
    with pytest.raises(OptionError, match="--finetuning new starts from random weights: with --deepmoji-weights"):
        train(tmp_path / "model", deepmoji_weights=str(published))
    with pytest.raises(OptionError, match="--hidden-size 7: --deepmoji-weights has 3; leave --hidden-size out"):
        train(tmp_path / "model", deepmoji_weights=str(published), finetuning="full", hidden_size=7)
    with pytest.raises(ModelFileError, match=r"^--deepmoji-weights: none/vocabulary\.json cannot be used"):
        train(tmp_path / "model", deepmoji_weights="none", finetuning="full")
    with pytest.raises(ModelFileError, match="is another kind of model"):
        train(tmp_path / "model", init_model=str(feeler), finetuning="full", hidden_size=7)


def test_sizes_and_gates_come_from_the_init_model(tmp_path: Path, fine_tuned: Path) -> None:
    begin = {**QUIET, "model": "empathy:deepmoji", "task": RATE, "seed": 5, "max_train_steps": 1}
    TrainModel.main(**begin, init_model=str(fine_tuned), finetuning="last", model_file=str(tmp_path / "model"))
    agents = [load(path) for path in (fine_tuned, tmp_path / "model")]
    assert agents[1].opt["gates"] == "hard"
    assert torch.equal(agents[0].features([[]], ["i won"]), agents[1].features([[]], ["i won"]))
