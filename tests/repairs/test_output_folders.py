"""An evaluation or chat creates the missing folders of its output files, and fails at once where it cannot."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from parlai.scripts import eval_model as eval_model_module
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.interactive import Interactive
from parlai.scripts.self_chat import SelfChat
from parlai_as_it_comes import source_of, unrepaired
from tiny_parts import SIZES, TASK, train_base

from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.errors import OptionError

SHORT: dict[str, Any] = {**TASK, **SIZES, "model": "empathy:retrieval", "datatype": "test", "num_examples": 4}


@pytest.fixture(autouse=True)
def _empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def evaluate(module: Any = None, **options: Any) -> None:
    (module.EvalModel if module else EvalModel).main(**SHORT, **options, dict_file="words")


@pytest.mark.parametrize("name", ["out/deep/report.json", "./out/report.json", "report.json"])
def test_report_is_written_to_missing_folder(name: str) -> None:
    evaluate(report_filename=name)
    assert json.loads(Path(name).read_text())["report"]["exs"] >= 4


def test_report_name_that_is_a_suffix_is_appended_to_model_name() -> None:
    train_base(Path("model"))
    EvalModel.main(**TASK, model_file="model", datatype="test", num_examples=4, report_filename=".json")
    assert json.loads(Path("model.json").read_text())["report"]["exs"] >= 4


def test_report_name_that_is_a_suffix_without_model_file_raises_option_error() -> None:
    with pytest.raises(OptionError, match=r"^--report-filename \.json: it would be appended to the name of --model"):
        evaluate(report_filename=".json")


def test_only_first_process_writes_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eval_model_module, "is_primary_worker", lambda: False)
    evaluate(report_filename="report.json")
    assert not Path("report.json").exists()


@pytest.mark.parametrize("layout", ["parlai", "conversations"])
def test_world_logs_are_written_to_missing_folder(layout: str) -> None:
    evaluate(world_logs="out/deep/log.jsonl", save_format=layout)
    assert Path("out/deep/log.jsonl").stat().st_size > 0


def test_read_only_folder_is_reported_before_the_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser may write anywhere
    monkeypatch.setattr(RetrievalAgent, "batch_act", None)
    with pytest.raises(OptionError, match=r"^--world-logs log cannot be written \(Permission denied\): name a file"):
        evaluate(world_logs="log")
    where = re.escape(os.path.abspath("out/report"))
    with pytest.raises(OptionError, match=rf"^--report-filename {where} cannot be written \(Permission denied\)"):
        evaluate(report_filename="out/report")


def test_report_appended_to_model_name_is_checked_there(monkeypatch: pytest.MonkeyPatch) -> None:
    train_base(Path("model"))
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != Path.cwd())
    with pytest.raises(OptionError, match=r"^--report-filename .*/model\.json cannot be written"):
        EvalModel.main(**TASK, model_file="model", datatype="test", report_filename=".json")


@pytest.mark.parametrize("command", [Interactive, SelfChat])
def test_outfile_that_cannot_be_written_is_reported_before_the_chat(command: Any) -> None:
    Path("busy").touch()
    with pytest.raises(OptionError, match=r"^--outfile busy/chat cannot be written \(File exists\): name a file in "):
        command.main(**TASK, model="empathy:in_context", lm_backend="echo", lm_cache="none", outfile="busy/chat")


def test_writable_file_in_a_read_only_folder_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("report").touch()
    monkeypatch.setattr(os, "access", lambda path, _: Path(path).is_file())  # such as /dev/stdout
    evaluate(report_filename="report")
    assert json.loads(Path("report").read_text())["report"]["exs"] >= 4


def test_unrepaired_parlai_fails_to_write_to_missing_folder() -> None:
    with pytest.raises(FileNotFoundError):
        evaluate(unrepaired("parlai.scripts.eval_model"), report_filename="out/report.json")
    with pytest.raises(FileNotFoundError):
        unrepaired("parlai.utils.world_logging").WorldLogger({"log_keep_fields": "all"}).write(
            "out/log.txt", None, "parlai"
        )


def test_unrepaired_parlai_does_not_check_where_it_will_write() -> None:
    unrepaired("parlai.utils.world_logging").WorldLogger({"log_keep_fields": "all", "world_logs": __file__ + "/log"})


def test_unrepaired_parlai_does_not_check_report_name_or_process() -> None:
    source = source_of("parlai.scripts.eval_model")
    assert "report_fname = opt['model_file'] + report_fname" in source
    assert "if not is_primary_worker:" in source  # the function, which is always true


@pytest.mark.parametrize(
    ("name", "file"),
    [
        *(("t0.7", "t0.7.jsonl"), ("run.v2", "run.v2.jsonl")),
        *(("log", "log.jsonl"), ("log.txt", "log.jsonl"), ("t0.7.jsonl", "t0.7.jsonl")),
    ],
)
def test_numbers_stay_part_of_log_names(name: str, file: str) -> None:
    evaluate(world_logs=name)
    assert {path.name for path in Path.cwd().iterdir()} >= {file, f"{Path(file).stem}.metadata"}


def test_unrepaired_parlai_drops_numbers_from_log_names() -> None:
    assert unrepaired("parlai.utils.conversations").Conversations._get_path("t0.7") == "t0.jsonl"
