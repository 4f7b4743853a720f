"""Ctrl-C and SIGTERM in a training lose nothing: the step is finished and saved, and the same command resumes."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import parlai.utils.logging as logging
import pytest
import torch
from parlai.scripts import train_model as train_model_module
from parlai_as_it_comes import unrepaired
from processes import PATIENCE, SAMPLE, TINY, start
from sample_models import weights
from tiny_parts import BRIEF, SIZES, train_base

from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.repairs.interruption import _Stop

ENDLESS: dict[str, Any] = {**BRIEF, **SIZES, "model": "empathy:retrieval", "max_train_steps": 40}


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def press_in_step(monkeypatch: pytest.MonkeyPatch, step: int, times: int = 1) -> None:
    """Press Ctrl-C in the middle of a training step, counted from 1."""
    trains, steps = RetrievalAgent.train_step, iter(range(1, 1000))

    def train_step(self: Any, batch: Any) -> Any:
        if next(steps) == step:
            for _ in range(times):
                press_ctrl_c()
        return trains(self, batch)

    monkeypatch.setattr(RetrievalAgent, "train_step", train_step)


def stop(model_file: Path | None, module: ModuleType = train_model_module, **options: Any) -> None:
    """Run a training that must end by Ctrl-C."""
    file = {"model_file": str(model_file)} if model_file else {}
    with pytest.raises(KeyboardInterrupt):
        module.TrainModel.main(**{**ENDLESS, **options, **file})


def steps_in(stats: Path) -> int:
    return int(json.loads(stats.read_text())["train_steps"])


def test_interrupted_step_is_finished_and_saved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole = train_base(tmp_path / "whole", max_train_steps=3)
    press_in_step(monkeypatch, 3)
    stop(tmp_path / "model")
    assert steps_in(tmp_path / "model.checkpoint.trainstats") == 3
    saved, expected = weights(tmp_path / "model.checkpoint"), weights(whole)
    assert saved.keys() == expected.keys()
    assert all(torch.equal(saved[name], expected[name]) for name in expected)


def test_same_command_resumes_interrupted_training(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as once:
        press_in_step(once, 3)
        stop(tmp_path / "model")
    taken: list[int] = []
    trains = RetrievalAgent.train_step
    monkeypatch.setattr(RetrievalAgent, "train_step", lambda self, batch: taken.append(1) or trains(self, batch))
    train_base(tmp_path / "model", max_train_steps=5)
    assert len(taken) == 2
    assert steps_in(tmp_path / "model.trainstats") == 5


def test_interrupted_validation_stops_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    evaluated: list[int] = []

    def eval_step(self: Any, batch: Any) -> Any:
        evaluated.append(1)
        press_ctrl_c()
        raise AssertionError("it went on")

    monkeypatch.setattr(RetrievalAgent, "eval_step", eval_step)
    stop(tmp_path / "model", validation_every_n_steps=2)
    assert evaluated == [1]
    assert steps_in(tmp_path / "model.checkpoint.trainstats") == 2
    assert not (tmp_path / "model").exists()  # no validation has selected a best model yet


def test_interrupted_final_validation_is_run_on_resume(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as once:
        once.setattr(RetrievalAgent, "eval_step", lambda self, batch: press_ctrl_c())
        stop(tmp_path / "model", max_train_steps=3)
    train_base(tmp_path / "model", max_train_steps=3)
    stats = json.loads((tmp_path / "model.trainstats").read_text())
    assert [report["train_steps"] for report in stats["valid_reports"]] == [3]
    saved, last = weights(tmp_path / "model"), weights(tmp_path / "model.checkpoint")
    assert all(torch.equal(saved[name], last[name]) for name in last)


def test_validation_does_not_start_after_interrupt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read, evaluated = train_model_module.load_eval_worlds, []

    def pressed_read(*args: Any) -> Any:
        press_ctrl_c()
        return read(*args)

    monkeypatch.setattr(train_model_module, "load_eval_worlds", pressed_read)
    monkeypatch.setattr(RetrievalAgent, "eval_step", lambda self, batch: evaluated.append(1))
    stop(tmp_path / "model", validation_every_n_steps=2)
    assert evaluated == []
    assert steps_in(tmp_path / "model.checkpoint.trainstats") == 2


def test_interrupt_after_last_step_skips_final_evaluation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    create, created = train_model_module.create_agent, []

    def pressed_create(opt: Any) -> Any:
        created.append(1)
        if len(created) == 2:  # the best model, loaded for the final evaluation
            press_ctrl_c()
        return create(opt)

    monkeypatch.setattr(train_model_module, "create_agent", pressed_create)
    stop(tmp_path / "model", max_train_steps=2)
    assert len(created) == 2
    assert not (tmp_path / "model.test").exists()
    assert steps_in(tmp_path / "model.trainstats") == 2


@pytest.mark.parametrize("alive", [True, False])
def test_secondary_process_stops_only_without_its_parent(monkeypatch: pytest.MonkeyPatch, alive: bool) -> None:
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: SimpleNamespace(is_alive=lambda: alive))
    with contextlib.nullcontext() if alive else pytest.raises(KeyboardInterrupt):
        _Stop(decides=False)(signal.SIGINT, None)


def test_second_interrupt_stops_at_once_without_saving(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    press_in_step(monkeypatch, 2, times=2)
    stop(tmp_path / "model")
    assert not (tmp_path / "model.checkpoint").exists()


def test_interrupt_during_save_completes_it_and_still_stops(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    save, saved = RetrievalAgent.save, []

    def pressed_save(self: Any, path: str | None = None) -> None:
        if not saved:
            press_ctrl_c()
        saved.append(path)
        save(self, path)

    monkeypatch.setattr(RetrievalAgent, "save", pressed_save)
    stop(tmp_path / "model", save_every_n_secs=0.001)
    checkpoint = str(tmp_path / "model.checkpoint")
    assert saved == [checkpoint, checkpoint]  # ParlAI alone would repeat the save and forget Ctrl-C
    assert steps_in(tmp_path / "model.checkpoint.trainstats") == 2


def test_interrupt_without_model_file_warns_that_nothing_was_saved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(logging, "warning", warnings.append)
    press_in_step(monkeypatch, 1)
    stop(None, dict_file=str(tmp_path / "dict"))
    assert "Stopping after this step; Ctrl-C once more stops at once" in capfd.readouterr().err
    assert warnings == ["Nothing was saved: there is no --model-file"]
    assert [path.name for path in tmp_path.iterdir() if "checkpoint" in path.name] == []


def test_signal_handlers_are_restored_after_interrupt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    press_in_step(monkeypatch, 1)
    stop(tmp_path / "model")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_unstarted_loop_can_evaluate(tmp_path: Path) -> None:
    options = train_model_module.setup_args().parse_kwargs(**ENDLESS, model_file=str(tmp_path / "model"))
    loop = train_model_module.TrainLoop(options)
    worlds = train_model_module.load_eval_worlds(loop.agent, options, "valid")
    assert loop._run_eval(worlds, options, "valid")["exs"] > 100


def test_unrepaired_parlai_saves_no_checkpoint_on_interrupt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    press_in_step(monkeypatch, 3)
    stop(tmp_path / "model", unrepaired("parlai.scripts.train_model"))
    assert not (tmp_path / "model.checkpoint").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "command",
    [
        ["train_model"],
        ["train_model", "--num-workers", "1"],
        ["multiprocessing_train", "--distributed-world-size", "2"],
    ],
    ids=["one", "with a worker", "two"],
)
def test_signal_ends_all_processes_with_a_checkpoint(
    tmp_path: Path, command: list[str], number: signal.Signals
) -> None:
    size = ("-bs", "32", "--num-epochs", "500", "--validation-patience", "0", "--log-every-n-steps", "1")
    training = start([sys.executable, "-m", "parlai", *command, *SAMPLE, *TINY, *size, "-mf", "model"], tmp_path)
    validated = (tmp_path / "model.checkpoint.trainstats").exists
    try:
        wait_for(lambda: validated() or training.poll() is not None)
        before = steps_in(tmp_path / "model.checkpoint.trainstats")
        time.sleep(0.5)  # time for more steps than are saved
        os.killpg(training.pid, number)  # as a terminal or a job scheduler does
        out, err = training.communicate(timeout=PATIENCE)
    finally:
        if training.poll() is None:
            os.killpg(training.pid, signal.SIGKILL)
    assert training.returncode == 130
    assert "Traceback" not in out + err
    assert "\nStopped.\n" in err  # before Python's messages about terminated processes
    steps = steps_in(tmp_path / "model.checkpoint.trainstats")
    assert f"Saved after {steps} steps in model.checkpoint: the same command resumes from there" in out + err
    assert steps > before


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
