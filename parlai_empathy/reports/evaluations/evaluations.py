"""Cached evaluations: none is repeated unless the model, the data or the options change."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy import __version__
from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.files.unfinished import own_folder
from parlai_empathy.files.whole_file import remedy
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs import read_replies_log

_MODULE = "parlai_empathy.reports.evaluations.evaluate"


@dataclass(frozen=True)
class Job:
    """Everything that determines a result: equal jobs have equal results.

    :param model: the model's fingerprint: see :mod:`parlai_empathy.reports.evaluations.model_fingerprint`.
    :param options: the command-line options of ``eval_model`` that affect its numbers.
    :param data: the data's fingerprint: see :mod:`parlai_empathy.reports.evaluations.data_fingerprint`.
    """

    model: str
    task: str
    fold: str
    options: tuple[str, ...] = ()
    data: str = ""
    version: str = __version__

    @property
    def name(self) -> str:
        """The base name of its files."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Result:
    """The result of an evaluation.

    :param report: ParlAI's metrics: ``value``, and ``signature`` for those that have one.
    :param parameters: the number of the model's parameters; None if it is not a torch module.
    """

    report: dict[str, dict[str, Any]]
    parameters: int | None

    @property
    def is_whole(self) -> bool:
        """Whether the model answered everything. A language model may fail to, and succeed when it is asked again."""
        return not self.report.get("no_answer", {}).get("value")


class _ChangedModelError(ModelFileError):
    """The model is no longer the one that the job is about."""


class Evaluations:
    """Runs jobs, and caches their results. One in which a model left something unanswered is tried again each time, and
    is the result only if that fails.

    :param folder: where results and logs are stored; None: nothing is stored.
    :param run: runs :mod:`~.evaluate` with the arguments, the answer file and the log file, and returns its exit
        status; :func:`run_process` by default.
    :param fingerprint: returns the fingerprint of a model file with the job's options and the data folder, to notice a
        model that changes while it waits or is evaluated, as during its training; by default no one looks.
    """

    def __init__(
        self,
        folder: Path | None,
        run: Callable[[list[str], Path, Path], int] | None = None,
        fingerprint: Callable[[str, Sequence[str], str], str] | None = None,
    ) -> None:
        self.folder = folder
        self._run = run
        self._fingerprint = fingerprint

    def result(self, job: Job, model_file: str, datapath: str) -> Result:
        """Return the job's cached result, or evaluate and cache it.

        :raises ModelFileError: if the evaluation fails, or the model is not the job's any more; only its log is stored
            then.
        """
        if (kept := self._kept(job)) and kept.is_whole:
            return kept
        try:
            with self._workplace(job) as workplace:
                return self._new(job, model_file, datapath, workplace)
        except _ChangedModelError:
            raise  # an earlier evaluation is of another model
        except ModelFileError as error:
            if kept := self._kept(job):  # another process may have succeeded meanwhile
                if not kept.is_whole:
                    _warn_of_part(error)
                return kept
            raise

    def replies(self, job: Job, model_file: str, datapath: str) -> list[LoggedReply]:
        """Return the model's replies in the job, from the stored log or a new one.

        :raises ModelFileError: if the evaluation fails.
        """
        stored = self._stored_replies(job)
        if stored and not any(one.no_answer for one in stored):
            return stored
        try:
            with self._workplace(job) as workplace:
                log = workplace / _log_name(job)
                self._new(job, model_file, datapath, workplace, ("--world-logs", str(log)))
                return read_replies_log(self._keep(log))
        except _ChangedModelError:
            raise
        except ModelFileError as error:
            if not stored:
                raise
            _warn_of_part(error)
            return stored

    def is_kept(self, job: Job) -> bool:
        """Whether the job's result is cached, and will not be tried again."""
        kept = self._kept(job)
        return kept is not None and kept.is_whole

    def _stored_replies(self, job: Job) -> list[LoggedReply] | None:
        path = self.folder / _log_name(job) if self.folder else None
        return read_replies_log(path) if path and path.exists() and self._kept(job) else None

    def _kept(self, job: Job) -> Result | None:
        path = self.folder / f"{job.name}.json" if self.folder else None
        if path is None or not path.exists():
            return None
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            return Result({key: dict(number) for key, number in kept["report"].items()}, kept["parameters"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            logging.warning(f"{path} is not a complete result: evaluating again")
            return None

    @contextmanager
    def _workplace(self, job: Job) -> Iterator[Path]:
        """Yield a temporary folder for this evaluation alone: another command may run the same job at the same time."""
        folder = self.folder or Path(tempfile.gettempdir())
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with own_folder(folder, job.name) as workplace:
                yield workplace
        except OSError as error:
            advice = remedy(error, "name another folder")
            raise OptionError(f"--out: {folder} cannot be written to ({error.strerror}): {advice}") from error

    def _new(self, job: Job, model_file: str, datapath: str, workplace: Path, output: Sequence[str] = ()) -> Result:
        log, answer = workplace / f"{job.name}.log", workplace / f"{job.name}.answer"
        arguments = ["--model-file", model_file, "--task", job.task, "--datatype", job.fold, "--datapath", datapath]
        self._check_unchanged(job, model_file, datapath)
        try:
            code = (self._run or run_process)([*arguments, *job.options, *output], answer, log)
        finally:
            log = self._keep(log)
        self._check_unchanged(job, model_file, datapath)
        found: dict[str, Any] = json.loads(answer.read_bytes()) if answer.exists() else {"error": _death(code, log)}
        if "error" in found:
            raise ModelFileError(_with_log(found["error"], log if self.folder else None))
        record = {"job": asdict(job), "model_file": model_file, **found}
        (path := workplace / f"{job.name}.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
        self._keep(path)
        return Result(found["report"], found["parameters"])

    def _check_unchanged(self, job: Job, model_file: str, datapath: str) -> None:
        if self._fingerprint and self._fingerprint(model_file, job.options, datapath) != job.model:
            raise _ChangedModelError(f"{model_file} has changed since this command began: run it again")

    def _keep(self, file: Path) -> Path:
        """Move a finished file into the folder of results, if there is one, atomically. Return its path."""
        return file.replace(self.folder / file.name) if self.folder and file.exists() else file


def _log_name(job: Job) -> str:
    return f"{job.name}.replies.jsonl"


def _warn_of_part(error: ModelFileError) -> None:
    logging.warning(f"{error}: using the earlier evaluation, in which some answers are missing")


def run_process(arguments: list[str], answer: Path, log: Path) -> int:
    """Evaluate in a child process whose output goes to ``log``, and return its exit status.

    :raises SystemExit: if this process receives SIGTERM; the child process has been ended by then.
    """
    command = [sys.executable, "-m", _MODULE, str(answer), *arguments]
    with log.open("wb") as output, _ending_on_sigterm():
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False
        ).returncode


@contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """Let SIGTERM raise SystemExit: its default action would end this process, but not its child process."""
    is_default = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not is_default or threading.current_thread() is not threading.main_thread():
        yield  # the caller handles signals
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)  # the exit status that shells report for this signal

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _death(code: int, log: Path) -> str:
    """Return why a process ended without an answer, in one line."""
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        memory = " (is there enough memory for it?)" if name == "SIGKILL" else ""
        return f"its evaluation was ended by {name}{memory}"
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return f"its evaluation ended with status {code}: {lines[-1][:300] if lines else 'no output'}"


def _with_log(error: str, log: Path | None) -> str:
    return f"{error} (log: {log})" if log else error
