"""The metrics of replies, what each needs, and the messages if that is missing."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from parlai.core.dict import DictionaryAgent
from tiny_generators import write_language_model
from tiny_judge import train_judge

from parlai_empathy.errors import DownloadError, ModelFileError, OptionError
from parlai_empathy.metrics.nidf import Nidf
from parlai_empathy.scoring import reply_metrics as module
from parlai_empathy.scoring.endex import Endex
from parlai_empathy.scoring.fluency import Fluency
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.model_metrics import EmotionAccuracy, IntentAccuracy, MeanScore
from parlai_empathy.scoring.reply_metrics import ALL, METRICS, MODELS, Needs, reply_metrics
from parlai_empathy.scoring.word_metrics import Words
from parlai_empathy.tasks.empathetic_dialogues.build import build
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues


@pytest.fixture
def data(tmp_path: Path) -> dict[str, Any]:
    return {"datapath": str(tmp_path), "edition": "sample"}


def test_all_selects_metrics_without_models(data: dict[str, Any]) -> None:
    metrics, left_out = reply_metrics([ALL], Needs(Words(), data=data))
    assert list(metrics) == [name for name in METRICS if name not in MODELS]
    assert left_out == [f"--metrics {name} needs --{name}-model" for name in MODELS]


def test_named_metrics_are_created_once() -> None:
    metrics, left_out = reply_metrics(["bleu", "length", "bleu"], Needs(Words()))
    assert (list(metrics), left_out) == (["bleu", "length"], [])


@pytest.mark.parametrize("name", MODELS)
def test_named_metric_without_its_model_raises(name: str) -> None:
    for models in ({}, {name: ""}):
        with pytest.raises(OptionError, match=rf"^--metrics {name} needs --{name}-model$"):
            reply_metrics(["length", name], Needs(Words(), models))
    with pytest.raises(OptionError, match=rf"^--metrics {name} needs --{name}-model$"):
        reply_metrics([ALL, name], Needs(Words(), data={"edition": "sample", "datapath": "d"}))


@pytest.mark.parametrize("name", MODELS)
def test_model_of_a_metric_that_is_not_named_raises(name: str) -> None:
    expected = rf"^--{name}-model: --metrics length bleu does not use it: add {name}, or leave it out$"
    with pytest.raises(OptionError, match=expected):
        reply_metrics(["length", "bleu"], Needs(Words(), {name: "model"}))


@pytest.mark.parametrize("name", MODELS)
def test_missing_model_file_raises_even_with_all(name: str, data: dict[str, Any], tmp_path: Path) -> None:
    for names in ([ALL], [name]):
        with pytest.raises(ModelFileError, match=rf"{tmp_path}/none/model "):
            reply_metrics(names, Needs(Words(), {name: f"{tmp_path}/none/model"}, data=data))


def test_models_and_judges_are_loaded(tmp_path: Path) -> None:
    emotions = train_judge(tmp_path / "emotions", task="empathy:empathetic_dialogues:SituationEmotion")
    judge = train_judge(tmp_path / "judge")
    language = write_language_model("gpt2", tmp_path / "gpt2")
    models = {"emotion": str(emotions), "intent": str(emotions), "fluency": str(language)}
    metrics, _ = reply_metrics(["fluency", "intent", "emotion"], Needs(Words(), models, {"relevance": str(judge)}))
    assert {name: type(metric) for name, metric in metrics.items()} == {
        "fluency": Fluency,
        "intent": IntentAccuracy,
        "emotion": EmotionAccuracy,
        "relevance": MeanScore,
    }
    replies = [LoggedReply("so sorry", ("my cat ran away",), ("oh no",), "sad")]
    found = {one.key: one for metric in metrics.values() for one in metric.score(replies)}
    assert list(found) == ["fluency", "fluency_median", "intent_acc", "emo_acc", "judge_relevance"]
    assert 1 < found["judge_relevance"].number < 5
    with pytest.raises(OptionError, match=r"does not predict levels of empathy"):  # also with ``all``
        reply_metrics([ALL], Needs(Words(), {"epitome": str(emotions)}))


def test_endex_metric_is_mean_endex_score(tmp_path: Path) -> None:
    red = train_judge(tmp_path / "red", task="empathy:red", precision="float32")
    needs = Needs(Words(), {"endex": str(red)}, endex={"with_context": False, "output": "probability"})
    metrics, _ = reply_metrics(["endex"], needs)
    replies = [LoggedReply("so sorry", ("my cat ran away",)), LoggedReply("where did you see it?")]
    (found,) = metrics["endex"].score(replies)
    assert (found.key, found.title) == ("endex", "EnDex")
    alone = Endex(str(red), with_context=False).score([[], []], [one.reply for one in replies])
    assert found.items == pytest.approx(alone.tolist(), abs=1e-6)
    assert found.number == pytest.approx(alone.mean(), abs=1e-6)
    assert "|trained:empathy:red|" in found.number.signature
    assert "|reads:reply|output:probability|" in found.number.signature
    emotions = train_judge(tmp_path / "emotions", task="empathy:empathetic_dialogues:SituationEmotion")
    with pytest.raises(
        OptionError, match=r"has no class 'engaging' \(only .*\): name a model that was trained on empathy:red$"
    ):
        reply_metrics([ALL], Needs(Words(), {"endex": str(emotions)}))


def test_nidf_counts_come_from_training_fold_turns(data: dict[str, Any]) -> None:
    metrics, _ = reply_metrics(["nidf"], Needs(Words(), data=data, nidf="max"))
    turns = [
        set(DictionaryAgent.re_tokenize(turn.text.lower()))
        for conversation in read_empathetic_dialogues(build(data) / "train.csv")
        for turn in conversation.turns
    ]
    counts = Counter(word for turn in turns for word in turn)
    most, least = math.log(max(counts.values())), math.log(min(counts.values()))
    (found,) = metrics["nidf"].score([LoggedReply("Sorry, sorry"), LoggedReply("I am glad")])
    rarest = [min(counts[word] for word in words) for words in (("sorry", ","), ("i", "am", "glad"))]
    assert found.items == tuple(pytest.approx((most - math.log(count)) / (most - least)) for count in rarest)
    assert "|words:max|" in found.number.signature
    assert "|counts:ed_train_sample|" in found.number.signature


def test_all_without_datapath_leaves_out_nidf() -> None:
    metrics, left_out = reply_metrics([ALL], Needs(Words()))
    assert "nidf" not in metrics
    assert (
        left_out[0]
        == "--metrics nidf needs --datapath: the folder where EmpatheticDialogues is, or can be downloaded to"
    )


def test_failed_download_leaves_nidf_out_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Any) -> Nidf:
        raise DownloadError("no network")

    monkeypatch.setattr(module, "build", fail)
    metrics, left_out = reply_metrics([ALL], Needs(Words(), data={"datapath": "data"}))
    assert "nidf" not in metrics
    assert left_out[0] == "nidf: no network"
    with pytest.raises(DownloadError, match=r"^no network$"):
        reply_metrics(["nidf"], Needs(Words(), data={"datapath": "data"}))
