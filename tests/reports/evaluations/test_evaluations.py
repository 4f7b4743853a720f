"""Evaluations run once, are stored completely or not at all, and fail with one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.reports.evaluations import evaluations as module
from parlai_empathy.reports.evaluations.evaluations import Evaluations, Job, Result, run_process

JOB = Job("f" * 64, "empathy:empathetic_dialogues", "test", ("--edition", "sample"))
FOUND: dict[str, Any] = {"report": {"avg_bleu": {"value": 5.0, "signature": "AVG BLEU|n:3"}}, "parameters": 7}
RESULT = Result(FOUND["report"], 7)


class Runner:
    """Replaces the process: gives scripted answers, and counts calls."""

    def __init__(self, *answers: Any, code: int = 0, log: str = "") -> None:
        self.answers = list(answers)
        self.code = code
        self.log = log
        self.arguments: list[list[str]] = []

    def __call__(self, arguments: list[str], answer: Path, log: Path) -> int:
        self.arguments.append(arguments)
        log.write_text(self.log)
        found = self.answers.pop(0) if self.answers else None
        if isinstance(found, BaseException):
            raise found
        if found is not None:
            answer.write_text(json.dumps(found))
        return self.code


def result(evaluations: Evaluations, job: Job = JOB) -> Result:
    return evaluations.result(job, "m/model", "data")


def test_repeated_job_runs_once(tmp_path: Path) -> None:
    runner = Runner(FOUND)
    evaluations = Evaluations(tmp_path / "kept", runner)
    assert not evaluations.is_kept(JOB)
    assert result(evaluations) == RESULT
    assert evaluations.is_kept(JOB)
    assert result(Evaluations(tmp_path / "kept", runner)) == RESULT
    assert runner.arguments == [
        ["--model-file", "m/model", "--task", JOB.task, "--datatype", "test", "--datapath", "data", *JOB.options]
    ]


def test_kept_result_is_readable_json(tmp_path: Path) -> None:
    result(Evaluations(tmp_path, Runner(FOUND)))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".log"]
    kept = json.loads((tmp_path / f"{JOB.name}.json").read_text())
    assert kept["model_file"] == "m/model"
    assert kept["job"]["task"] == JOB.task
    assert kept["report"] == FOUND["report"]


@pytest.mark.parametrize(
    "other",
    [
        replace(JOB, model="e" * 64),
        replace(JOB, task="empathy:daily_dialog"),
        replace(JOB, fold="valid"),
        replace(JOB, options=("--edition", "full")),
        replace(JOB, data="d" * 64),
        replace(JOB, version="0.0"),
    ],
)
def test_each_job_field_changes_the_cache_key(tmp_path: Path, other: Job) -> None:
    evaluations = Evaluations(tmp_path, Runner(FOUND, {**FOUND, "parameters": 8}))
    result(evaluations)
    assert result(evaluations, other).parameters == 8


def test_nothing_is_kept_without_a_folder() -> None:
    runner = Runner(FOUND, FOUND)
    evaluations = Evaluations(None, runner)
    assert [result(evaluations), result(evaluations)] == [RESULT, RESULT]
    assert not evaluations.is_kept(JOB)
    assert len(runner.arguments) == 2


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"report": 3, "parameters": null}'])
def test_broken_kept_result_is_reevaluated_with_warning(
    tmp_path: Path, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    (tmp_path / f"{JOB.name}.json").write_text(content)
    assert result(Evaluations(tmp_path, Runner(FOUND))) == RESULT
    assert warnings == [f"{tmp_path / JOB.name}.json is not a complete result: evaluating again"]
    assert result(Evaluations(tmp_path, Runner())) == RESULT, "from then on it is whole"


def test_failure_names_the_log_and_is_retried(tmp_path: Path) -> None:
    runner = Runner({"error": "m/model is broken"}, FOUND)
    evaluations = Evaluations(tmp_path, runner)
    with pytest.raises(ModelFileError, match=f"^m/model is broken \\(log: {tmp_path / JOB.name}.log\\)$"):
        result(evaluations)
    assert not evaluations.is_kept(JOB)
    assert result(evaluations) == RESULT


@pytest.mark.parametrize(
    ("code", "log", "reason"),
    [
        (-signal.SIGKILL, "", "its evaluation was ended by SIGKILL (is there enough memory for it?)"),
        (-signal.SIGSEGV, "x", "its evaluation was ended by SIGSEGV"),
        (-200, "x", "its evaluation was ended by signal 200"),
        (
            2,
            "usage: ...\n\neval_model: error: no such option\n\n",
            "its evaluation ended with status 2: eval_model: error",
        ),
        (1, "", "its evaluation ended with status 1: no output"),
    ],
)
def test_error_explains_process_exit_without_answer(tmp_path: Path, code: int, log: str, reason: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        result(Evaluations(tmp_path, Runner(code=code, log=log)))
    assert str(caught.value).startswith(reason)
    assert "\n" not in str(caught.value)


def test_stale_answer_file_is_ignored(tmp_path: Path) -> None:
    (tmp_path / f"{JOB.name}.answer").write_text(json.dumps(FOUND))
    with pytest.raises(ModelFileError, match="no output"):
        result(Evaluations(tmp_path, Runner(code=1)))


def test_interruption_keeps_finished_results(tmp_path: Path) -> None:
    evaluations = Evaluations(tmp_path, Runner(FOUND, KeyboardInterrupt()))
    result(evaluations)
    with pytest.raises(KeyboardInterrupt):
        result(evaluations, replace(JOB, fold="valid"))
    assert evaluations.is_kept(JOB)
    assert not evaluations.is_kept(replace(JOB, fold="valid"))


class Crossed(Runner):
    """Replaces a process during which another command does the same job from start to end."""

    def __init__(self, beside: Callable[[], object], *answers: Any, code: int = 0, log: str = "") -> None:
        super().__init__(*answers, code=code, log=log)
        self.beside = beside
        self.messages: list[dict[str, str]] = []

    def __call__(self, arguments: list[str], answer: Path, log: Path) -> int:
        code = super().__call__(arguments, answer, log)
        if "--world-logs" in arguments:
            messages = self.messages or [{"id": "model", "text": self.log}]
            replies = [{"dialog": [[{"id": "x", "text": "Hello."}, message]]} for message in messages]
            Path(arguments[-1]).write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        self.beside()
        return code


def test_concurrent_commands_both_get_the_result(tmp_path: Path) -> None:
    beside = Evaluations(tmp_path, Runner(FOUND, log="beside"))
    assert result(Evaluations(tmp_path, Crossed(lambda: result(beside), FOUND, log="own"))) == RESULT
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".log"]
    assert (tmp_path / f"{JOB.name}.log").read_text() == "own"


def test_concurrent_commands_both_get_the_replies(tmp_path: Path) -> None:
    def replies(log: str, beside: Callable[[], object]) -> list[str]:
        evaluations = Evaluations(tmp_path, Crossed(beside, FOUND, log=log))
        return [one.reply for one in evaluations.replies(JOB, "m/model", "data")]

    others: list[str] = []
    assert replies("own", lambda: others.extend(replies("beside", lambda: None))) == ["own"]
    assert others == ["beside"]
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".jsonl", ".log"]


@pytest.mark.parametrize("lost", [None, ".json", ".replies.jsonl"])
def test_replies_are_asked_for_again_only_if_a_file_is_lost(tmp_path: Path, lost: str | None) -> None:
    runner = Crossed(lambda: None, FOUND, FOUND, log="hi")
    for _ in range(2):
        assert [one.reply for one in Evaluations(tmp_path, runner).replies(JOB, "m/model", "data")] == ["hi"]
        if lost:
            (tmp_path / f"{JOB.name}{lost}").unlink()
    assert len(runner.arguments) == (2 if lost else 1)


def _replies(folder: Path, runner: Runner) -> list[tuple[str, str]]:
    found = Evaluations(folder, runner).replies(JOB, "m/model", "data")
    return [(one.reply, one.no_answer) for one in found]


def test_missing_answers_are_asked_for_again_until_there_are_none(tmp_path: Path) -> None:
    runner = Crossed(lambda: None, FOUND, FOUND, FOUND)
    for answer in ({"no_answer": "a filter"}, {"no_answer": "a filter"}, {"text": "there"}):
        runner.messages = [{"text": "hi"}, answer]
        found = [("hi", ""), (answer.get("text", ""), answer.get("no_answer", ""))]
        assert _replies(tmp_path, runner) == found, "once in each command"
    assert _replies(tmp_path, runner) == [("hi", ""), ("there", "")]
    assert len(runner.arguments) == 3


def test_replies_with_missing_answers_remain_if_asking_again_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    runner = Crossed(lambda: None, FOUND, {"error": "the server is down"})
    runner.messages = [{"text": "hi"}, {"no_answer": "a filter"}]
    assert _replies(tmp_path, runner) == [("hi", ""), ("", "a filter")]
    runner.messages = [{"text": "half"}]  # in the log of the failed evaluation
    assert _replies(tmp_path, runner) == [("hi", ""), ("", "a filter")]
    (warning,) = warnings
    assert warning.startswith("the server is down (log: ")
    assert warning.endswith("): using the earlier evaluation, in which some answers are missing")


def test_result_with_missing_answers_is_tried_again_and_remains_if_that_fails(tmp_path: Path) -> None:
    part = {**FOUND, "report": {**FOUND["report"], "no_answer": {"value": 0.25}}}
    whole = {**FOUND, "report": {**FOUND["report"], "no_answer": {"value": 0.0}}}
    runner = Runner(part, {"error": "the server is down"}, whole)
    evaluations = Evaluations(tmp_path, runner)
    for _ in range(2):
        assert result(evaluations) == Result(part["report"], 7)
        assert not evaluations.is_kept(JOB)
    for _ in range(2):
        assert result(evaluations) == Result(whole["report"], 7)
        assert evaluations.is_kept(JOB)
    assert len(runner.arguments) == 3


def test_result_with_missing_answers_is_not_used_for_a_changed_model(tmp_path: Path) -> None:
    part = {**FOUND, "report": {**FOUND["report"], "no_answer": {"value": 0.25}}}
    result(Evaluations(tmp_path, Runner(part)))
    changed = Evaluations(tmp_path, Runner(FOUND), fingerprint=lambda *about: "of another model")
    with pytest.raises(ModelFileError, match=r"^m/model has changed since this command began: run it again$"):
        result(changed)


def test_failed_command_uses_result_of_concurrent_command(tmp_path: Path) -> None:
    beside = Evaluations(tmp_path, Runner(FOUND))
    assert result(Evaluations(tmp_path, Crossed(lambda: result(beside), code=-signal.SIGKILL))) == RESULT


def test_unwritable_folder_error_names_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match=r"/file/below cannot be written to \(Not a directory\): name another "):
        result(Evaluations(tmp_path / "file" / "below", Runner(FOUND)))


def test_process_receives_arguments_and_logs_its_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "child.py").write_text("import sys\nprint('out', sys.argv[1:])\nsys.stderr.write('err')\nsys.exit(3)\n")
    monkeypatch.setattr(module, "_MODULE", "child")
    monkeypatch.chdir(tmp_path)
    assert run_process(["--task", "x"], tmp_path / "answer", tmp_path / "log") == 3
    log = (tmp_path / "log").read_text()
    assert f"out ['{tmp_path}/answer', '--task', 'x']\n" in log
    assert "err" in log


ENDED = """
import sys
from pathlib import Path
from parlai_empathy.reports.evaluations import evaluations

