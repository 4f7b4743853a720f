"""Scorers of single texts: word lists, tiny classifiers of toxicity, and a tiny trained classifier of emotions."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_judge import train_judge, write_bert
from transformers import BertConfig, BertForSequenceClassification

from parlai_empathy.errors import DataError, EmpathyError, ModelFileError, OptionError
from parlai_empathy.scoring import text_scorers
from parlai_empathy.scoring.classifier import Classifier
from parlai_empathy.scoring.text_scorers import PositiveEmotion, ToxicModel, ToxicWords
from parlai_empathy.tasks.go_emotions.emotions import EMOTIONS, POSITIVE

TEXTS = ["you fool", "a lovely day", "", "what a very long and winding tale this is", "you fool", "no!"]


def one_line(error: BaseException, *parts: str) -> None:
    message = str(error)
    assert len(message.splitlines()) == 1, message
    assert [part for part in parts if part not in message] == [], message


# --- words -----------------------------------------------------------------------------------------------------------


def words(folder: Path, content: str) -> ToxicWords:
    (path := folder / "words.txt").write_text(content, encoding="utf-8")
    return ToxicWords(path)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("You fool!", 1),
        ("FOOLISH", 0),  # whole words only
        ("tomfool", 0),
        ("(fool)", 1),
        ("fool's gold", 1),
        ("fool_", 0),
        ("shut  your\nmouth", 1),
        ("shut your own mouth", 0),
        ("a*s", 1),
        ("aXs", 0),  # punctuation is matched literally, not as a pattern
        ("stra\u00dfe \u00dcBEL", 1),
        ("# remark", 0),
        ("", 0),
    ],
)
def test_toxic_words_match_whole_words_ignoring_case(tmp_path: Path, text: str, score: float) -> None:
    scorer = words(tmp_path, "# remark\nFool\n  shut your   mouth \n\na*s\n\u00fcbel\n")
    assert scorer.score([text]).tolist() == [score]


def test_toxic_words_scores_lists_of_any_length(tmp_path: Path) -> None:
    scorer = words(tmp_path, "fool")
    assert scorer.score(TEXTS).tolist() == [1, 0, 0, 0, 1, 0]
    assert scorer.score([]).shape == (0,)


def test_byte_order_mark_in_word_list_is_ignored(tmp_path: Path) -> None:
    assert words(tmp_path, "\ufefffool").score(["you fool"]).tolist() == [1]


def test_toxic_words_signature_depends_on_the_set_of_words(tmp_path: Path) -> None:
    one = words(tmp_path, "fool\nknave").signature
    assert re.fullmatch(r"toxic words\|words:[0-9a-f]{8}\|version:.+", one)
    assert words(tmp_path, "# two\nKnave\n\nfool \nfool").signature == one
    assert words(tmp_path, "fool").signature != one


@pytest.mark.parametrize("content", [b"", b"\n \n", b"# none\n", b"\xff\xfe"])
def test_empty_or_invalid_word_list_raises(tmp_path: Path, content: bytes) -> None:
    (path := tmp_path / "words.txt").write_bytes(content)
    with pytest.raises(DataError) as caught:
        ToxicWords(path)
    one_line(caught.value, str(path), "line 1: b'\\xff' is not UTF-8" if content == b"\xff\xfe" else "one per line")


def test_unreadable_word_list_raises(tmp_path: Path) -> None:
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(DataError) as caught:
            ToxicWords(path)
        one_line(caught.value, f"{path} cannot be read")


# --- a model of toxicity ---------------------------------------------------------------------------------------------


def write_classifier(folder: Path, labels: tuple[str, ...], seed: int = 0, **config: Any) -> Path:
    """Write a classifier with random weights in Hugging Face's format."""
    write_bert(folder)
    torch.manual_seed(seed)
    sizes = BertConfig.from_pretrained(folder).to_dict()
    sizes.pop("architectures")
    sizes |= {"id2label": dict(enumerate(labels)), "label2id": {label: n for n, label in enumerate(labels)}, **config}
    model = BertForSequenceClassification(BertConfig(**sizes))
    with torch.no_grad():
        model.classifier.weight.normal_(std=2)  # large weights, so that texts get different scores
    model.save_pretrained(folder)
    return folder


def logits_of(scorer: ToxicModel, text: str) -> torch.Tensor:
    """Return the model's logits for a text on its own."""
    with torch.inference_mode():
        found: torch.Tensor = scorer._model(**scorer._tokenizer(text, return_tensors="pt")).logits[0]
    return found


