"""The real demo, with a smaller recipe so that it takes seconds."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from parlai.core.metrics import AverageMetric
from parlai.scripts.train_model import TrainLoop

from parlai_empathy.scripts.empathy_demo import EmpathyDemo
from parlai_empathy.scripts.runs import empathy_demo
from parlai_empathy.scripts.runs.empathy_demo import MESSAGES, is_trained, next_steps, table
from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues

SMALL = " --embedding-size 16 --n-heads 2 --ffn-size 16 --num-epochs 2"  # a repeated option overrides the first one


@pytest.fixture
def small_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(empathy_demo, "RECIPE", empathy_demo.RECIPE + SMALL)


def replies_of(output: str) -> list[str]:
    return [line.split("Listener: ")[1] for line in output.splitlines() if "Listener: " in line]


@pytest.mark.usefixtures("small_recipe")
def test_demo_trains_evaluates_and_replies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model_file = tmp_path / "new folder" / "model"
    EmpathyDemo.main("-mf", str(model_file))
    output = capsys.readouterr().out
    training_replies = {
        turn.text for dialogue in read_empathetic_dialogues(SAMPLE / "train.csv") for turn in dialogue.turns
    }
    assert len(replies_of(output)) == len(MESSAGES)
    assert set(replies_of(output)) <= training_replies
    for text in ("P@1,100 shuffled", "AVG BLEU", "protocol:ordered", "split:test", "parlai interactive -mf"):
        assert text in output
    assert '"hits@1"' not in output, "ParlAI's full report is not printed"


@pytest.mark.usefixtures("small_recipe")
def test_second_run_reuses_the_trained_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    EmpathyDemo.main("-mf", str(tmp_path / "model"))
    first = replies_of(capsys.readouterr().out)
    EmpathyDemo.main("-mf", str(tmp_path / "model"))
    output = capsys.readouterr().out
    assert f"1. Already trained: {tmp_path / 'model'} (delete {tmp_path / 'model'}* to train again)" in output
    assert replies_of(output) == first


@pytest.mark.usefixtures("small_recipe")
def test_interrupted_training_resumes_even_after_chatting_with_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model_file = str(tmp_path / "model")
    log, logged = TrainLoop.log, []

    def stop_in_the_second_epoch(loop: TrainLoop) -> Any:
        logged.append(loop)
        if len(logged) == 2:  # called once per epoch
            raise KeyboardInterrupt
        return log(loop)

    with monkeypatch.context() as patch:
        patch.setattr(TrainLoop, "log", stop_in_the_second_epoch)
        with pytest.raises(SystemExit, match=r"^130$"):
            EmpathyDemo.main("-mf", model_file)
    empathy_demo.answer(model_file)
    assert Path(f"{model_file}.pool").exists()
    assert not is_trained(model_file)
    capsys.readouterr()
    EmpathyDemo.main("-mf", model_file)
    assert "1. Training on" in capsys.readouterr().out
    assert is_trained(model_file)


@pytest.mark.parametrize(
    ("epochs", "impatience", "validated", "expected"),
    [
        (24.9, 9, 70, False),
        (25.1, 0, 70, True),
        (14.2, 10, 70, True),
        (25.1, 0, 65, False),  # stopped before the final validation
        (25.1, 0, None, False),
    ],
)
def test_training_is_complete_after_all_epochs_or_early_stopping(
    tmp_path: Path, epochs: float, impatience: int, validated: int | None, expected: bool
) -> None:
    reports = [] if validated is None else [{"train_steps": 60}, {"train_steps": validated}]
    stats = {"total_epochs": epochs, "impatience": impatience, "train_steps": 70, "valid_reports": reports}
    model = checkpoint(tmp_path, json.dumps(stats))
    assert is_trained(str(model)) is expected
    model.unlink()
    assert not is_trained(str(model))


@pytest.mark.parametrize("stats", ['{"total_epochs": 25', None])
def test_training_with_broken_or_missing_stats_is_incomplete(tmp_path: Path, stats: str | None) -> None:
    assert not is_trained(str(checkpoint(tmp_path, stats)))


def checkpoint(folder: Path, stats: str | None) -> Path:
    """Write a model file, and the checkpoint's options and statistics."""
    (model := folder / "model").touch()
    Path(f"{model}.checkpoint.opt").write_text('{"num_epochs": 25, "validation_patience": 10}')
    if stats is not None:
        Path(f"{model}.checkpoint.trainstats").write_text(stats)
    return model


def test_interrupt_message_explains_how_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(empathy_demo, "train", stop)
    with pytest.raises(SystemExit, match=r"^130$"):
        EmpathyDemo.main("-mf", str(tmp_path / "model"))
    assert capsys.readouterr().err.endswith(
        "\nStopped. Run the same command again to resume from the last checkpoint.\n"
    )


def test_precision_is_shown_in_percent_with_chance_level() -> None:
    lines = table({"p_at_3_100_ordered": AverageMetric(1, 8), "avg_bleu": AverageMetric(5.25)}).splitlines()
    assert lines[1].split() == ["P@3,100", "ordered", "12.5", "%", "(3", "%)"]
    assert lines[2].split() == ["AVG", "BLEU", "5.2"]


@pytest.mark.parametrize(
    ("called", "path", "expected"),
    [
        (".venv/bin/parlai", "", ".venv/bin/parlai interactive"),  # as `make demo` calls it
        (".venv/bin/parlai", "{bin}", ".venv/bin/parlai interactive"),  # another environment is active
        ("{bin}/parlai", "{bin}", "   parlai interactive"),  # this environment is active
        ("/usr/bin/python", "", "   parlai interactive"),
    ],
)
def test_next_steps_use_the_parlai_path_that_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, called: str, path: str, expected: str
) -> None:
    (tmp_path / "parlai").touch(mode=0o755)
    monkeypatch.setattr("sys.argv", [called.format(bin=tmp_path), "empathy_demo"])
    monkeypatch.setenv("PATH", path.format(bin=tmp_path))
    assert expected in next_steps("model")


def test_next_steps_can_be_pasted_when_paths_have_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["my env/bin/parlai", "empathy_demo"])
    command = next_steps("my models/model").splitlines()[2]
    assert shlex.split(command) == ["my env/bin/parlai", "interactive", "-mf", "my models/model"]
