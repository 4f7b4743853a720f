"""Trained classifiers: tiny trained ones, and files that are not classifiers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_models import load
from tiny_judge import train_judge
from tiny_parts import train_classifier

from parlai_empathy.errors import ModelFileError, NotComputableError, OptionError
from parlai_empathy.scoring.classifier import Classifier

TEXTS = ["My dog died.", "I won a race!", "There is a noise in the house.", "", "My dog died."]


@pytest.fixture(scope="module", params=["fasttext", "text_classifier"])
def model_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a classifier of emotions."""
    folder = tmp_path_factory.mktemp("classifier")
    if request.param == "fasttext":
        return train_classifier(folder / "model", num_epochs=5)
    return train_judge(folder, task="empathy:empathetic_dialogues:SituationEmotion")


@pytest.fixture(scope="module")
def classifier(model_file: Path) -> Classifier:
    return Classifier(str(model_file))


def test_probabilities_match_the_agent_on_single_texts(classifier: Classifier, model_file: Path) -> None:
    agent: Any = load(model_file)
    alone = [agent.class_probabilities([[]], [text])[0] for text in TEXTS]
    found = classifier.probabilities(TEXTS)
    assert found == pytest.approx(np.array(alone), abs=1e-4)
    assert found.shape == (5, 32)
    assert found.sum(axis=1) == pytest.approx(np.ones(5))
    assert found[0].tolist() == found[4].tolist() != found[1].tolist()
    assert classifier.labels == tuple(agent.classes)
    assert classifier.settings["classifier"] == "empathy:empathetic_dialogues:SituationEmotion"
    assert re.fullmatch("[0-9a-f]{8}", classifier.settings["weights"])


def test_distinct_texts_are_classified_once_in_one_call(
    classifier: Classifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    probabilities = classifier._agent.class_probabilities

    def remember(contexts: Any, texts: Any) -> Any:
        asked.append((contexts, texts))
        return probabilities(contexts, texts)

    monkeypatch.setattr(classifier._agent, "class_probabilities", remember)
    classifier.labels_of(TEXTS)
    assert asked == [([[]] * 4, TEXTS[:4])]


def test_top_classes_are_sorted_by_probability(classifier: Classifier) -> None:
    best = classifier.labels_of(TEXTS)
    rows = classifier.probabilities(TEXTS)
    for label, row, first, all_of_them in zip(
        best, rows, classifier.top(TEXTS, 3), classifier.top(TEXTS, 99), strict=True
    ):
        by_hand = sorted(zip(row, classifier.labels, strict=True), key=lambda pair: -pair[0])
        assert first == [(name, pytest.approx(p)) for p, name in by_hand[:3]]
        assert first[0][0] == label
        assert len(all_of_them) == 32
        assert sum(p for _, p in all_of_them) == pytest.approx(1)


def test_broken_model_predicts_no_class(
    classifier: Classifier, model_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.full((4, 32), np.nan)
    monkeypatch.setattr(classifier._agent, "class_probabilities", lambda contexts, texts: rows)
    message = f"{model_file} gives a text no finite probability: name another model"
    for ask in (classifier.labels_of, classifier.probabilities, lambda texts: classifier.top(texts, 1)):
        with pytest.raises(NotComputableError, match=f"^{re.escape(message)}$"):
            ask(TEXTS)


def test_no_texts_give_empty_results(classifier: Classifier) -> None:
    assert classifier.labels_of([]) == []
    assert classifier.top([], 3) == []


@pytest.mark.parametrize("k", [0, -1])
def test_top_below_one_raises(classifier: Classifier, k: int) -> None:
    with pytest.raises(OptionError, match=rf"^--top {k}: must be at least 1$"):
        classifier.top(TEXTS, k)


def test_next_utterance_judge_is_rejected(tmp_path: Path) -> None:
    model = train_judge(tmp_path, task="empathy:humod:NextUtterance")
    with pytest.raises(OptionError) as error:
        Classifier(str(model))
    assert (
        str(error.value)
        == f"{model} was trained to tell true replies from others: name a model that was trained on classes"
    )


def test_reply_agent_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "model").touch()
    (tmp_path / "model.opt").write_text('{"model": "repeat_label"}')
    with pytest.raises(
        OptionError, match=rf"^{tmp_path}/model: repeat_label does not predict classes: name a model of"
    ):
        Classifier(str(tmp_path / "model"))


def test_missing_model_error_names_the_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=rf"^{tmp_path}/none is not a trained model: "):
        Classifier(f"{tmp_path}/none", str(tmp_path))