evaluations._MODULE = "child"
folder = Path(sys.argv[1])
evaluations.run_process([], folder / "answer", folder / "log")
"""


def test_sigterm_terminates_the_evaluation_process(tmp_path: Path) -> None:
    code = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(300)\n"
    (tmp_path / "child.py").write_text(code)
    command = [sys.executable, "-c", ENDED, str(tmp_path)]
    with subprocess.Popen(command, cwd=tmp_path) as process:
        while not (log := tmp_path / "log").exists() or not log.read_text().endswith("\n"):
            time.sleep(0.05)
        process.terminate()
    assert process.returncode == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)


def test_sigterm_handler_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "child.py").touch()
    monkeypatch.setattr(module, "_MODULE", "child")
    monkeypatch.chdir(tmp_path)
    for handler in (signal.SIG_DFL, signal.SIG_IGN):
        before = signal.signal(signal.SIGTERM, handler)
        assert run_process([], tmp_path / "answer", tmp_path / "log") == 0
        assert signal.signal(signal.SIGTERM, before) is handler
    with ThreadPoolExecutor() as pool:  # in a thread, where no signal handler can be set
        assert pool.submit(run_process, [], tmp_path / "answer", tmp_path / "log").result() == 0


def test_real_process_reports_option_errors(tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    arguments = ["-m", "repeat_query", "-t", "empathy:empathetic_dialogues", "--ed-history", "0", "--edition", "sample"]
    command = [sys.executable, "-m", "parlai_empathy.reports.evaluations.evaluate", str(answer), *arguments]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    assert json.loads(answer.read_text()) == {"error": "--ed-history 0: must be at least 1, or -1 for all turns"}
