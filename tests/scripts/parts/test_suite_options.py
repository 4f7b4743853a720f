"""The options of the leaderboard's suites, compared with what the suites support."""

from __future__ import annotations

import re

import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.errors import OptionError
from parlai_empathy.scripts.leaderboard import Leaderboard
from parlai_empathy.scripts.parts.suite_options import READ_BY, add_suites, check_typed
from parlai_empathy.scripts.runs.leaderboard import SUITES
from parlai_empathy.tasks.engagement.sets import EVALUATION_SETS


@pytest.fixture
def parser() -> ParlaiParser:
    parser = ParlaiParser(True, False)
    add_suites(parser)
    return parser


def test_suite_choices_match_suites() -> None:
    actions = {action.dest: action for action in Leaderboard.setup_args()._actions}
    assert list(actions["suite"].choices or ()) == list(SUITES)


def test_suite_option_defaults(parser: ParlaiParser) -> None:
    found = parser.parse_args([])
    named = {name: found[name] for name in ("humod_split", "references", "eval_args", "logs", "tasks", "sets")}
    assert named == {
        "humod_split": "paper",
        "references": "human",
        "eval_args": "",
        "logs": [],
        "tasks": ["ed"],
        "sets": [],
    }


COMMON = {"help", "helpall", "suite", "models", "out", "edition"}


def test_every_leaderboard_option_is_assigned_to_a_suite() -> None:
    theirs = {action.dest for action in ParlaiParser(True, False)._actions}
    ours = {action.dest for action in Leaderboard.setup_args()._actions} - theirs - COMMON
    assert ours == {option for options in READ_BY.values() for option in options}


def test_help_names_the_suites_that_read_an_option() -> None:
    """What the help names is what the command accepts: any other suite refuses the option."""
    helps = {action.dest: str(action.help) for action in Leaderboard.setup_args()._actions}
    assert helps["fold"] == "The fold to score; all only for humod (suites: humod, ed, empgpt3)."
    for suite in READ_BY:
        for option in {option for options in READ_BY.values() for option in options}:
            named = helps[option].rpartition(" (suites: ")[2].removesuffix(").").split(", ")
            if suite in named:
                check_typed(Opt({"suite": suite, "override": {option: None}}))
            else:
                with pytest.raises(OptionError, match=f" only {', '.join(named)}: leave it out$"):
                    check_typed(Opt({"suite": suite, "override": {option: None}}))
    assert not [name for name in COMMON if "(suites" in helps[name]]


@pytest.mark.parametrize(
    ("suite", "options", "message"),
    [
        ("endex", ["--logs", "A=mine.csv"], "--logs: --suite endex does not use it, only ed, empgpt3: leave it out"),
        ("humod", ["--logs", "A=mine.csv"], "--logs: --suite humod does not use it, only ed, empgpt3: leave it out"),
        ("ed", ["--metrics", "epitome"], "--metrics: --suite ed does not use it, only empgpt3: leave it out"),
        ("empgpt3", ["--tasks", "dd"], "--tasks: --suite empgpt3 does not use it, only ed: leave it out"),
        (
            "endex",
            ["--fold", "valid"],
            "--fold: --suite endex does not use it, only humod, ed, empgpt3: leave it out",
        ),
        (
            "humod",
            ["--endex-context", "true"],
            "--endex-context: --suite humod does not use it, only empgpt3, endex: leave it out",
        ),
        ("ed", ["-t", "empathy:red"], "--task: not used by this command: --suite and --tasks choose the data"),
        ("ed", ["-dt", "valid"], "--datatype: not used by this command: use --fold"),
        ("ed", ["-bs", "64"], '--batchsize: not used by this command: use --eval-args="--batchsize N"'),
    ],
)
def test_option_that_the_suite_ignores_raises_option_error(suite: str, options: list[str], message: str) -> None:
    command = ["--suite", suite, "--edition", "sample", "--loglevel", "error", *options]
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        Leaderboard.main(*command)


@pytest.mark.parametrize(
    ("suite", "named", "option", "purpose"),
    [
        *(("ed", "--logs", option, "--models") for option in ("fold", "eval_args", "tasks", "edition")),
        *(("ed", "--models", option, "--logs") for option in ("tokens", "lower_case")),
        *(("empgpt3", "--logs", option, "--models") for option in ("fold", "eval_args")),
    ],
)
def test_option_that_nothing_named_needs_raises_option_error(suite: str, named: str, option: str, purpose: str) -> None:
    values = {"fold": "valid", "eval_args": "--ed-history 1", "tasks": "dd", "edition": "sample"}
    typed = f"--{option.replace('_', '-')}"
    value = {**values, "tokens": "space", "lower_case": "true"}[option]
    message = f"^{typed}: --suite {suite} uses it only for {purpose}: leave it out$"
    with pytest.raises(OptionError, match=message):
        Leaderboard.main("--suite", suite, named, "x=a", typed, value, "--loglevel", "error")
    both = {"models": ["m"], "logs": ["l"]}
    check_typed(Opt({"suite": suite, "override": {option: value}, **both}))
    check_typed(Opt({"suite": suite, "override": {}, **both, purpose.removeprefix("--"): []}))


def test_options_of_how_words_are_counted_count_for_models_of_empgpt3_too() -> None:
    check_typed(Opt({"suite": "empgpt3", "override": {"tokens": "space"}, "models": ["m"], "logs": []}))
    check_typed(Opt({"suite": "empgpt3", "override": {"edition": "sample"}, "models": [], "logs": ["l"]}))  # for NIDF


@pytest.mark.parametrize("suite", READ_BY)
def test_suite_and_common_options_are_accepted(suite: str) -> None:
    check_typed(Opt({"suite": suite, "override": dict.fromkeys((*READ_BY[suite], *COMMON, "datapath", "loglevel"))}))


def test_every_evaluation_set_is_accepted(parser: ParlaiParser) -> None:
    assert parser.parse_args(["--sets", *EVALUATION_SETS])["sets"] == list(EVALUATION_SETS)
