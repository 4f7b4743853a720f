"""fastText's classifier in ParlAI: briefly trained on the samples, or initialised from the library's own files.

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
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel
from sample_models import check_copy, evaluate, load, weights
from tiny_fasttext import tiny_bin
from torch.nn.parallel import DistributedDataParallel
from two_processes import check_gradients_are_averaged

from parlai_empathy.agent_kit.judging.examples import TextPair
from parlai_empathy.agents.fasttext.bin_file import read_bin
from parlai_empathy.agents.fasttext.ngrams import END, row_numbers
from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS

RATE, CHOOSE = "empathy:humod:Relevance", "empathy:humod:NextUtterance"
FEEL, CONTEXT = "empathy:empathetic_dialogues:SituationEmotion", "empathy:empathetic_dialogues:ContextEmotion"
SIZES: dict[str, Any] = {"embedding_size": 6, "buckets": 300}
QUIET: dict[str, Any] = {"edition": "sample", "loglevel": "error"}


def train(model_file: Path, task: str = FEEL, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    sizes = {} if "init_model" in changes else SIZES
    options = {**QUIET, **sizes, "task": task, "model": "empathy:fasttext", "seed": 5, "num_epochs": 2, **changes}
    return TrainModel.main(**options, model_file=str(model_file))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def feeler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model trained on emotions."""
    path = tmp_path_factory.mktemp("feeler") / "model"
    train(path)
    return path


# --- training --------------------------------------------------------------------------------------------------------


