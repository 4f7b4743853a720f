"""``parlai leaderboard --suite empgpt3``: a small model that the tests train, and made-up logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel
from processes import SAMPLE, TINY

from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.reports.evaluations import evaluate
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.logs import read_replies_log
from parlai_empathy.scripts.leaderboard import Leaderboard

LAST_REPLIES = 64  # conversations of the sample's test fold


@pytest.fixture(scope="module")
def ranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a model that replies."""
    path = tmp_path_factory.mktemp("ranker") / "model"
    TrainModel.main(*SAMPLE, *TINY, "--seed", "1", "-mf", str(path), "--loglevel", "error")
    return path


@pytest.fixture(autouse=True)
def runs(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Run evaluations in this process, which is faster, and record them."""
    arguments_of: list[list[str]] = []

    def run(arguments: list[str], answer: Path, log: Path) -> int:
        arguments_of.append(arguments)
        evaluate.main(str(answer), *arguments, "--loglevel", "error")
        return 0

    monkeypatch.setattr("parlai_empathy.reports.evaluations.evaluations.run_process", run)
    return arguments_of


def board(**options: Any) -> Report:
    common = {"suite": "empgpt3", "edition": "sample", "resamples": 20, "loglevel": "error"}
    return Leaderboard.main(**{**common, **options})  # type: ignore[no-any-return]


def rows(report: Report, place: int = 0) -> dict[str, dict[str, Any]]:
    table = report.tables[place]
    return {str(row[0]): dict(zip(table.header[1:], row[1:], strict=True)) for row in table.rows}


def test_model_replies_at_the_last_turn_of_each_conversation(ranker: Path, tmp_path: Path) -> None:
    report = board(models=[f"ranks={ranker}"], out=str(tmp_path))
    found = rows(report)
    assert list(found) == ["people", "ranks"]
    assert found["ranks"]["replies"] == found["people"]["replies"] == LAST_REPLIES
    task = ("-t", "empathy:empathetic_dialogues:LastReply", "--edition", "sample", "-dt", "test")
    log = tmp_path / "log.jsonl"
    choose = ("--eval-candidates", "fixed")
    EvalModel.main(*task, "-mf", str(ranker), *choose, "--world-logs", str(log), "--loglevel", "error")
    theirs = read_replies_log(log)
    mine = [item for item in report.items if item["system"] == "ranks"]
    assert [item["reply"] for item in mine] == [one.reply for one in theirs]
    people = [item for item in report.items if item["system"] == "people"]
    assert [item["reply"] for item in people] == [one.references[0] for one in theirs]
    assert found["people"]["AVG BLEU"] is None, "they are what replies are compared with"
    differences = {row[1] for row in report.tables[2].rows}
    assert "words a reply" in differences
    assert not differences & {"AVG BLEU", "BLEU-4 (sacrebleu)"}


def test_second_run_reuses_saved_replies(ranker: Path, tmp_path: Path, runs: list[list[str]]) -> None:
    first = board(models=[f"ranks={ranker}"], out=str(tmp_path))
    assert len(runs) == 1
    second = board(models=[f"ranks={ranker}"], out=str(tmp_path))
    assert len(runs) == 1
    assert second.items == first.items
    (kept,) = (tmp_path / "evaluations").glob("*.replies.jsonl")
    kept.unlink()
    assert board(models=[f"ranks={ranker}"], out=str(tmp_path)).items == first.items
    assert len(runs) == 2


def test_prompted_language_model_can_be_evaluated(tmp_path: Path) -> None:
    path = tmp_path / "echo"
    TrainModel.main("-m", "empathy:in_context", "--lm-backend", "echo", "-mf", str(path), "--loglevel", "error")
    report = board(models=[str(path)], out=str(tmp_path / "out"))
    assert list(rows(report)) == ["people", f"{tmp_path.name}/echo"]
    last_turns = {one.context[-1] for one in read_replies_log(next((tmp_path / "out").rglob("*.replies.jsonl")))}
    replies = {item["reply"] for item in report.items if item["system"] != "people"}
    assert replies == last_turns, "it repeats what was said last"


def test_ed_history_1_gives_single_turn_contexts(ranker: Path, tmp_path: Path) -> None:
    report = board(models=[f"ranks={ranker}"], eval_args="--ed-history 1", out=str(tmp_path))
    (log,) = (tmp_path / "evaluations").glob("*.replies.jsonl")
    assert {len(one.context) for one in read_replies_log(log)} == {1}
    assert {item["turn"] for item in report.items} == {4, 6}, "the turns of whole conversations"
    assert "- models were evaluated with: --edition sample --ed-history 1" in report.tables[0].notes
    assert report.title == "EmpGPT-3: leaderboard, test fold of the sample"


def test_logs_are_reported_next_to_models(ranker: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    records = [{"reply": "oh dear", "context": ["i fell"], "reference": "ouch"}] * 2
    log.write_text("".join(json.dumps(record) + "\n" for record in records))
    found = rows(board(models=[f"ranks={ranker}"], logs=[f"theirs={log}"]))
    assert list(found) == ["people", "ranks", "theirs"]
    assert found["theirs"]["replies"] == 2


def test_logs_alone_run_no_evaluation(tmp_path: Path, runs: list[list[str]]) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"reply": "oh dear", "context": ["i fell"]}) + "\n")
    report = board(logs=[f"theirs={log}"])
    assert list(rows(report)) == ["theirs"], "nobody knows what people said"
    assert runs == []
    assert report.title == "EmpGPT-3: leaderboard", "the log may be of any data"
    assert not any("evaluated with" in note for note in report.tables[0].notes)


def test_failed_model_is_skipped_unless_nothing_else_remains(ranker: Path, tmp_path: Path) -> None:
    report = board(models=[f"gone={tmp_path}/gone", "no=zoo:nosuch/bar/model", f"ranks={ranker}"])
    assert list(rows(report)) == ["people", "ranks"]
    for left_out in (f"gone: {tmp_path}/gone is not a trained", "no: zoo:nosuch/bar/model is not available ("):
        assert any(note.startswith(f"- left out: {left_out}") for note in report.tables[0].notes)
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"reply": "oh dear"}) + "\n")
    report = board(models=[f"gone={tmp_path}/gone"], logs=[f"theirs={log}"])
    assert list(rows(report)) == ["theirs"]
    assert any(note.startswith("- left out: gone: ") for note in report.tables[0].notes)
    assert report.title == "EmpGPT-3: leaderboard", "no model replied to any fold"
    assert not any("evaluated with" in note for note in report.tables[0].notes)
    with pytest.raises(ModelFileError, match=r"^gone: .*gone is not a trained model"):
        board(models=[f"gone={tmp_path}/gone"])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "--suite empgpt3: name models or logs to compare, with --models or --logs"),
        ({"models": ["x=a"], "fold": "train"}, "--fold train: --suite empgpt3 scores only valid or test"),
        ({"models": ["people=b"]}, "--models: people is used twice: write NAME=FILE to tell them apart"),
        ({"logs": ["people=b"]}, "--logs: people is used twice: write NAME=FILE to tell them apart"),
        ({"logs": ["x=a"], "models": ["x=b"]}, "--models: x is used twice: write NAME=FILE to tell them apart"),
    ],
)
def test_invalid_options_raise_option_error(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(OptionError, match=f"^{reason}$"):
        board(**options)


def test_interrupt_message_explains_how_to_resume(
    ranker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("parlai_empathy.reports.evaluations.evaluations.run_process", interrupted)
    with pytest.raises(SystemExit, match=r"^130$"):
        board(models=[f"ranks={ranker}"], out=str(tmp_path))
    assert capsys.readouterr().err.endswith("\nStopped. Run the same command again to resume.\n")
