"""``--suite humod``: word overlap and trained judges against people's ratings (Tables 3 and 4 of HUMOD's paper)."""

from __future__ import annotations

from parlai.core.opt import Opt

from parlai_empathy.errors import MissingDependencyError
from parlai_empathy.reports.leaderboards.humod import ROWS, leaderboard
from parlai_empathy.reports.report import Report, check_folder
from parlai_empathy.scoring.agent_judge import AgentJudge
from parlai_empathy.scoring.overlap import overlap_judges
from parlai_empathy.scripts.parts.named_files import by_name
from parlai_empathy.tasks.humod.agents import read_pairs
from parlai_empathy.tasks.humod.build import build, title_of
from parlai_empathy.tasks.humod.splits import split_pairs


def report(opt: Opt) -> Report:
    """Score the rated pairs with each judge."""
    path = build(opt)
    pairs, about = read_pairs(path, opt["skip_bad_rows"]), f"{title_of(path)}, all pairs"
    if opt["fold"] != "all":
        pairs = split_pairs(pairs, opt["humod_split"])[opt["fold"]]
        about = f"{title_of(path)}, {opt['fold']} fold of split {opt['humod_split']}"
    missing: list[MissingDependencyError] = []
    overlap = overlap_judges(missing)
    models = by_name("--models", opt["models"], [*ROWS, *(judge.name for judge in overlap)])
    trained = [AgentJudge(file, name, opt["datapath"]) for name, file in models.items()]
    check_folder(opt["out"])
    how = opt["references"], opt["resamples"], opt["seed"]
    return leaderboard([*overlap, *trained], pairs, *how, about, list(map(str, missing)))
