"""An evaluation creates the missing folders of its output files, and does not fail at its end to name them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parlai.scripts import eval_model as eval_model_module
from parlai.scripts.eval_model import EvalModel
from parlai_as_it_comes import source_of, unrepaired
from tiny_parts import SIZES, TASK, train_base

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


def test_unrepaired_parlai_fails_to_write_to_missing_folder() -> None:
    with pytest.raises(FileNotFoundError):
        evaluate(unrepaired("parlai.scripts.eval_model"), report_filename="out/report.json")
    with pytest.raises(FileNotFoundError):
        unrepaired("parlai.utils.world_logging").WorldLogger({"log_keep_fields": "all"}).write(
            "out/log.txt", None, "parlai"
        )


def test_unrepaired_parlai_does_not_check_report_name_or_process() -> None:
    source = source_of("parlai.scripts.eval_model")
    assert "report_fname = opt['model_file'] + report_fname" in source
    assert "if not is_primary_worker:" in source  # the function, which is always true
