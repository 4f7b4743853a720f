"""Options that decide about other options' defaults, on a parser of ParlAI's."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import pytest
from parlai.core.params import ParlaiParser
from parlai.scripts.display_model import DisplayModel
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.interactive import Interactive
from parlai.scripts.multiprocessing_eval import MultiProcessEval
from parlai.scripts.multiprocessing_train import MultiProcessTrain
from parlai.scripts.self_chat import SelfChat
from parlai.scripts.train_model import TrainModel

from parlai_empathy.agent_kit.options.presets import Choice, set_defaults


def defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    speed = {"slow": 1, "fast": 9}[values.get("pace") or "slow"]
    return {"speed": speed * (10 if values.get("engine") else 1), "batchsize": speed, "elsewhere": 3}


def parser(*others: str) -> ParlaiParser:
    made = ParlaiParser(add_parlai_args=False)
    choice: dict[str, Any] = {"action": Choice, "defaults": defaults}
    made.add_argument("--pace", choices=["slow", "fast"], default="slow", **choice)
    made.add_argument("--engine", default=None, **choice)
    made.add_argument("--speed", type=int, default=0)
    made.add_argument("--batchsize", type=int, default=0)
    for other in others:
        made.add_argument(other)
    set_defaults(made, defaults({}))
    return made


def parsed(*arguments: str, others: tuple[str, ...] = ("--metrics",)) -> dict[str, Any]:
    made = parser(*others)
    made.parse_args(list(arguments))  # which is when the defaults change
    return dict(made.parse_args(list(arguments)))


def test_a_choice_sets_defaults() -> None:
    assert parsed()["speed"] == 1
    assert parsed("--pace", "fast")["speed"] == 9
    assert parsed("--engine", "steam")["speed"] == 10


@pytest.mark.parametrize("order", list(permutations([("--pace", "fast"), ("--engine", "steam"), ("--speed", "4")])))
def test_a_value_that_is_given_wins_wherever_it_stands(order: tuple[tuple[str, str], ...]) -> None:
    values = parsed(*(word for pair in order for word in pair))
    assert (values["speed"], values["batchsize"]) == (4, 9)


@pytest.mark.parametrize("order", list(permutations([("--pace", "fast"), ("--engine", "steam")])))
def test_several_choices_decide_together(order: tuple[tuple[str, str], ...]) -> None:
    assert parsed(*(word for pair in order for word in pair))["speed"] == 90


def test_options_of_other_commands_are_left_alone() -> None:
    assert "elsewhere" not in parsed("--pace", "fast")


def test_a_command_that_neither_trains_nor_evaluates_takes_one_at_a_time_whatever_is_chosen() -> None:
    assert parsed("--pace", "fast", others=())["batchsize"] == 0
    assert parsed("--pace", "fast", others=())["speed"] == 9


@pytest.mark.parametrize("script", [TrainModel, MultiProcessTrain, EvalModel, MultiProcessEval])
def test_which_commands_train_or_evaluate(script: Any) -> None:
    assert "metrics" in {action.dest for action in script.setup_args()._actions}


@pytest.mark.parametrize("script", [Interactive, SelfChat, DisplayModel])
def test_which_commands_do_not(script: Any) -> None:
    assert "metrics" not in {action.dest for action in script.setup_args()._actions}
