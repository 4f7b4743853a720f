"""The answer of the evaluating process, which runs in this process here, and its end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import parlai.scripts.eval_model
import pytest
import torch
from parlai.core.agents import Agent, create_agent
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric
from parlai.scripts.eval_model import EvalModel

from parlai_empathy.reports.evaluations.evaluate import evaluate, main

TASK = ["-t", "empathy:empathetic_dialogues", "--edition", "sample", "-dt", "test", "--loglevel", "error"]


class Echo(Agent):  # type: ignore[misc]
    """Has seven parameters, one of them frozen, and reports a number with a signature."""

    def __init__(self, opt: object, shared: object = None) -> None:
        super().__init__(opt, shared)
        self.model = torch.nn.Linear(2, 2)
        self.model.extra = torch.nn.Parameter(torch.zeros(1), requires_grad=False)

    def act(self) -> Message:
        return Message({"text": "hello", "id": "echo"})

    def report(self) -> dict[str, AverageMetric]:
        return {"mine": Signed(1, 2)}


class Signed(AverageMetric):
    signature = "mine|n:2"


def test_evaluate_returns_values_signatures_and_parameter_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parlai.scripts.eval_model, "create_agent", lambda opt, requireModelExists: Echo(opt))
    created = parlai.scripts.eval_model.create_agent
    found = evaluate(TASK)
    assert found["report"]["mine"] == {"value": 0.5, "signature": "mine|n:2"}
    assert found["report"]["exs"] == {"value": 142.0}
    assert found["parameters"] == 7
    assert parlai.scripts.eval_model.create_agent is created


def test_values_match_eval_model() -> None:
    found = evaluate([*TASK, "-m", "repeat_query"])
    theirs = EvalModel.main(*TASK, "-m", "repeat_query")
    assert found["parameters"] is None
    assert {"f1", "exs"} <= set(theirs)
    for key in ("f1", "exs", "accuracy"):
        assert found["report"][key]["value"] == float(theirs[key])


def test_errors_are_written_as_one_line_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = tmp_path / "answer"
    main(str(answer), *TASK, "-m", "repeat_query", "--ed-history", "0")
    assert json.loads(answer.read_text()) == {"error": "--ed-history 0: must be at least 1, or -1 for all turns"}

    def broken(*_: object, **__: object) -> None:
        raise ValueError("two\nlines " + "x" * 1000)

    monkeypatch.setattr(parlai.scripts.eval_model, "create_agent", broken)
    main(str(answer), *TASK)
    error = json.loads(answer.read_text())["error"]
    assert error.startswith("ValueError: two lines x")
    assert len(error) < 400
    assert [path.name for path in tmp_path.iterdir()] == ["answer"], "nothing unfinished is left"


def test_random_seed_is_reset_for_each_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[float] = []

    def draw(*_: object, **__: object) -> Agent:
        drawn.append(torch.rand(1).item())
        return create_agent({"model": "repeat_query"})

    monkeypatch.setattr(parlai.scripts.eval_model, "create_agent", draw)
    for _ in range(2):
        main(str(tmp_path / "answer"), *TASK)
    assert drawn[0] == drawn[1]


def test_evaluation_ends_if_its_parent_is_killed(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\nprint('evaluating', flush=True)\ntime.sleep(60)\n")
    child = [sys.executable, "-m", "parlai_empathy.reports.evaluations.evaluate", "answer", *TASK, "-m", "slow:Slow"]
    parent = [sys.executable, "-c", f"import subprocess; subprocess.run({child!r})"]
    with subprocess.Popen(parent, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as killed:
        assert killed.stdout
        assert killed.stdout.readline() == "evaluating\n"
        killed.kill()
        killed.communicate(timeout=20)  # the pipe's other end is closed when the child process has ended too
