"""Retrieval models reply from their pool, without the true reply; and the human replies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny_judge import write_bert
from tiny_parts import train, train_base, train_classifier

from parlai_empathy.reports.evaluations import evaluate
from parlai_empathy.reports.evaluations.evaluations import Evaluations
from parlai_empathy.reports.leaderboards.empgpt3_systems import PEOPLE, asked, people_of
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.systems import common_items, score_systems, systems_of
from parlai_empathy.scoring.word_metrics import AvgBleu, CorpusBleu4, Length, Words
from parlai_empathy.tasks.empathetic_dialogues.build import build
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues


def _run(arguments: list[str], answer: Path, log: Path) -> int:
    """Evaluate in this process, which is faster."""
    evaluate.main(str(answer), *arguments, "--loglevel", "error")
    return 0


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One model of each ranking agent."""
    folder = tmp_path_factory.mktemp("models")
    base, classifier = train_base(folder / "retrieval"), train_classifier(folder / "classifier")
    torch.manual_seed(0)
    bert = write_bert(folder / "bert")
    found = {
        "retrieval": base,
        "prepend": train_base(folder / "prepend", "empathy:prepend", classifier=str(classifier)),
        "multitask": train_base(folder / "multitask", "empathy:multitask"),
        "ensemble": train(folder / "ensemble", "empathy:ensemble", base_model=str(base), classifier=str(classifier)),
        "rerank": train(
            folder / "rerank", "empathy:rerank", hf_model=str(bert), retriever=str(base), max_train_steps=1, batchsize=8
        ),
    }
    return {name: str(path) for name, path in found.items()}


def test_ranking_models_reply_from_the_training_pool(models: dict[str, str], tmp_path: Path) -> None:
    evaluations = Evaluations(tmp_path / "kept", _run)
    systems = asked(models, "test", ["--edition", "sample"], evaluations, str(tmp_path / "data")).systems
    assert [one.name for one in systems] == list(models)
    train_fold = build({"edition": "sample", "datapath": str(tmp_path)}) / "train.csv"
    pool = {turn.text for one in read_empathetic_dialogues(train_fold) for turn in one.turns}
    for one in systems:
        assert len(one.replies) == 64
        assert {reply.reply for reply in one.replies} <= pool, one.name
        assert not all(reply.is_candidate for reply in one.replies), one.name


def _answered(text: str, reply: str = "r", no_answer: str = "", system: str = "") -> LoggedReply:
    return LoggedReply(reply, (text,), (f"oh {text}",), "sad", system, "i7", no_answer)


def test_human_replies_include_items_that_systems_failed_to_answer() -> None:
    silent = [_answered("a", no_answer="time-out"), _answered("b"), _answered("b")]
    whole = [_answered("a"), _answered("b"), _answered("b")]
    for logs in ([silent], [whole], [silent, whole], [whole, silent]):
        people = people_of(logs)
        assert people is not None
        assert people.name == PEOPLE
        assert [(one.context, one.reply, one.item, one.no_answer) for one in people.replies] == [
            (("a",), "oh a", "", ""),
            (("b",), "oh b", "", ""),
            (("b",), "oh b", "", ""),
        ]


def test_human_replies_are_deduplicated_across_systems_of_a_log() -> None:
    people = people_of([[_answered("a", system="x"), _answered("a", system="y"), _answered("b", system="y")]])
    assert people is not None
    assert [one.reply for one in people.replies] == ["oh a", "oh b"]
    assert people_of([[LoggedReply("r", ("a",))]]) is None


def test_human_replies_are_deduplicated_across_logs_of_which_one_lacks_emotions() -> None:
    log = [_answered("a"), _answered("b")]
    without = [replace(one, emotion=None) for one in log]
    for logs in ([log, without], [without, log]):
        people = people_of(logs)
        assert people is not None
        assert [(one.reply, one.emotion) for one in people.replies] == [("oh a", "sad"), ("oh b", "sad")]


def test_human_replies_have_the_turns_of_the_log_that_has_them() -> None:
    without = [_answered("a"), _answered("b")]
    log = [replace(one, turn=turn) for one, turn in zip(without, (6, 4), strict=True)]
    for logs in ([log], [log, without], [without, log]):
        people = people_of(logs)
        assert people is not None
        assert [(one.reply, one.turn) for one in people.replies] == [("oh a", 6), ("oh b", 4)]


def test_human_replies_are_paired_with_systems_but_get_no_bleu() -> None:
    log = [_answered("a"), _answered("b", no_answer="time-out"), _answered("c")]
    people, (system,) = people_of([log]), systems_of("s", log)
    assert people is not None
    assert common_items(system, people) == [(0, 0), (1, 2)]
    words = Words()
    first, second = score_systems([people, system], {"n": Length(words), "b": AvgBleu(words), "b4": CorpusBleu4(words)})
    assert list(first.numbers) == ["words"]
    assert set(second.numbers) == {"words", "avg_bleu", "bleu_4"}
