"""A frozen classifier's predictions, compared with the agent it was loaded from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from parlai.core.opt import Opt
from sample_models import load
from tiny_parts import train_classifier

from parlai_empathy.agent_kit.judging.frozen_classifier import FrozenClassifier
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS

TEXTS = ["I lost my job.", "We won!\nI am so glad.\nThe whole town came.", "I lost my job.", "", "\n", "x" * 5000]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_classifier(tmp_path_factory.mktemp("classifier") / "model")


@pytest.fixture
def classifier(model_file: Path) -> FrozenClassifier:
    return FrozenClassifier.load(Opt(classifier=str(model_file)))


def said(model_file: Path, text: str) -> dict[str, float]:
    """Return the agent's probability of each class for a text, split into lines."""
    agent, (*before, last) = load(model_file), text.split("\n")
    return dict(zip(agent.classes, agent.class_probabilities([before], [last])[0], strict=True))


def test_top_labels_are_most_probable_classes(classifier: FrozenClassifier, model_file: Path) -> None:
    assert classifier.labels == tuple(EMOTIONS)
    for text, labels in zip(TEXTS, classifier.top_labels(TEXTS, 3), strict=True):
        probable = said(model_file, text)
        best = sorted(probable, key=lambda label: -probable[label])[:3]
        assert [probable[label] for label in labels] == pytest.approx([probable[label] for label in best])


def test_top_labels_differ_between_texts(classifier: FrozenClassifier) -> None:
    """Otherwise the tests of labels could not fail."""
    assert len(set(classifier.top_labels(TEXTS, 1))) > 1


def test_all_top_labels_contain_each_class_once(classifier: FrozenClassifier) -> None:
    for labels in classifier.top_labels(TEXTS, len(EMOTIONS)):
        assert sorted(labels) == sorted(EMOTIONS)


def test_fewer_top_labels_are_a_prefix_of_more(classifier: FrozenClassifier) -> None:
    few, more = classifier.top_labels(TEXTS, 2), classifier.top_labels(TEXTS, 5)
    assert [labels[:2] for labels in more] == few


def test_top_labels_keep_class_order_of_ties(classifier: FrozenClassifier, monkeypatch: Any) -> None:
    monkeypatch.setattr(classifier._agent, "class_probabilities", lambda *_: np.full((1, 32), 1 / 32))
    assert classifier.top_labels(["a text"], 3) == [tuple(EMOTIONS[:3])]


def test_last_line_is_read_in_the_context_of_those_before(classifier: FrozenClassifier, monkeypatch: Any) -> None:
    read: list[Any] = []  # the classifier of these tests gives the same whatever the order of the lines
    monkeypatch.setattr(classifier._agent, "class_probabilities", lambda *each: read.extend(each) or np.eye(2, 32))
    classifier.top_labels(["one\ntwo\nthree", "alone"], 1)
    assert read == [[["one", "two"], []], ["three", "alone"]]


def test_features_are_inputs_of_the_head(classifier: FrozenClassifier, model_file: Path) -> None:
    features = classifier.features(TEXTS)
    assert features.shape == (len(TEXTS), classifier.feature_size)
    head = load(model_file).model.head
    for text, row in zip(TEXTS, features, strict=True):
        probable = torch.softmax(head(row), dim=0).tolist()
        assert probable == pytest.approx(list(said(model_file, text).values()), abs=1e-6)


def test_texts_are_classified_once_and_in_one_call(classifier: FrozenClassifier, monkeypatch: Any) -> None:
    calls: list[int] = []
    real = classifier._agent.class_probabilities

    def counted(contexts: Any, replies: Any) -> Any:
        calls.append(len(replies))
        return real(contexts, replies)

    monkeypatch.setattr(classifier._agent, "class_probabilities", counted)
    for _ in range(2):
        classifier.top_labels([f"text {number}" for number in range(100)], 1)
    assert calls == [100]


def test_fingerprint_depends_on_the_weights(classifier: FrozenClassifier, model_file: Path, tmp_path: Path) -> None:
    assert FrozenClassifier.load(Opt(classifier=str(model_file))).fingerprint == classifier.fingerprint
    other = train_classifier(tmp_path / "other", seed=8)
    assert FrozenClassifier.load(Opt(classifier=str(other))).fingerprint != classifier.fingerprint