def test_default_option_values() -> None:
    opt = TrainModel.setup_args().parse_args(["-t", FEEL, "-m", "empathy:fasttext"])
    expected = {
        "embedding_size": 100,
        "word_ngrams": 2,
        "buckets": 200_000,
        "optimizer": "sgd",
        "learningrate": 0.2,
        "lr_scheduler": "linear",
        "num_epochs": 15,
        "batchsize": 32,
        "gradient_clip": -1,
        "validation_metric": "accuracy",
        "dict_tokenizer": "re",
        "dict_lower": True,
    }
    assert {name: opt[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("task", "loss", "reported"),
    [
        (FEEL, "ce", {"accuracy"}),
        (CONTEXT, "ce", {"accuracy"}),
        (RATE, "mse", {"accuracy", "pearson", "spearman"}),
        (CHOOSE, "ce", {"hits@1"}),
    ],
)
def test_training_lowers_loss_on_each_task_type(tmp_path: Path, task: str, loss: str, reported: set[str]) -> None:
    learning = {"loss": loss, "learningrate": 0.1 if loss == "mse" else 1.0, "validation_every_n_epochs": -1}
    train(tmp_path / "new", task, **learning, max_train_steps=1)
    _, test = train(tmp_path / "model", task, **learning, num_epochs=40)
    before, after = (evaluate(tmp_path / name, task, datatype="train:evalmode") for name in ("new", "model"))
    # It can hardly distinguish true from wrong replies, because it does not compare them with the context.
    assert float(after["loss"]) < float(before["loss"]) - (0.001 if task == CHOOSE else 0.01)
    assert reported | {"loss"} <= set(test)


def test_training_matches_plain_sgd_with_linear_rate_decay(tmp_path: Path) -> None:
    """Compared with a plain loop over the same texts in the same order, with dense arrays."""
    train(tmp_path / "model", batchsize=4, max_train_steps=3, num_epochs=-1, learningrate=0.5, datatype="train:ordered")
    train(tmp_path / "start", batchsize=4, max_train_steps=3, learningrate=1e-30)
    agent, end = load(tmp_path / "start"), weights(tmp_path / "model")
    start = weights(tmp_path / "start")
    rows, head = start["embedding.weight"].clone().requires_grad_(), start["head.weight"].clone().requires_grad_()
    assert head.abs().max() < 1e-20, "the last layer begins with zeros"
    assert 0.9 / 6 < rows.abs().max() <= 1 / 6
    seen = examples(12)
    for step in range(3):
        batch = seen[4 * step : 4 * step + 4]
        loss = torch.zeros(())
        for text, label in batch:
            words = [*agent.dict.tokenize(text), END]
            mean = rows[row_numbers(words, agent.dict.tok2ind, agent._sizes)].mean(dim=0)
            loss = loss - (head @ mean).log_softmax(dim=0)[EMOTIONS.index(label)]
        gradients = torch.autograd.grad(loss, [rows, head])
        with torch.no_grad():
            for weight, gradient in zip((rows, head), gradients, strict=True):
                weight -= 0.5 * (1 - step / 3) * gradient
    assert torch.allclose(end["head.weight"], head, atol=1e-5)
    assert torch.allclose(end["embedding.weight"], rows, atol=1e-5)
    assert head.abs().max() > 0.005


def examples(count: int) -> list[tuple[str, str]]:
    """Return the sample's first situations with their emotions, from its teacher."""
    from parlai.core.params import ParlaiParser
    from parlai.core.teachers import create_task_agent_from_taskname

    opt = ParlaiParser(True, False).parse_args(["--task", FEEL, "--datatype", "train:ordered"])
    (teacher,) = create_task_agent_from_taskname(Opt({**opt, "edition": "sample"}))
    given = [teacher.act() for _ in range(count)]
    return [(message["text"], message["labels"][0]) for message in given]


def test_same_seed_gives_same_weights(tmp_path: Path, feeler: Path) -> None:
    train(tmp_path / "again")
    train(tmp_path / "other", seed=6)
    first, again, other = weights(feeler), weights(tmp_path / "again"), weights(tmp_path / "other")
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_resumed_training_continues_the_rate_schedule(tmp_path: Path) -> None:
    """Training that has finished gets more epochs."""
    train(tmp_path / "model", num_epochs=2, learningrate=0.4)
    before = torch.load(tmp_path / "model.checkpoint", weights_only=True)
    train(tmp_path / "model", num_epochs=4, learningrate=0.4)
    after = torch.load(tmp_path / "model.checkpoint", weights_only=True)
    # 288 examples are 9 steps per epoch. The last rate is that of the step before the last counted one.
    for states, epochs in ((before, 2), (after, 4)):
        done = states["number_training_updates"] - 1
        assert states["optimizer"]["param_groups"][0]["lr"] == pytest.approx(0.4 * (1 - done / (9 * epochs)))
    assert (before["number_training_updates"], after["number_training_updates"]) == (18, 36)


def test_lr_scheduler_option_selects_parlai_schedules(tmp_path: Path) -> None:
    train(tmp_path / "model", lr_scheduler="invsqrt", warmup_updates=5, max_train_steps=8)
    assert torch.load(tmp_path / "model", weights_only=False)["lr_scheduler_type"] == "invsqrt"


@pytest.mark.parametrize(
    "changes", [{"gradient_clip": 0.1}, {"optimizer": "adam"}, {"momentum": 0.9}, {"weight_decay": 0.1}]
)
def test_dense_gradients_are_used_where_sparse_ones_are_unsupported(tmp_path: Path, changes: dict[str, Any]) -> None:
    train(tmp_path / "model", learningrate=0.01, max_train_steps=3, **changes)
    assert not load(tmp_path / "model").model.embedding.sparse
    assert weights(tmp_path / "model")["head.weight"].abs().max() > 0


@pytest.mark.usefixtures("process_group")
def test_distributed_data_parallel_gives_the_same_weights(tmp_path: Path, feeler: Path) -> None:
    """With sparse gradients; a single process, wrapped as in multi-process training."""
    train(tmp_path / "model", dict_file=f"{feeler}.dict")
    assert isinstance(load(tmp_path / "model").model, DistributedDataParallel)
    expected = weights(feeler)
    assert all(torch.allclose(expected[name], each, atol=1e-6) for name, each in weights(tmp_path / "model").items())


def test_two_processes_sum_their_gradients(tmp_path: Path, feeler: Path) -> None:
    """Each text has the same weight, however many processes there are."""
    check_gradients_are_averaged(feeler, tmp_path, factor=2)


def test_gradient_accumulation_matches_a_full_batch(tmp_path: Path) -> None:
    """Two batches of 16 texts equal one of 32: each text has the same weight."""
    for name, batches in (("whole", {"batchsize": 32}), ("halves", {"batchsize": 16, "update_freq": 2})):
        train(tmp_path / name, datatype="train:ordered", max_train_steps=1, learningrate=0.1, **batches)
    whole, halves = weights(tmp_path / "whole"), weights(tmp_path / "halves")
    assert whole["head.weight"].abs().max() > 0
    assert all(torch.allclose(whole[name], halves[name], atol=1e-6) for name in whole)


# --- texts -----------------------------------------------------------------------------------------------------------


def test_each_turn_ends_with_an_end_token(feeler: Path) -> None:
    agent = load(feeler)
    rows = [agent._rows(TextPair((), text)) for text in ("I won!", "Oh, you")]
    assert agent._rows(TextPair(("I won!",), "Oh, you")) == rows[0] + rows[1]
    assert agent.dict[END] in rows[0]
    inputs, starts = agent.model_inputs([TextPair((), "I won!"), TextPair((), ""), TextPair((), "Oh, you")])
    assert starts.tolist() == [0, len(rows[0]), len(rows[0]) + 1], "an empty text has its end"
    assert inputs.tolist() == [*rows[0], agent.dict[END], *rows[1]]


def test_predictions_ignore_case(feeler: Path) -> None:
    agent = load(feeler)
    # Separately, because some processors do not round all rows of a batch equally.
    loud, quiet = (agent.class_probabilities([[]], [text]) for text in ("I WON A PRIZE", "i won a prize"))
    assert loud.tolist() == quiet.tolist()


def test_vectors_file_initialises_embeddings(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("the " + " ".join(["0.5"] * 6) + "\n")
    train(tmp_path / "model", vectors_file=str(vectors), learningrate=1e-9, max_train_steps=1)
    agent = load(tmp_path / "model")
    assert torch.allclose(agent.model.embedding.weight[agent.dict["the"]], torch.tensor(0.5))


def test_features_are_the_mean_of_embedding_rows(feeler: Path) -> None:
    agent = load(feeler)
    rows = agent.model.embedding.weight.detach()[agent._rows(TextPair((), "I won"))]
    assert agent.feature_size == 6
    assert torch.allclose(agent.features([[]], ["I won"])[0], rows.mean(dim=0), atol=1e-6)


STRANGE = ["x" * 50_000, "word " * 5_000, "a\n" * 2_000, "\x00\x07", "\U0001f622 \u202e\u2028", "\ud83d", "</s>", ""]


@pytest.mark.parametrize("text", STRANGE)
def test_unusual_texts_get_finite_probabilities(feeler: Path, text: str) -> None:
    assert np.isfinite(load(feeler).class_probabilities([[]], [text])).all()


def test_shared_copy_gives_the_same_answer(feeler: Path) -> None:
    check_copy(feeler, "i won a prize")


# --- the library's files ---------------------------------------------------------------------------------------------

GLAD_SAD = ["i win größe", "win new größe win", "", "i </s> win win win", "__label__i win", "I"]


def straight(path: Path, text: str) -> list[float]:
    """The classifier as in the paper, in one line; words are separated by spaces."""
    file = read_bin(path)
    rows = row_numbers([*text.split(), END], {word: row for row, word in enumerate(file.words)}, file.sizes)
    shares: list[float] = (file.output() @ file.vectors()[rows].mean(dim=0)).softmax(dim=0).tolist()
    return shares


def agent_of(path: Path, **changes: Any) -> Any:
    arguments = ["-m", "empathy:fasttext", "--init-model", str(path)]
    opt = EvalModel.setup_args().parse_args([*arguments, "-t", "interactive", "--loglevel", "error"])
    return create_agent(Opt({**opt, "interactive_mode": True, "override": {}, **changes}))


def test_bin_file_predictions_match_manual_calculation(tmp_path: Path) -> None:
    path = tiny_bin(tmp_path / "emotions.bin")
    agent = agent_of(path)
    assert agent.classes == ["glad", "sad"]
    probabilities = agent.class_probabilities([[]] * len(GLAD_SAD), GLAD_SAD)
    for text, shares in zip(GLAD_SAD, probabilities, strict=True):
        assert shares.tolist() == pytest.approx(straight(path, text), abs=1e-6)
    assert (
        agent.respond("win") == f"{['glad', 'sad'][probabilities_of('win', path)]} ({max(straight(path, 'win')):.2f})"
    )


def probabilities_of(text: str, path: Path) -> int:
    return int(np.argmax(straight(path, text)))


def test_probabilities_match_the_fasttext_library(tmp_path: Path) -> None:
    fasttext = pytest.importorskip("fasttext")
    lines = [f"__label__{label} {text}" for text, label in examples(60)]
    (tmp_path / "training.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    model = fasttext.train_supervised(
        str(tmp_path / "training.txt"), dim=8, epoch=20, lr=0.5, wordNgrams=2, bucket=100, thread=1, verbose=0
    )
    model.save_model(str(tmp_path / "model.bin"))
    agent = agent_of(tmp_path / "model.bin")
    texts = [text for text, _ in examples(80)]
    for text, shares in zip(texts, agent.class_probabilities([[]] * len(texts), texts), strict=True):
        theirs = {label: share for share, label in model.f.predict(f"{text}\n", 32, 0.0, "strict")}
        mine = dict(zip((f"__label__{name}" for name in agent.classes), shares, strict=True))
        # The library adds 0.00001 to a probability before taking the logarithm.
        assert mine == pytest.approx({label: share - 1e-5 for label, share in theirs.items()}, abs=2e-6)


def of_emotions(path: Path, **changes: Any) -> Path:
    return tiny_bin(path, [f"__label__{name}".encode() for name in reversed(EMOTIONS)], **changes)


def test_class_order_of_the_bin_file_is_kept(tmp_path: Path) -> None:
    path = of_emotions(tmp_path / "emotions.bin")
    still: dict[str, Any] = {"init_model": str(path), "learningrate": 1e-30, "max_train_steps": 1}
    train(tmp_path / "model", **still)
    agent = load(tmp_path / "model")
    assert agent.classes == list(reversed(EMOTIONS))
    shares = agent.class_probabilities([[]] * len(GLAD_SAD), GLAD_SAD)
    expected = [straight(path, text) for text in GLAD_SAD]
    assert np.abs(shares - np.array(expected)).max() < 1e-6
    path.unlink()
    assert (
        load(tmp_path / "model").class_probabilities([[]], ["i win"]) == agent.class_probabilities([[]], ["i win"])
    ).all()
    assert float(evaluate(tmp_path / "model", FEEL)["accuracy"]) >= 0


def test_bin_file_can_be_evaluated_without_training(tmp_path: Path) -> None:
    path = of_emotions(tmp_path / "emotions.bin")
    report = EvalModel.main(
        model="empathy:fasttext", init_model=str(path), task=FEEL, datatype="train:evalmode", **QUIET
    )
    right = [list(reversed(EMOTIONS))[int(np.argmax(straight(path, text)))] == label for text, label in examples(288)]
    # The sample's texts have no whitespace but ' ', and the library does not normalise texts.
    assert float(report["accuracy"]) == pytest.approx(np.mean(right))


@pytest.mark.parametrize("labels", [["glad", "sad"], ["unheard of", *EMOTIONS[1:]]])
def test_different_labels_get_a_new_output_layer(tmp_path: Path, labels: list[str]) -> None:
    path = tiny_bin(tmp_path / "other.bin", [f"__label__{name}".encode() for name in labels])
    train(tmp_path / "model", init_model=str(path), learningrate=1e-30, max_train_steps=1)
    trained = weights(tmp_path / "model")
    assert trained["head.weight"].shape == (32, 3)
    assert trained["head.weight"].abs().max() < 1e-20
    assert torch.allclose(trained["embedding.weight"], read_bin(path).vectors())


def test_classes_option_reorders_the_output_layer(tmp_path: Path) -> None:
    path = of_emotions(tmp_path / "emotions.bin")
    still: dict[str, Any] = {"learningrate": 1e-30, "max_train_steps": 1, "classes": list(EMOTIONS)}
    train(tmp_path / "model", init_model=str(path), **still)
    shares = load(tmp_path / "model").class_probabilities([[]], ["i win"])[0]
    assert shares.tolist() == pytest.approx(straight(path, "i win")[::-1], abs=1e-6)


def test_output_layer_is_new_for_another_loss(tmp_path: Path) -> None:
    path = tiny_bin(tmp_path / "ratings.bin", [f"__label__{number}".encode() for number in range(1, 6)])
    train(tmp_path / "model", RATE, init_model=str(path), loss="mse", learningrate=1e-30, max_train_steps=1)
    assert weights(tmp_path / "model")["head.weight"].shape == (1, 3)


def test_words_with_arbitrary_bytes_are_kept(tmp_path: Path) -> None:
    from tiny_fasttext import write_bin

    words = [b"</s>", b"\xff\xfe", b"a\\n", b"__UNK__", b"__unk__", "\u00a0".encode(), "\u2028".encode(), b'"']
    draw = np.random.default_rng(1)
    vectors, output = (draw.normal(size=(rows, 3)).astype(np.float32) for rows in (15, 32))
    labels = [f"__label__{name}".encode() for name in EMOTIONS]
    path = write_bin(tmp_path / "odd.bin", words, labels, vectors, output)
    train(tmp_path / "model", init_model=str(path), learningrate=1e-30, max_train_steps=1)
    assert list(load(tmp_path / "model").dict.tok2ind) == [word.decode("utf-8", "surrogateescape") for word in words]


def test_leftover_dictionary_file_is_ignored(tmp_path: Path) -> None:
    train(tmp_path / "model", max_train_steps=1)
    for path in tmp_path.glob("model*"):
        if not path.name.endswith(".dict"):
            path.unlink()
    path = tiny_bin(tmp_path / "two.bin")
    train(tmp_path / "model", init_model=str(path), max_train_steps=1)
    assert list(load(tmp_path / "model").dict.tok2ind) == list(read_bin(path).words)


def test_training_resumes_without_the_bin_file(tmp_path: Path) -> None:
    path = of_emotions(tmp_path / "emotions.bin")
    train(tmp_path / "model", init_model=str(path), num_epochs=1)
    path.unlink()
    train(tmp_path / "model", init_model=str(path), num_epochs=2)
    assert json.loads((tmp_path / "model.trainstats").read_text())["total_epochs"] >= 2


def test_words_and_sizes_come_from_the_init_model(tmp_path: Path) -> None:
    train(tmp_path / "first", init_model=str(tiny_bin(tmp_path / "two.bin")), max_train_steps=1)
    train(tmp_path / "second", RATE, init_model=str(tmp_path / "first"), learningrate=1e-30, max_train_steps=1)
    first, second = load(tmp_path / "first"), load(tmp_path / "second")
    assert second.opt["dict_tokenizer"] == "space"
    assert torch.equal(first.features([[]], ["i win. Win!"]), second.features([[]], ["i win. Win!"]))
    assert second.classes == list("12345")


def test_training_resumes_from_checkpoint_without_model_file(tmp_path: Path) -> None:
    """As after a run that was killed before its first validation."""
    path = of_emotions(tmp_path / "emotions.bin")
    train(tmp_path / "model", init_model=str(path), num_epochs=2)
    for name in ("model", "model.opt"):
        (tmp_path / name).unlink()
    before = torch.load(tmp_path / "model.checkpoint", weights_only=True)["number_training_updates"]
    train(tmp_path / "model", init_model=str(path), num_epochs=4)
    assert torch.load(tmp_path / "model.checkpoint", weights_only=True)["number_training_updates"] > before > 0
    assert load(tmp_path / "model").classes == list(reversed(EMOTIONS)), "the order of the head's rows"


# --- what cannot work ------------------------------------------------------------------------------------------------


def test_option_conflicting_with_bin_file_raises_option_error(tmp_path: Path) -> None:
    path = tiny_bin(tmp_path / "two.bin")
    for name, value in {"embedding_size": 4, "word_ngrams": 3, "dict_lower": True}.items():
        flag = f"--{name.replace('_', '-')}"
        with pytest.raises(OptionError, match=rf"^{flag} {value}: .*two\.bin has .*; leave {flag} out$"):
            train(tmp_path / "model", init_model=str(path), **{name: value})


def test_unreadable_bin_files_raise_model_file_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.bin"
    broken.write_bytes(tiny_bin(tmp_path / "whole.bin").read_bytes()[:-1])
    for path, reason in [
        (broken, "is damaged"),
        (tmp_path / "none.bin", "cannot be read"),
        (tmp_path / "q.ftz", "cannot"),
    ]:
        with pytest.raises(ModelFileError, match=f"^{path} {reason}"):
            train(tmp_path / "model", init_model=str(path))


def test_malformed_dictionary_error_names_the_line(tmp_path: Path) -> None:
    train(tmp_path / "model", max_train_steps=1)
    (tmp_path / "model.dict").write_text('["a", 1]\nb\t2\n')
    with pytest.raises(ModelFileError, match=r"model\.dict, line 2: expected a word with its count"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"embedding_size": 0}, "--embedding-size 0: must be at least 1"),
        ({"word_ngrams": 0}, "--word-ngrams 0: must be at least 1"),
        ({"buckets": -1}, "--buckets -1: must not be below 0"),
        ({"buckets": 0}, "--buckets 0: n-grams and subwords need at least 1; or use --word-ngrams 1"),
        ({"min_subword": 4, "max_subword": 3}, "--min-subword 4: must not be above --max-subword 3"),
    ],
)
def test_invalid_options_raise_option_error(feeler: Path, changes: dict[str, Any], expected: str) -> None:
    opt = Opt(
        {**Opt.load(f"{feeler}.opt"), "model_file": None, "dict_file": f"{feeler}.dict", "override": {}, **changes}
    )
    with pytest.raises(OptionError) as caught:
        create_agent(opt)
    assert str(caught.value) == expected


def test_linear_schedule_requires_a_training_length(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"--lr-scheduler linear: .* set --num-epochs or --max-train-steps"):
        train(tmp_path / "model", num_epochs=-1, max_train_time=1)