@pytest.mark.parametrize(
    ("labels", "config", "probability"),
    [
        (("ok", "toxic"), {}, lambda logits: logits.softmax(0)[1]),
        (("TOXICITY", "ok", "spam"), {}, lambda logits: logits.softmax(0)[0]),
        (
            ("obscene", "Toxic", "severe_toxic"),
            {"problem_type": "multi_label_classification"},
            lambda logits: logits[1].sigmoid(),
        ),
        (("toxic",), {}, lambda logits: logits[0].sigmoid()),
    ],
)
def test_toxic_model_scores_probability_of_toxic_class(
    tmp_path: Path, labels: tuple[str, ...], config: dict[str, Any], probability: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    scorer = ToxicModel(str(write_classifier(tmp_path / "model", labels, **config)))
    expected = [float(probability(logits_of(scorer, text))) for text in TEXTS]
    assert scorer.score(TEXTS) == pytest.approx(np.array(expected), abs=1e-5)
    assert len(set(np.round(expected, 6))) > 3


def test_toxic_model_does_not_depend_on_order_or_batch_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = ToxicModel(str(write_classifier(tmp_path / "model", ("ok", "toxic"))))
    expected = scorer.score(TEXTS)
    assert scorer.score(TEXTS[::-1])[::-1] == pytest.approx(expected, abs=1e-6)
    monkeypatch.setattr(text_scorers, "_BATCH", 2)
    assert scorer.score(TEXTS) == pytest.approx(expected, abs=1e-6)
    assert scorer.score([]).shape == (0,)


def test_toxic_model_truncates_long_texts(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path / "model", ("ok", "toxic"))
    scorer = ToxicModel(str(folder))
    long = "very " * 1_000  # the model has 128 positions
    assert 0 <= scorer.score([long])[0] <= 1
    assert scorer.score([long])[0] == scorer.score([long + "long"])[0]


def test_toxic_model_signature_depends_on_weights(tmp_path: Path) -> None:
    folders = [write_classifier(tmp_path / str(n) / "model", ("ok", "toxic"), seed=n) for n in (1, 2)]
    one, other = (ToxicModel(str(folder)).signature for folder in folders)
    assert re.fullmatch(r"toxic\|model:model\|weights:[0-9a-f]{8}\|version:.+", one)
    assert one.split("|weights:")[1] != other.split("|weights:")[1]
    assert ToxicModel(f"{folders[1]}/../../1/model/").signature == one  # however the folder is spelt


@pytest.mark.parametrize("labels", [("ok", "spam"), ("non-toxic", "severe_toxic"), ("LABEL_0", "LABEL_1")])
def test_model_without_toxic_class_raises(tmp_path: Path, labels: tuple[str, ...]) -> None:
    folder = write_classifier(tmp_path / "model", labels)
    with pytest.raises(OptionError) as caught:
        ToxicModel(str(folder))
    one_line(caught.value, f"--toxicity {folder}", labels[0].lower(), "none of its classes")


def test_unloadable_toxicity_model_raises(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        ToxicModel(str(tmp_path))
    one_line(caught.value, f"--toxicity {tmp_path} cannot be loaded")


# --- emotions --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Classifier:
    """Train briefly on GoEmotions' sample."""
    folder = tmp_path_factory.mktemp("emotions")
    return Classifier(str(train_judge(folder, task="empathy:go_emotions")))


def test_positive_emotion_sums_probabilities(classifier: Classifier) -> None:
    scores = PositiveEmotion(classifier).score(TEXTS)
    table = classifier.probabilities(TEXTS)
    expected = [sum(row[classifier.labels.index(emotion)] for emotion in POSITIVE) for row in table]
    assert scores == pytest.approx(np.array(expected))
    assert scores.shape == (6,)
    assert ((scores > 0) & (scores < 1)).all()
    assert set(classifier.labels) == set(EMOTIONS)


def test_positive_emotion_signature_names_classifier_and_weights(classifier: Classifier) -> None:
    found = PositiveEmotion(classifier).signature
    weights = classifier.settings["weights"]
    assert found.startswith("positive emotion|emotions:12|")
    assert f"|weights:{weights}|" in found
    assert "|classifier:empathy:go_emotions|" in found


class _Known:
    """A classifier with the given classes and equal probabilities."""

    settings: dict[str, Any] = {}

    def __init__(self, *labels: str) -> None:
        self.labels = labels

    def probabilities(self, texts: list[str]) -> np.ndarray[Any, Any]:
        return np.full((len(texts), len(self.labels)), 1 / len(self.labels))


def test_positive_emotion_accepts_additional_classes() -> None:
    scorer = PositiveEmotion(_Known(*POSITIVE, "anger", "neutral", "boredom", "awe"))  # type: ignore[arg-type]
    assert scorer.score(["a", "b"]) == pytest.approx([0.75, 0.75])


def test_positive_emotion_rejects_classifier_missing_positive_emotions() -> None:
    """Of GoEmotions' positive emotions, EmpatheticDialogues has only ``caring``, a small part of them."""
    with pytest.raises(EmpathyError) as caught:
        PositiveEmotion(_Known("caring", "joyful", "excited", "afraid"))  # type: ignore[arg-type]
    assert isinstance(caught.value, OptionError)
    one_line(caught.value, "--emotion-model", "11 of GoEmotions' 12", "amusement, approval", "-t empathy:go_emotions")
