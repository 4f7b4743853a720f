"""Metrics computed by models: fakes with known answers, and a tiny trained model of empathy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from parlai.scripts.train_model import TrainModel
from sample_models import load
from tiny_judge import train_judge, write_bert

from parlai_empathy import __version__
from parlai_empathy.errors import ModelFileError, NotComputableError, OptionError
from parlai_empathy.scoring import model_metrics
from parlai_empathy.scoring.classifier import Classifier
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.model_metrics import EmotionAccuracy, Epitome, IntentAccuracy, MeanScore
from parlai_empathy.scoring.scored import Scored

REPLIES = [
    LoggedReply("sorry 2", ("my cat", "oh?", "ran away"), ("so sorry 1", "never 0")),
    LoggedReply("nice 0"),
    LoggedReply("why 1", ("i won",)),
    LoggedReply("", ("i lost",), ("why 2",)),
]
TAIL = f"version:{__version__}"


# --- empathy ---------------------------------------------------------------------------------------------------------


class FakeJudge:
    """Predicts the level given by a reply's last letter, and level 0 for all explorations."""

    def __init__(self, *mechanisms: str) -> None:
        self.opt = {"task": "empathy:epitome"}
        self.model = torch.nn.Identity()  # a model without weights
        self.mechanisms = mechanisms
        self.asked: list[tuple[Sequence[Sequence[str]], Sequence[str]]] = []

    def levels(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        self.asked.append((contexts, replies))
        levels = [int(reply[-1]) if reply else 0 for reply in replies]
        of = {"emotional_reactions": levels, "explorations": [0] * len(levels)}
        # The most probable level differs from the expected one.
        return {name: np.array([[0.3, 0.3, 0.3] + 0.1 * np.eye(3)[level] for level in of[name]]) for name in of}


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> FakeJudge:
    fake = FakeJudge()
    monkeypatch.setattr(model_metrics, "check_agent", lambda *_: Path("model"))
    monkeypatch.setattr(model_metrics, "load_agent", lambda _: fake)
    return fake


def by_key(found: Sequence[Scored]) -> dict[str, Scored]:
    return {one.key: one for one in found}


def test_epitome_levels_and_squared_differences(judge: FakeJudge) -> None:
    found = by_key(Epitome("model").score(REPLIES))
    # Replies with a context have levels 2, 1 and 0; the first references of the first and the last have 1 and 2.
    assert found["epitome_er"].items == (2, None, 1, 0)
    assert found["epitome_er"].number == 1
    assert found["diff_er"].items == ((2 - 1) ** 2, None, None, (0 - 2) ** 2)
    assert found["diff_er"].number == 2.5
    assert [found[key].number for key in ("epitome_ex", "diff_ex")] == [0, 0]
    assert set(found) == {"epitome_er", "diff_er", "epitome_ex", "diff_ex"}, "nothing of what the judge does not know"
    # No weights: the SHA-256 digest of an empty message (FIPS 180-2) starts with e3b0c442.
    settings = "level:argmax|classifier:empathy:epitome|weights:e3b0c442"
    assert found["epitome_er"].number.signature == f"EPITOME-ER|{settings}|n:3|left_out:1|{TAIL}"
    assert found["diff_er"].number.signature == f"diff-ER|{settings}|reference:first|n:2|left_out:2|{TAIL}"


def test_levels_of_replies_and_references_come_from_one_call(judge: FakeJudge) -> None:
    Epitome("model").score(REPLIES)
    (contexts, texts), *more = judge.asked
    assert more == []
    assert list(texts) == ["sorry 2", "why 1", "", "so sorry 1", "why 2"]
    assert [context[-1] for context in contexts] == ["ran away", "i won", "i lost", "ran away", "i lost"]


def test_signature_names_the_reference_only_if_there_are_several(judge: FakeJudge) -> None:
    found = by_key(Epitome("model").score(REPLIES[1:]))
    settings = "level:argmax|classifier:empathy:epitome|weights:e3b0c442"
    assert found["diff_er"].number.signature == f"diff-ER|{settings}|n:1|left_out:2|{TAIL}"
    alone = accuracy(IntentAccuracy, [LoggedReply("ask", references=("agree",))])
    assert alone.number.signature == f"IntentAcc|classifier:some:task|weights:0a1b2c3d|n:1|{TAIL}"


def test_no_level_differences_without_references(judge: FakeJudge) -> None:
    assert set(by_key(Epitome("model").score([REPLIES[2]]))) == {"epitome_er", "epitome_ex"}


def test_epitome_without_contexts_raises(judge: FakeJudge) -> None:
    with pytest.raises(NotComputableError, match=r"^EPITOME: no reply has a context, which its levels depend on$"):
        Epitome("model").score([REPLIES[1]])
    assert judge.asked == []


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a model of empathy for two steps."""
    folder = tmp_path_factory.mktemp("epitome")
    TrainModel.main(
        task="empathy:epitome",
        edition="sample",
        model="empathy:epitome",
        model_file=str(folder / "model"),
        hf_model=str(write_bert(folder / "bert")),
        max_train_steps=2,
        batchsize=8,
        seed=3,
        loglevel="error",
    )
    return folder / "model"


def test_levels_match_trained_model(model_file: Path) -> None:
    found = by_key(Epitome(str(model_file)).score(REPLIES))
    assert list(found) == [f"{kind}_{name}" for name in ("er", "ip", "ex") for kind in ("epitome", "diff")]
    levels: dict[str, Any] = load(model_file).levels([["ran away"], ["ran away"]], ["sorry 2", "so sorry 1"])
    for mechanism, name in (("emotional_reactions", "er"), ("interpretations", "ip"), ("explorations", "ex")):
        ours, theirs = (int(row.argmax()) for row in levels[mechanism])
        assert found[f"epitome_{name}"].items[0] == ours
        assert found[f"diff_{name}"].items[0] == (ours - theirs) ** 2


def test_model_without_empathy_levels_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=rf"^{tmp_path}/none is not a trained model: "):
        Epitome(f"{tmp_path}/none")
    model = train_judge(tmp_path)
    with pytest.raises(OptionError) as error:
        Epitome(str(model))
    assert str(error.value) == (
        f"{model}: empathy:text_classifier does not predict levels of empathy: name a model of empathy:epitome"
    )


def test_epitome_model_is_rejected_as_classifier(model_file: Path) -> None:
    with pytest.raises(OptionError) as error:
        Classifier(str(model_file))
    assert str(error.value) == (
        f"{model_file}: empathy:epitome does not predict classes: name a model of a classifier, such as "
        "empathy:text_classifier"
    )


# --- emotions and intents --------------------------------------------------------------------------------------------


class FakeClassifier:
    """Predicts the class named by a text's first word."""

    labels = ("sad", "glad", "ask", "agree")
    settings = {"classifier": "some:task", "weights": "0a1b2c3d"}

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def labels_of(self, texts: Sequence[str]) -> list[str]:
        self.asked.append(list(texts))
        return [text.split()[0] for text in texts]


def accuracy(metric: type[EmotionAccuracy | IntentAccuracy], replies: Sequence[LoggedReply]) -> Scored:
    (found,) = metric(FakeClassifier()).score(replies)  # type: ignore[arg-type]
    return found


def test_emotion_accuracy_compares_with_conversation_emotion() -> None:
    found = accuracy(
        EmotionAccuracy,
        [
            LoggedReply("sad to hear", emotion="sad"),
            LoggedReply("glad to hear", emotion="sad"),
            LoggedReply("sad"),
            LoggedReply("sad", emotion="nostalgic"),
            LoggedReply("glad", emotion="glad"),
        ],
    )
    assert found.items == (1, 0, None, None, 1)
    assert (found.key, found.number) == ("emo_acc", pytest.approx(2 / 3))
    assert found.number.signature == f"EmoAcc|classifier:some:task|weights:0a1b2c3d|n:3|left_out:2|{TAIL}"


@pytest.mark.parametrize(
    ("emotion", "reason"),
    [
        (None, ""),
        ("", ""),
        (
            "SAD",
            " that is a class of the classifier of some:task: 'SAD', for example, is not one of sad, glad, ask, agree",
        ),
        (
            "joy",
            " that is a class of the classifier of some:task: 'joy', for example, is not one of sad, glad, ask, agree",
        ),
    ],
)
def test_emotion_accuracy_without_known_emotion_raises(emotion: str | None, reason: str) -> None:
    with pytest.raises(NotComputableError, match=f"^EmoAcc: no reply has an emotion{reason}$"):
        accuracy(EmotionAccuracy, [LoggedReply("sad", emotion=emotion)])


def test_intent_accuracy_compares_with_first_reference() -> None:
    found = accuracy(
        IntentAccuracy,
        [
            LoggedReply("ask more", references=("ask what?", "agree")),
            LoggedReply("ask"),
            LoggedReply("agree", references=("ask", "agree")),
            LoggedReply("agree so much", references=("agree",)),
            LoggedReply("glad to", references=("glad for you",)),
        ],
    )
    assert found.items == (1, None, 0, 1, 1)
    assert (found.key, found.number) == ("intent_acc", 0.75)
    settings = "classifier:some:task|weights:0a1b2c3d|reference:first"
    assert found.number.signature == f"IntentAcc|{settings}|n:4|left_out:1|{TAIL}"


def test_intents_are_classified_in_one_call() -> None:
    classifier: Any = FakeClassifier()
    IntentAccuracy(classifier).score([LoggedReply("ask", references=("agree",))] * 3)
    assert classifier.asked == [["ask", "agree"] * 3]


def test_intent_accuracy_without_references_raises() -> None:
    with pytest.raises(NotComputableError, match=r"^IntentAcc: no reply has a reference to compare its intent with$"):
        accuracy(IntentAccuracy, [LoggedReply("ask")])


# --- judges ----------------------------------------------------------------------------------------------------------


class Counting:
    """A judge that counts turns, words and references."""

    name = "counts"
    signature = "counts|version:1"

    def score(self, contexts: Any, replies: Any, references: Any = None) -> NDArray[np.float64]:
        rows = zip(contexts, replies, references, strict=True)
        return np.array([100 * len(turns) + 10 * len(reply.split()) + len(theirs) for turns, reply, theirs in rows])


def test_mean_score_averages_judge_scores() -> None:
    (found,) = MeanScore(Counting()).score(REPLIES)
    assert found.items == (322, 20, 120, 101)
    assert found.number == pytest.approx((322 + 20 + 120 + 101) / 4)
    assert (found.key, found.title) == ("judge_counts", "counts")
    assert found.number.signature == f"counts|judge:counts|version:1|n:4|{TAIL}"
    (named,) = MeanScore(Counting(), "my_key").score(REPLIES)
    assert (named.key, named.title) == ("my_key", "counts")


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_non_finite_judge_scores_raise(monkeypatch: pytest.MonkeyPatch, wrong: float) -> None:
    """One such score would make the mean of all not finite, which JSON cannot represent."""
    monkeypatch.setattr(Counting, "score", lambda *_: np.array([1.0, wrong, 2.0, 3.0]))
    with pytest.raises(NotComputableError, match=r"^counts gives a reply no finite score: name another model$"):
        MeanScore(Counting()).score(REPLIES)
