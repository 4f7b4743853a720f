"""The options that select the file: on the command line, and the same for the task and the commands."""

from __future__ import annotations

import argparse
import re

import pytest
from parlai.core.params import ParlaiParser

from parlai_empathy.scripts.agreement import AgreementOfRaters
from parlai_empathy.scripts.humod_report import HumodReport
from parlai_empathy.scripts.leaderboard import Leaderboard
from parlai_empathy.tasks.humod.agents import DefaultTeacher
from parlai_empathy.tasks.humod.options import add_file_options

NAMES = ("edition", "humod_file", "skip_bad_rows")


def parsed(*arguments: str) -> dict[str, object]:
    parser = ParlaiParser(False, False)
    add_file_options(parser.add_argument_group("HUMOD"))
    opt = parser.parse_args(list(arguments))
    return {name: opt[name] for name in NAMES}


def test_defaults() -> None:
    assert parsed() == {"edition": "full", "humod_file": None, "skip_bad_rows": False}


def test_option_values_are_parsed() -> None:
    found = parsed("--edition", "sample", "--humod-file", "a file.jsonl", "--skip-bad-rows", "true")
    assert found == {"edition": "sample", "humod_file": "a file.jsonl", "skip_bad_rows": True}


def test_unknown_edition_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--edition", "tiny")
    assert "argument --edition: invalid choice: 'tiny'" in "".join(capsys.readouterr())


def actions(parser: argparse.ArgumentParser) -> list[tuple[object, ...]]:
    """Return the options, without what the leaderboard says of its suites."""
    found = [(a.dest, a.default, a.choices, str(a.help)) for a in parser._actions if a.dest in NAMES]
    return sorted(((*rest, re.sub(r" \(suites: [a-z0-9, ]+\)", "", text)) for *rest, text in found), key=str)


def test_task_and_commands_have_the_same_options() -> None:
    parser = ParlaiParser(False, False)
    expected = actions(DefaultTeacher.add_cmdline_args(parser))
    assert len(expected) == len(NAMES)
    for script in (Leaderboard, AgreementOfRaters, HumodReport):
        assert actions(script.setup_args()) == expected
