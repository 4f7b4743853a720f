"""``parlai leaderboard``: many evaluations in one table, beside the papers' own figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import MissingDependencyError, OptionError
from parlai_empathy.reports.humod_leaderboard import ORACLE, REFERENCES, leaderboard
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.agent_judge import AgentJudge, judge_name
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
        group.add_argument("--suite", choices=list(SUITES), default=None, help="What is compared, and on what.")
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
        if not self.opt["suite"]:
            raise OptionError(f"--suite: say what is to be compared: {', '.join(SUITES)}")
        report = SUITES[self.opt["suite"]](self.opt)
        report.show(self.opt["out"])
        return report


def humod(opt: Opt) -> Report:
    """Tables 3 and 4 of HUMOD's paper: word overlap and trained judges against people's ratings."""
    path = build(opt)
    pairs, about = read_pairs(path, opt["skip_bad_rows"]), f"{path.name}, all pairs"
    if opt["fold"] != "all":
        pairs = split_pairs(pairs, opt["humod_split"])[opt["fold"]]
        about = f"{path.name}, {opt['fold']} fold of split {opt['humod_split']}"
    missing: list[MissingDependencyError] = []
    overlap = overlap_judges(missing)
    trained = trained_judges(opt["models"], [ORACLE, *(judge.name for judge in overlap)])
    return leaderboard([*overlap, *trained], pairs, opt["references"], opt["resamples"], about, list(map(str, missing)))


def trained_judges(models: Sequence[str], taken: Sequence[str] = ()) -> list[Judge]:
    """Judges from ``FILE`` or ``NAME=FILE``; each name once.

    :param taken: names that others have.
    """
    named = [_name_and_file(model) for model in models]
    names = [*taken, *(name for name, _ in named)]
    if twice := [name for name, _ in named if names.count(name) > 1]:
        raise OptionError(f"--models: {twice[0]} is the name of two judges: write NAME=FILE to tell them apart")
    return [AgentJudge(file, name) for name, file in named]


def _name_and_file(model: str) -> tuple[str, str]:
    """What ``[NAME=]FILE`` says. A file without a name may have ``=`` in its own."""
    name, file = ("", model) if "=" not in model or Path(model).is_file() else model.split("=", 1)
    return name or judge_name(file), file


SUITES = {"humod": humod}


if __name__ == "__main__":
    Leaderboard.main()
