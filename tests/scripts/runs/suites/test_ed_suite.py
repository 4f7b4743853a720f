"""``parlai leaderboard --suite ed``: small models that the tests train, and made-up logs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel
from PIL import Image
from processes import SAMPLE, TINY, parlai_command, succeeded
from tiny_judge import train_judge

from parlai_empathy.errors import DataError, ModelFileError, OptionError
from parlai_empathy.reports.evaluations import evaluate
from parlai_empathy.reports.leaderboards.ed_figures import PUBLISHED
from parlai_empathy.reports.report import Report
from parlai_empathy.scripts.leaderboard import Leaderboard
from parlai_empathy.scripts.runs.suites import ed as suite

QUICK: dict[str, Any] = {"suite": "ed", "edition": "sample", "loglevel": "error"}
LOG = """\
Emotion: proud
Context: ['i won the race']
MOE: that is great !
trs: good .
ref: how great !

"""


@pytest.fixture(scope="module")
def ranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a model that replies."""
    path = tmp_path_factory.mktemp("ranker") / "model"
    TrainModel.main(*SAMPLE, *TINY, "--seed", "1", "-mf", str(path), "--loglevel", "error")
    return path


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a model that predicts emotions."""
    return train_judge(tmp_path_factory.mktemp("classifier"), task="empathy:empathetic_dialogues:SituationEmotion")


def board(**options: Any) -> Report:
    return Leaderboard.main(**{**QUICK, **options})  # type: ignore[no-any-return]


def log_board(**options: Any) -> Report:
    """Without an edition, which only models have."""
    return Leaderboard.main(suite="ed", loglevel="error", **options)  # type: ignore[no-any-return]


def read(report: Report, place: int = 0) -> dict[str, dict[str, Any]]:
    table = report.tables[place]
    return {str(row[0]): dict(zip(table.header[1:], row[1:], strict=True)) for row in table.rows}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory, ranker: Path) -> Path:
    """Return the folder of a report on a model that replies, a broken one and a missing one."""
    folder = tmp_path_factory.mktemp("board")
    shutil.copy(f"{ranker}.opt", folder / "torn.opt")
    (folder / "torn").write_bytes(ranker.read_bytes()[:1000])
    command = [
        *("leaderboard", "--suite", "ed", "--edition", "sample", "--out", "out"),
        *("--models", f"ranks={ranker}", "torn=torn", "gone=gone/model"),
    ]
    result = succeeded(parlai_command(*command, cwd=folder))
    (folder / "stdout").write_text(result.stdout)
    (folder / "stderr").write_text(result.stderr)
    return folder


def test_model_metrics_match_eval_model(out: Path, ranker: Path) -> None:
    (table,) = json.loads((out / "out" / "report.json").read_text())["tables"]
    rows = {row[0]: dict(zip(table["header"], row, strict=True)) for row in table["rows"]}
    assert list(rows) == ["ranks", *(one.name for one in PUBLISHED)]
    theirs = EvalModel.main(*SAMPLE, "-mf", str(ranker), "-dt", "test", "--loglevel", "error")
    ranks = rows["ranks"]
    assert ranks["P@1,100 shuffled"] == pytest.approx(100 * float(theirs["p_at_1_100_shuffled"]))
    assert ranks["AVG BLEU"] == pytest.approx(float(theirs["avg_bleu"]))
    assert ranks["epochs"] >= 1
    assert ranks["parameters, M"] > 0
    signature = table["signatures"][0][table["header"].index("P@1,100 shuffled")]
    assert signature.startswith("P@k,100|task:empathy:empathetic_dialogues|protocol:shuffled|seed:42|")


def test_classifier_accuracy_matches_eval_model(classifier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def in_this_process(arguments: list[str], answer: Path, log: Path) -> int:
        evaluate.main(str(answer), *arguments, "--loglevel", "error")
        return 0

    monkeypatch.setattr("parlai_empathy.reports.evaluations.evaluations.run_process", in_this_process)
    row = read(board(models=[f"tells={classifier}"]))["tells"]
    for teacher, column in (
        ("SituationEmotion", "emotion: situation"),
        ("SituationEmotionCut", "emotion: situation, cut"),
        ("ContextEmotion", "emotion: context"),
    ):
        task = ("-t", f"empathy:empathetic_dialogues:{teacher}", "--edition", "sample")
        theirs = EvalModel.main(*task, "-mf", str(classifier), "-dt", "test", "--loglevel", "error")
        assert row[column] == pytest.approx(100 * float(theirs["accuracy"]))


def test_report_is_printed_and_saved_with_plot(out: Path) -> None:
    printed = (out / "stdout").read_text()
    markdown = (out / "out" / "report.md").read_text()
    assert markdown.split("\n![")[0].strip() in printed
    assert "evaluating: 100%" in (out / "stderr").read_text()
    page = (out / "out" / "report.html").read_text()
    assert page.count("data:image/svg+xml;base64,") == 1
    with Image.open(out / "out" / "p_at_1.png") as image:
        assert image.format == "PNG"


def test_failed_models_are_listed_in_notes(out: Path) -> None:
    markdown = (out / "out" / "report.md").read_text()
    assert re.search(r"^- torn: left out: .*torn is cut off or damaged, or no model file: .*\.log\)$", markdown, re.M)
    assert "\n- gone: left out: gone/model is not a trained model: model and model.opt must exist\n" in markdown


def test_second_run_reuses_saved_evaluations(
    out: Path, ranker: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object) -> int:
        raise AssertionError("nothing should be evaluated")

    monkeypatch.setattr("parlai_empathy.reports.evaluations.evaluations.run_process", fail)
    shutil.copytree(out / "out" / "evaluations", tmp_path / "evaluations")
    before = json.loads((out / "out" / "report.json").read_text())["tables"][0]["rows"][0]
    report = board(models=[f"ranks={ranker}"], out=str(tmp_path))
    assert [cell for cell in report.tables[0].rows[0] if cell is not None] == [
        cell for cell in before if cell is not None
    ]


def test_interrupt_message_explains_how_to_resume(
    ranker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("parlai_empathy.reports.evaluations.evaluations.run_process", interrupted)
    with pytest.raises(SystemExit, match=r"^130$"):
        board(models=[str(ranker)], out=str(tmp_path))
    assert capsys.readouterr().err.endswith("\nStopped. Run the same command again to resume.\n")
    with pytest.raises(SystemExit, match=r"^130$"):
        board(models=[str(ranker)])
    assert capsys.readouterr().err.endswith("\nStopped.\n")


def test_options_are_passed_to_eval_model(ranker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def remember(arguments: list[str], answer: Path, log: Path) -> int:
        asked.append(arguments)
        answer.write_text(json.dumps({"report": {"avg_bleu": {"value": 5.0}}, "parameters": None}))
        return 0

    monkeypatch.setattr("parlai_empathy.reports.evaluations.evaluations.run_process", remember)
    report = board(
        models=[str(ranker)], fold="valid", tasks=["ed", "dd"], datapath="d", eval_args="--inference topk -bs 4"
    )
    assert [table.title for table in report.tables] == [
        "EmpatheticDialogues, valid fold of the sample",
        "DailyDialog, valid fold of the sample",
    ]
    for table in report.tables:
        assert "- models were evaluated with: --edition sample --inference topk -bs 4" in table.notes
    tail = ["--datatype", "valid", "--datapath", "d", "--edition", "sample", "--inference", "topk", "-bs", "4"]
    assert asked == [
        ["--model-file", str(ranker), "--task", task, *tail]
        for task in ("empathy:empathetic_dialogues", "empathy:daily_dialog")
    ]


def test_command_fails_if_all_models_fail(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"^x: .*/none is not a trained model: .*; all 2 failed$"):
        board(models=[f"x={tmp_path}/none", f"y={tmp_path}/neither"])


def test_logs_are_reported_even_if_all_models_fail(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(LOG)
    report = board(models=[f"x={tmp_path}/none"], logs=[f"MoEL={tmp_path}/log.txt"])
    measured, logged = report.tables
    assert any(note.startswith("- x: left out: ") for note in measured.notes)
    assert [row[0] for row in logged.rows][:2] == ["MoEL: MOE", "MoEL: trs"]
    assert [plot.name for plot in report.plots] == ["replies"]  # there is nothing to plot for models


# --- logs ------------------------------------------------------------------------------------------------------------


def test_logs_of_other_systems_are_scored_and_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "moel.txt").write_text(LOG * 2)
    (tmp_path / "mine.jsonl").write_text('{"reply": "How great!", "reference": "How great!"}\n{"reply": ""}\n')
    report = log_board(
        logs=[f"MoEL={tmp_path}/moel.txt", str(tmp_path / "mine.jsonl")],
        tokens="space",
        lower_case=True,
        out=str(tmp_path / "out"),
    )
    assert report.text() in capsys.readouterr().out
    rows = read(report)
    assert list(rows)[:3] == ["MoEL: MOE", "MoEL: trs", f"{tmp_path.name}/mine.jsonl"]
    # "that is great !" twice: 4 distinct words of 8, 3 distinct bigrams of 6.
    assert (rows["MoEL: MOE"]["Dist-1"], rows["MoEL: MOE"]["Dist-2"]) == (50, 50)
    assert rows[f"{tmp_path.name}/mine.jsonl"]["empty"] == 1
    assert "case:lower|tokens:space" in report.text()
    items = [json.loads(line) for line in (tmp_path / "out" / "items.jsonl").read_text().splitlines()]
    assert [(item["system"], item["item"]) for item in items] == [
        (name, f"{name}#{place}") for name in list(rows)[:3] for place in (1, 2)
    ]


def test_unreadable_log_raises_before_models_are_evaluated(
    ranker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "measure", lambda *_: pytest.fail("nothing should be evaluated"))
    (tmp_path / "log.txt").write_text("Emotion: x\nContext: oops\n")
    with pytest.raises(DataError, match=r"log\.txt, line 2: Context is 'oops', expected a list of turns"):
        board(models=[str(ranker)], logs=[str(tmp_path / "log.txt")])


def test_real_log_metrics_are_plausible(real_data: Path) -> None:
    row = read(log_board(logs=[f"EmpDG={real_data}/peers/EmpDG_EmpDG.txt"], tokens="space"))["EmpDG"]
    assert (row["replies"], row["empty"]) == (2713, 0)
    # Published Dist-1 and Dist-2 are for twice as many replies, which makes them smaller.
    assert 0.5 < row["Dist-1"] < 2.5
    assert 2 < row["Dist-2"] < 10


# --- wrong options ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "--suite ed: name models or logs to compare, with --models or --logs"),
        ({"models": ["m"], "fold": "all"}, "--fold all: --suite ed scores only valid or test"),
        ({"models": ["m"], "fold": "train"}, "--fold train: --suite ed scores only valid or test"),
        ({"models": ["x=a", "x=b"]}, "--models: x is used twice: write NAME=FILE to tell them apart"),
        ({"models": ["MoEL (Zhou et al. 2023)=m"]}, "--models: MoEL (Zhou et al. 2023) is used twice: write NAME=FILE"),
        (
            {"models": ["m"], "logs": ["MoEL (Zhou et al. 2023)=l"]},
            "--logs: MoEL (Zhou et al. 2023) is used twice: write NAME=FILE",
        ),
        ({"models": ["m"], "logs": ["a/x", "b/a/x"]}, "--logs: a/x is used twice: write NAME=FILE to tell them apart"),
        (
            {"models": ["m"], "eval_args": '--a "b'},
            "--eval-args: No closing quotation: quote it as on the command line",
        ),
    ],
)
def test_invalid_options_raise_option_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}"):
        board(**options)


def test_duplicate_tasks_are_merged(ranker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(suite, "measure", lambda *given: seen.append(given) or [])
    board(models=[str(ranker)], tasks=["ed", "ed"])
    assert seen[0][1] == ["ed"]
