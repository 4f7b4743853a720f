"""``--suite endex``: judges of engagingness against people's ratings (Table 2 and Figure 2 of EnDex's paper)."""

from __future__ import annotations

import filecmp
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import parlai.utils.logging as logging
from parlai.core.opt import Opt

from parlai_empathy.agent_kit.trained.agent import model_options, task_option
from parlai_empathy.errors import DownloadError, OptionError
from parlai_empathy.files.text_file import is_file
from parlai_empathy.files.user_path import user_path
from parlai_empathy.reports.leaderboards.endex import (
    AGGREGATE,
    PAPERS_JUDGES,
    JudgeScores,
    Sets,
    judge_scores,
    leaderboard,
)
from parlai_empathy.reports.report import Report, check_folder
from parlai_empathy.scoring.endex import check_engagement_judge, engagement_judge, trained_with_context
from parlai_empathy.scoring.engagement import rule_judges
from parlai_empathy.scoring.judge import Judge
from parlai_empathy.scoring.names import judge_name
from parlai_empathy.scripts.parts.named_files import by_name
from parlai_empathy.tasks.engagement.names import SETS
from parlai_empathy.tasks.engagement.records import RatedReply
from parlai_empathy.tasks.engagement.sets import engagement_set
from parlai_empathy.tasks.red.reader import PARQUET
from parlai_empathy.tasks.red.records import DIMENSIONS

_DIMENSIONS = {name: name.upper() for name in DIMENSIONS}
_TAUGHT = {"default": AGGREGATE, "negativesamples": f"{AGGREGATE}, negative samples too", **_DIMENSIONS}


def report(opt: Opt) -> Report:
    """Score all sets with each judge."""
    rules = rule_judges(opt["seed"])
    files = _files(opt, [*(judge.name for judge in rules), *PAPERS_JUDGES.values()])
    learnt = {name: _dimensions(name, runs, opt["datapath"]) for name, runs in files.items()}
    sets, missing = _sets(opt)
    check_folder(opt["out"])
    judges = [judge_scores(judge.name, [judge], sets) for judge in rules]
    judges += [_trained(name, runs, sets, learnt[name], opt) for name, runs in files.items()]
    about = opt["edition"] if opt["edition"] != "full" else ""
    return leaderboard(judges, sets, opt["resamples"], opt["seed"], about, missing)


def _files(opt: Opt, taken: Sequence[str]) -> dict[str, list[str]]:
    """Return the model files of each judge: ``NAME=FILE,FILE`` are several training runs of one.

    All files are checked first, so that a bad one does not fail after others have been scoring for a long time.
    """
    found = {name: _runs(name, text) for name, text in by_name("--models", opt["models"], taken).items()}
    for runs in found.values():
        for file in runs:
            check_engagement_judge(file, opt["datapath"])
    return found


def _runs(name: str, text: str) -> list[str]:
    """Split ``FILE,FILE``; the name of an existing file may itself contain commas."""
    files = [text] if is_file(text) else [file.strip() for file in text.split(",")]
    if not all(files) or len(set(files)) < len(files):
        raise OptionError(f"--models {name}={text}: name the file of each training run once, with commas between them")
    if len(files) > 1 and name == judge_name(text):
        raise OptionError(f"--models {text}: several training runs of one judge need a name: NAME=FILE,FILE")
    return files


def _dimensions(name: str, files: Sequence[str], datapath: str) -> str | None:
    """Return the target in RED that a judge was trained on, by its training task; None if it was trained on other data.

    :raises OptionError: if its training runs used different data, or if two of them are the same model.
    """
    paths = {file: check_engagement_judge(file, datapath) for file in files}
    options = {file: model_options(path) for file, path in paths.items()}
    sources = {file: _source(opt) for file, opt in options.items()}
    if len(set(sources.values())) > 1:
        parts = ", ".join(f"{file} from {source}" for file, source in sources.items())
        raise OptionError(f"--models {name}: its training runs used different data ({parts}): give each a name")
    for one, other in combinations(files, 2):
        if filecmp.cmp(paths[one], paths[other], shallow=False):
            raise OptionError(f"--models {name}: {one} and {other} are the same model: name each training run once")
    return training_target(options[files[0]])


def _source(opt: Mapping[str, Any]) -> str:
    """Return what identifies the data that a model was trained on, in words."""
    learnt = training_target(opt)
    source = learnt or str(opt.get("task")).strip().removeprefix("empathy:")
    if learnt and (file := task_option(opt, "red_file")):
        path = user_path(file).resolve()
        source += f" in {path.parent if path.name == PARQUET else path}"
    elif task_option(opt, "edition") == "sample":
        source += " in the sample"
    if learnt in _DIMENSIONS.values():
        kappa = task_option(opt, "red_kappa")
        source += f" with kappa {1.0 if kappa is None else float(kappa):g}"
    return source if not learnt or trained_with_context(opt) else f"{source} without context"


def training_target(opt: Mapping[str, Any]) -> str | None:
    """Return the target in RED that a model was trained on, as tables show it; None if its training task was another.

    :param opt: the model's options.
    """
    task = str(opt.get("task") or "").strip().removeprefix("empathy:")
    name, *more = task.split(":")
    teacher = next((part.lower() for part in more if "=" not in part), "default")
    if name != "red" or "," in task:
        return None
    if teacher == "dimension":
        teacher = str(task_option(opt, "red_dimension") or "ee").lower()
    return _TAUGHT.get(teacher)


def _sets(opt: Opt) -> tuple[Sets, list[str]]:
    """Return the available sets, and for each unavailable one a line that says what is missing.

    :raises DownloadError: if a set of ``--sets`` is unavailable, or all are.
    """
    found: dict[str, list[RatedReply]] = {}
    missing = []
    for name in dict.fromkeys(opt["sets"] or SETS):
        try:
            found[name] = engagement_set(name, opt)
        except DownloadError as error:
            if opt["sets"]:
                raise
            missing.append(f"{name}: {error}")
    if not found:
        raise DownloadError(f"--suite endex: none of its sets is available; {missing[0]}")
    for text in missing:
        logging.warning(f"left out: {text}")
    return found, missing


def _trained(name: str, files: Sequence[str], sets: Sets, learnt: str | None, opt: Opt) -> JudgeScores:
    """Score the sets with a trained judge, over all its training runs."""

    def judges() -> Iterator[Judge]:
        for number, file in enumerate(files, start=1):
            run = name if len(files) == 1 else f"{name} #{number}"
            yield engagement_judge(file, run, opt["endex_context"], opt["endex_score"], opt["datapath"])

    return judge_scores(name, judges(), sets, learnt)
