"""The options of the leaderboard's suites, against what the suites can do."""

from __future__ import annotations

import pytest
from parlai.core.params import ParlaiParser

from parlai_empathy.scripts.leaderboard import Leaderboard
from parlai_empathy.scripts.parts.suite_options import add_suites
from parlai_empathy.scripts.runs.leaderboard import SUITES
from parlai_empathy.tasks.engagement.sets import EVALUATION_SETS


@pytest.fixture
def parser() -> ParlaiParser:
    parser = ParlaiParser(True, False)
    add_suites(parser)
    return parser


def test_each_suite_can_be_run() -> None:
    actions = {action.dest: action for action in Leaderboard.setup_args()._actions}
    assert list(actions["suite"].choices or ()) == list(SUITES)


def test_what_is_left_out(parser: ParlaiParser) -> None:
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


def test_every_set_can_be_named(parser: ParlaiParser) -> None:
    assert parser.parse_args(["--sets", *EVALUATION_SETS])["sets"] == list(EVALUATION_SETS)
