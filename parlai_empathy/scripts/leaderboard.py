"""``parlai leaderboard``: many evaluations in one table, beside the papers' own figures."""

from __future__ import annotations

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import MissingDependencyError, OptionError
from parlai_empathy.reports.humod_leaderboard import REFERENCES, leaderboard
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.agent_judge import AgentJudge
from parlai_empathy.scoring.judge import Judge
from parlai_empathy.scoring.overlap import overlap_judges
from parlai_empathy.tasks.humod.agents import read_pairs
from parlai_empathy.tasks.humod.build import build
from parlai_empathy.tasks.humod.options import add_file_options
from parlai_empathy.tasks.humod.splits import FOLDS, SPLITS, split_pairs


@register_script("leaderboard")
class Leaderboard(ParlaiScript):
    """Run a suite, print its report, and save it."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """A suite, what is compared, and the suite's data."""
        parser = ParlaiParser(True, False, "Compare models in one table, beside the papers' own figures")
        group = parser.add_argument_group("Leaderboard")
        group.add_argument("--suite", choices=list(SUITES), required=True, help="What is compared, and on what.")
        group.add_argument(
            "--models",
            nargs="*",
            default=[],
            metavar="[NAME=]FILE",
            help="Model files of trained judges, each with a name for the table if you like.",
        )
        group.add_argument("--out", default=None, help="Folder for the report, its plots, and each item's scores.")
        group.add_argument("--resamples", type=int, default=1000, help="Bootstrap samples for the intervals.")
        humod = parser.add_argument_group("--suite humod")
        add_file_options(humod)
        humod.add_argument("--humod-split", choices=list(SPLITS), default="paper", help="As of the task.")
        humod.add_argument("--fold", choices=[*FOLDS, "all"], default="test", help="Which pairs are scored.")
        humod.add_argument(
            "--references",
            choices=list(REFERENCES),
            default="human",
            help="What word overlap is counted with: the human replies to the context, its original reply, or all.",
        )
        return parser

    def run(self) -> Report:
        """Make the report of ``--suite``."""
        report = SUITES[self.opt["suite"]](self.opt)
        print(report.text())
        if self.opt["out"]:
            report.save(self.opt["out"])
            logging.info(f"saved in {self.opt['out']}")
        return report


def humod(opt: Opt) -> Report:
    """Tables 3 and 4 of HUMOD's paper: word overlap and trained judges against people's ratings."""
    path = build(opt)
    pairs = read_pairs(path, opt["skip_bad_rows"])
    if opt["fold"] != "all":
        pairs = split_pairs(pairs, opt["humod_split"])[opt["fold"]]
    missing: list[MissingDependencyError] = []
    judges = [*overlap_judges(missing), *trained_judges(opt["models"])]
    for error in missing:
        logging.warning(f"left out: {error}")
    about = f"{path.name}, split {opt['humod_split']}, fold {opt['fold']}"
    return leaderboard(judges, pairs, opt["references"], opt["resamples"], about)


def trained_judges(models: list[str]) -> list[Judge]:
    """Judges from ``FILE`` or ``NAME=FILE``; each name once."""
    named = [model.split("=", 1) if "=" in model else [None, model] for model in models]
    judges: list[Judge] = [AgentJudge(str(path), name) for name, path in named]
    names = [judge.name for judge in judges]
    if twice := {name for name in names if names.count(name) > 1}:
        raise OptionError(f"--models: {min(twice)} is the name of two; write NAME={min(twice)} to tell them apart")
    return judges


SUITES = {"humod": humod}


if __name__ == "__main__":
    Leaderboard.main()
