"""``parlai leaderboard``: many evaluations in one table, beside the papers' own figures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import MissingDependencyError, OptionError
from parlai_empathy.reports import ed_leaderboard
from parlai_empathy.reports.ed_logs import logs_table, score_logs
from parlai_empathy.reports.ed_models import REPLY_TASKS, Measured, measure
from parlai_empathy.reports.empgpt3_systems import asked, people_of
from parlai_empathy.reports.evaluations import Evaluations
from parlai_empathy.reports.humod_leaderboard import ORACLE, REFERENCES, leaderboard
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.responses import records
from parlai_empathy.scoring.agent_judge import AgentJudge
from parlai_empathy.scoring.judge import Judge
from parlai_empathy.scoring.logs import read_replies_log
from parlai_empathy.scoring.overlap import overlap_judges
from parlai_empathy.scoring.systems import systems_of
from parlai_empathy.scoring.word_metrics import Words
from parlai_empathy.scripts.named_files import by_name
from parlai_empathy.scripts.reply_options import add_metrics, response_report
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
            help="Model files, each with a name for the table if you like: of trained judges (humod), or of agents "
            "that reply or tell emotions (ed).",
        )
        group.add_argument(
            "--out",
            default=None,
            help="Folder for the report (Markdown, HTML, JSON), its plots, and each item's scores; with --suite "
            "ed and empgpt3 evaluations that are done are kept there too, and not repeated.",
        )
        group.add_argument("--resamples", type=int, default=1000, help="Bootstrap samples for intervals; random swaps.")
        group.add_argument("--seed", type=int, default=0, help="Decides which samples and swaps these are.")
        group.add_argument("--fold", choices=[*FOLDS, "all"], default="test", help="What is scored; all: of humod.")
        humod = parser.add_argument_group("--suite humod")
        add_file_options(humod)
        humod.add_argument("--humod-split", choices=list(SPLITS), default="paper", help="As of the task.")
        humod.add_argument(
            "--references",
            choices=list(REFERENCES),
            default="human",
            help="What word overlap is counted with: the human replies to the context, its original reply, or all.",
        )
        ed = parser.add_argument_group("--suite ed and empgpt3")
        ed.add_argument(
            "--tasks",
            nargs="+",
            choices=list(REPLY_TASKS),
            default=["ed"],
            help="Data sets of --suite ed: EmpatheticDialogues, DailyDialog, Reddit.",
        )
        ed.add_argument(
            "--eval-args",
            default="",
            metavar="OPTIONS",
            help='More options of eval_model, for all models, as one text: --eval-args="--inference beam".',
        )
        ed.add_argument(
            "--logs", nargs="*", default=[], metavar="[NAME=]FILE", help="Logs of replies that any system wrote."
        )
        add_metrics(parser)
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


def ed(opt: Opt) -> Report:
    """The tables of EmpatheticDialogues' paper and its successors: our models, and replies that others' wrote."""
    if not (opt["models"] or opt["logs"]):
        raise OptionError("--suite ed: name what is to be compared with --models or --logs")
    _check_fold(opt)
    models = by_name("--models", opt["models"])
    logs = {name: read_replies_log(file) for name, file in by_name("--logs", opt["logs"]).items()}
    systems = [system for name, log in logs.items() for system in systems_of(name, log)]
    datasets = list(dict.fromkeys(opt["tasks"]))
    tables, plots, items = [], [], []
    if models:
        found = _measure(models, datasets, opt)
        about = f"{opt['fold']} fold" + (f" of the {opt['edition']}" if opt["edition"] != "full" else "")
        tables, plots = ed_leaderboard.tables(found, datasets, about), ed_leaderboard.plots(found)
    if systems:
        scores = score_logs(systems, Words(opt["tokens"], opt["lower_case"]))
        tables.append(logs_table(scores))
        items = records(scores)
    return Report("EmpatheticDialogues: leaderboard", tables, plots, items)


def _measure(models: Mapping[str, str], datasets: Sequence[str], opt: Opt) -> list[Measured]:
    try:
        return measure(models, datasets, opt["fold"], _eval_options(opt), _evaluations(opt), opt["datapath"])
    except KeyboardInterrupt:
        raise _stopped(opt) from None


def _eval_options(opt: Opt) -> list[str]:
    """The options of ``eval_model``, as they are typed."""
    try:
        more = shlex.split(opt["eval_args"])
    except ValueError as error:
        raise OptionError(f"--eval-args: {error}: write it as on the command line") from error
    return ["--edition", opt["edition"], *more]  # a saved model remembers another, of its training


def _evaluations(opt: Opt) -> Evaluations:
    return Evaluations(Path(opt["out"]) / "evaluations" if opt["out"] else None)


def _stopped(opt: Opt) -> SystemExit:
    return SystemExit("\nStopped." + (" The same command goes on where this one ended." if opt["out"] else ""))


def empgpt3(opt: Opt) -> Report:
    """The automatic evaluation of EmpGPT-3's paper: models, other systems' logs, and the people themselves."""
    if not (opt["models"] or opt["logs"]):
        raise OptionError("--suite empgpt3: name what is to be compared with --models or --logs")
    _check_fold(opt)
    logs = {name: read_replies_log(file) for name, file in by_name("--logs", opt["logs"]).items()}
    models = by_name("--models", opt["models"], tuple(logs))
    try:
        systems = asked(models, opt["fold"], _eval_options(opt), _evaluations(opt), opt["datapath"])
    except KeyboardInterrupt:
        raise _stopped(opt) from None
    systems += [system for name, log in logs.items() for system in systems_of(name, log)]
    people = people_of(systems[0])
    return response_report("EmpGPT-3: leaderboard", [*([people] if people else []), *systems], opt)


def _check_fold(opt: Opt) -> None:
    if opt["fold"] not in ("valid", "test"):
        raise OptionError(f"--fold {opt['fold']}: --suite {opt['suite']} scores valid or test")


def trained_judges(models: Sequence[str], taken: Sequence[str] = ()) -> list[Judge]:
    """Judges from ``FILE`` or ``NAME=FILE``; each name once.

    :param taken: names that others have.
    """
    return [AgentJudge(file, name) for name, file in by_name("--models", models, taken).items()]


SUITES = {"humod": humod, "ed": ed, "empgpt3": empgpt3}


if __name__ == "__main__":
    Leaderboard.main()
