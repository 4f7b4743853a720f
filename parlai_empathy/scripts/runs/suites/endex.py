"""``--suite endex``: judges of engagingness against people's ratings (Table 2 and Figure 2 of EnDex's paper)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
from parlai.core.opt import Opt

from parlai_empathy.agent_kit.trained.agent import model_options, task_option
from parlai_empathy.errors import DownloadError, OptionError
from parlai_empathy.files.text_file import is_file
from parlai_empathy.reports.endex_leaderboard import AGGREGATE, JudgeScores, Sets, judge_scores, leaderboard
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.endex import check_engagement_judge, engagement_judge
from parlai_empathy.scoring.engagement import rule_judges
from parlai_empathy.scoring.judge import Judge
from parlai_empathy.scoring.names import judge_name
from parlai_empathy.scripts.parts.named_files import by_name
from parlai_empathy.tasks.engagement.names import SETS
from parlai_empathy.tasks.engagement.reader import RatedReply
from parlai_empathy.tasks.engagement.sets import engagement_set
from parlai_empathy.tasks.red.reader import PARQUET
from parlai_empathy.tasks.red.records import DIMENSIONS

_TAUGHT = {
    "default": AGGREGATE,
    "negativesamples": f"{AGGREGATE}, negative samples too",
    **{name: name.upper() for name in DIMENSIONS},
}


def report(opt: Opt) -> Report:
    """Score all sets by each judge."""
    rules = rule_judges(opt["seed"])
    files = _files(opt, [judge.name for judge in rules])
    learnt = {name: _dimensions(name, runs, opt["datapath"]) for name, runs in files.items()}
    sets, missing = _sets(opt)
    judges = [judge_scores(judge.name, [judge], sets) for judge in rules]
    judges += [_trained(name, runs, sets, learnt[name], opt) for name, runs in files.items()]
    about = opt["edition"] if opt["edition"] != "full" else ""
    return leaderboard(judges, sets, opt["resamples"], opt["seed"], about, missing)


def _files(opt: Opt, taken: Sequence[str]) -> dict[str, list[str]]:
    """The model files of each judge: ``NAME=FILE,FILE`` names several trainings of one.

    All are looked at now, and not when others have scored for long.
    """
    found = {name: _runs(name, text) for name, text in by_name("--models", opt["models"], taken).items()}
    for runs in found.values():
        for file in runs:
            check_engagement_judge(file, opt["datapath"])
    return found


def _runs(name: str, text: str) -> list[str]:
    """The files that a text names; one that exists may have commas in its own name."""
    files = [text] if is_file(text) else [file.strip() for file in text.split(",")]
    if not all(files) or len(set(files)) < len(files):
        raise OptionError(f"--models {name}={text}: name each training's file once, with commas between them")
    if len(files) > 1 and name == judge_name(text):
        raise OptionError(f"--models {text}: several trainings of one judge need a name: NAME=FILE,FILE")
    return files


def _dimensions(name: str, files: Sequence[str], datapath: str) -> str | None:
    """What of RED a judge learnt from, as its trainings' tasks say; None if it learnt from something else.

    :raises OptionError: if its trainings learnt from different things, or from different files.
    """
    found = {file: _source(model_options(check_engagement_judge(file, datapath))) for file in files}
    if len(set(found.values())) > 1:
        parts = ", ".join(
            f"{file} from {learnt or 'other data than RED'}{f' in {red_file}' if red_file else ''}"
            for file, (learnt, red_file) in found.items()
        )
        raise OptionError(f"--models {name}: its trainings learnt from different things ({parts}): give each a name")
    return found[files[0]][0]


def _source(opt: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """What of RED a model learnt from, and the file or folder of RED that was named in its training."""
    learnt = learnt_from(opt)
    if not (learnt and (file := task_option(opt, "red_file"))):
        return learnt, None
    path = Path(file).expanduser().resolve()
    return learnt, str(path.parent if path.name == PARQUET else path)


def learnt_from(opt: Mapping[str, Any]) -> str | None:
    """What of RED a model's training task taught it, for tables; None if the task was another.

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
    """The sets that are to be had, and of each other one what is missing.

    :raises DownloadError: for a set that ``--sets`` names, or if there is none at all.
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
        raise DownloadError(f"--suite endex: there is none of its sets; {missing[0]}")
    for text in missing:
        logging.warning(f"left out: {text}")
    return found, missing


def _trained(name: str, files: Sequence[str], sets: Sets, learnt: str | None, opt: Opt) -> JudgeScores:
    """The scores of a trained judge."""

    def judges() -> Iterator[Judge]:
        for number, file in enumerate(files, start=1):
            run = name if len(files) == 1 else f"{name} #{number}"
            yield engagement_judge(file, run, opt["endex_context"], opt["endex_score"], opt["datapath"])

    return judge_scores(name, judges(), sets, learnt)
