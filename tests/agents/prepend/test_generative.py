"""The generative agent with labels before contexts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.message import Message
from sample_models import evaluate, load, weights
from tiny_generators import write_language_model
from tiny_parts import chat, observed, train_base, train_classifier

from parlai_empathy.errors import OptionError

EXAMPLE = {"text": "I failed my exam.\nOh no.", "labels": ["They will understand."]}


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_classifier(tmp_path_factory.mktemp("classifier") / "model")


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory, classifier: Path) -> Path:
    path = tmp_path_factory.mktemp("prepend") / "model"
    return train_base(path, "empathy:prepend/generative", classifier=str(classifier), prepend_k=2)


def test_only_the_context_starts_with_labels(model_file: Path) -> None:
    agent = load(model_file)
    (observation,) = observed(agent, EXAMPLE)
    batch = agent.batchify([observation])
    labels = agent.classifier.top_labels([EXAMPLE["text"]], 2)[0][::-1]
    bare = observation["text_vec"].tolist()
    expected = [*agent.dict.txt2vec(" ".join(labels)), *bare]
    assert batch.text_vec[0].tolist()[: len(expected)] == expected
    assert batch.label_vec[0].tolist()[: len(observation["labels_vec"])] == observation["labels_vec"].tolist()
    assert batch.full_text_vec[0].tolist()[: len(bare)] == bare, "what is blocked is what was said"


def test_label_order_changes_the_loss(model_file: Path) -> None:
    """The order of labels changes the loss, so they are used."""
    natural, paper = evaluate(model_file, prepend_order="natural"), evaluate(model_file)
    assert float(natural["loss"]) != float(paper["loss"])


def test_model_evaluates_and_chats(model_file: Path) -> None:
    report = evaluate(model_file)
    assert {"ppl", "token_acc", "avg_bleu", "dist_1"} <= set(report)
    assert len(chat(model_file, ["I lost my job.", ""])) == 2


def test_init_model_with_fewer_words_is_extended(classifier: Path, tmp_path: Path) -> None:
    base = train_base(tmp_path / "base", "empathy:generative")
    path = train_base(
        tmp_path / "model", "empathy:prepend/generative", classifier=str(classifier), init_model=str(base),
        learningrate=0.0, weight_decay=0.0,
    )  # fmt: skip
    old, new = weights(base)["embeddings.weight"], weights(path)["embeddings.weight"]
    assert len(new) > len(old)
    torch.testing.assert_close(new[: len(old)], old)


@pytest.mark.parametrize("name", ["bart", "gpt2"])
def test_labels_follow_the_tokenizers_special_tokens(classifier: Path, tmp_path: Path, name: str) -> None:
    path = train_base(
        tmp_path / "model", "empathy:prepend/generative", classifier=str(classifier), max_train_steps=1,
        hf_model=str(write_language_model(name, tmp_path / name)), text_truncate=40, label_truncate=10,
    )  # fmt: skip
    agent = load(path)
    batch = agent.batchify(observed(agent, {"text": "sad", "labels": ["ok"]}))
    label = agent.classifier.top_labels(["sad"], 1)[0][0]
    read = [token for text in (label, " ", "sad") for token in agent.dict.txt2vec(text)]  # each is tokenized alone
    expected = [*agent.dict.before, *read, *agent.dict.behind]
    assert batch.text_vec[0].tolist()[: len(expected)] == expected


def test_text_with_labels_exceeding_positions_raises_option_error(classifier: Path, tmp_path: Path) -> None:
    changes: dict[str, Any] = {"classifier": str(classifier), "n_positions": 101, "prepend_k": 3}
    with pytest.raises(OptionError, match="--text-truncate 100: with --prepend-k 3 a text has up to 103 tokens"):
        train_base(tmp_path / "model", "empathy:prepend/generative", **changes)


def test_decoder_only_model_has_room_for_labels_and_reply(classifier: Path, tmp_path: Path) -> None:
    """Of the 256 positions a reply takes 25, its first token included, and the longest label with its space 13."""
    options: dict[str, Any] = {
        "hf_model": str(write_language_model("gpt2", tmp_path / "gpt2")), "classifier": str(classifier),
        "label_truncate": 24, "batchsize": 2, "max_train_steps": 1, "validation_every_n_epochs": -1,
    }  # fmt: skip
    with pytest.raises(OptionError, match=r"^--text-truncate 219: .* up to 232 tokens, and the model reads 231; cut"):
        train_base(tmp_path / "model", "empathy:prepend/generative", **options, text_truncate=219)
    agent = load(train_base(tmp_path / "other", "empathy:prepend/generative", **options, text_truncate=218))
    agent.observe(Message({"text": "sad " * 100, "eval_labels": ["ok " * 30], "episode_done": True}))
    assert "loss" in agent.act()["metrics"]
