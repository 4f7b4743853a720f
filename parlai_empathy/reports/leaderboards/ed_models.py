"""The models of an EmpatheticDialogues leaderboard: evaluation tasks, results and training cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parlai.core.torch_generator_agent import TorchGeneratorAgent
from parlai.core.torch_ranker_agent import TorchRankerAgent
from tqdm import tqdm

from parlai_empathy.agent_kit.trained.agent import agent_class, model_options, model_path
from parlai_empathy.errors import EmpathyError, ModelFileError, OptionError
from parlai_empathy.reports.evaluations.data_fingerprint import data_fingerprint
from parlai_empathy.reports.evaluations.evaluations import Evaluations, Job, Result
from parlai_empathy.reports.evaluations.model_fingerprint import model_fingerprint
from parlai_empathy.reports.leaderboards.ed_columns import EMOTION_COLUMNS, REPLY_COLUMNS, Column, numbers
from parlai_empathy.reports.leaderboards.names import REPLY_TASKS
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS


@dataclass
class Measured:
    """A model and its results so far.

    :param values: the columns' numbers for each of :data:`REPLY_TASKS`; a classifier's are under ``ed``.
    :param cost: parameters, epochs and minutes of training, by column.
    :param failures: one line for each failed evaluation.
    """

    name: str
    file: str
    values: dict[str, dict[str, float]] = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Step:
    """One evaluation: its model, its job, and the table and columns of its numbers."""

    model: Measured
    path: str
    job: Job
    dataset: str
    columns: Sequence[Column]


def measure(
    models: Mapping[str, str],
    datasets: Sequence[str],
    fold: str,
    options: Sequence[str],
    evaluations: Evaluations,
    datapath: str,
) -> list[Measured]:
    """Evaluate all models, with a progress bar. If one fails, the others are still evaluated.

    :param models: model files by name; a file may be ``zoo:...``.
    :param datasets: keys of :data:`REPLY_TASKS`.
    :param fold: ``valid`` or ``test``.
    :param options: further command-line options of ``eval_model``.
    """
    measured = [Measured(name, file) for name, file in models.items()]
    steps = [step for model in measured for step in _steps(model, datasets, fold, options, datapath)]
    kept = [evaluations.is_kept(step.job) for step in steps]
    with tqdm(total=len(steps), initial=sum(kept), desc="evaluating", disable=not steps) as bar:
        for step, was_kept in zip(steps, kept, strict=True):
            bar.set_postfix_str(f"{step.model.name}, {step.job.task}")
            _take(step, evaluations, datapath)
            bar.update(not was_kept)
    return measured


def _steps(model: Measured, datasets: Sequence[str], fold: str, options: Sequence[str], datapath: str) -> list[_Step]:
    """Return the evaluations of a model; if it cannot be evaluated, record the failure and return none."""
    try:
        path = str(model_path(model.file, datapath))
        opt = model_options(path)
        if _is_classifier(opt, path):
            tasks = [("ed", task, [column]) for task, column in EMOTION_COLUMNS.items()] if "ed" in datasets else []
            if not tasks:
                raise OptionError(f"{model.file} is a classifier, and --tasks {' '.join(datasets)} has no emotions")
        else:
            tasks = [(dataset, REPLY_TASKS[dataset], list(REPLY_COLUMNS)) for dataset in datasets]
        fingerprint = model_fingerprint(path, options, datapath)
        data = {task: data_fingerprint(task, options, datapath) for _, task, _ in tasks}
        model.cost.update(training_cost(path))
    except EmpathyError as error:
        model.failures.append(str(error))
        return []
    return [
        _Step(model, path, Job(fingerprint, task, fold, tuple(options), data[task]), dataset, columns)
        for dataset, task, columns in tasks
    ]


def _is_classifier(opt: Mapping[str, Any], path: str) -> bool:
    """Whether a model predicts an emotion, rather than a reply.

    :raises EmpathyError: if its agent is not found, or it predicts something else.
    """
    kind = agent_class(opt, f"{path}.opt")
    classes = opt.get("classes")
    if issubclass(kind, TorchRankerAgent | TorchGeneratorAgent):
        return False
    if not classes and hasattr(kind, "score_pairs") and not opt.get("retriever"):
        # A judge would score 100 candidates for each example, to no avail.
        raise OptionError(f"{path} is a judge, which gives no replies: see --suite humod")
    if not classes:
        return False
    if not set(classes) <= set(EMOTIONS):
        raise ModelFileError(f"{path} predicts classes other than the 32 emotions: {', '.join(map(str, classes))[:80]}")
    return True


def _take(step: _Step, evaluations: Evaluations, datapath: str) -> None:
    """Evaluate, and record the table's numbers, or the reason of the failure."""
    try:
        result = evaluations.result(step.job, step.path, datapath)
        found = numbers(result.report, step.columns, step.job.fold, step.job.task)
        if not found:
            raise ModelFileError(
                f"eval_model on {step.job.task} reports none of this table's columns, only {_keys(result)}"
            )
    except EmpathyError as error:
        step.model.failures.append(f"{step.job.task}: {error}")
        return
    step.model.values.setdefault(step.dataset, {}).update(found)
    if result.parameters is not None:
        step.model.cost["parameters"] = result.parameters / 1e6


def _keys(result: Result) -> str:
    return ", ".join(result.report)[:160] or "nothing"


def training_cost(path: str) -> dict[str, float]:
    """Return what ParlAI recorded of a training: epochs, and minutes without validation. Empty if nothing."""
    try:
        stats = json.loads(Path(f"{path}.trainstats").read_text(encoding="utf-8"))
        return {"epochs": float(stats["total_epochs"]), "minutes": float(stats["train_time"]) / 60}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
