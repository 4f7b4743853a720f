"""Options that decide about other options' defaults, on a parser of ParlAI's."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import pytest
from parlai.core.params import ParlaiParser

from parlai_empathy.agents.presets import Choice, set_defaults


def defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    speed = {"slow": 1, "fast": 9}[values.get("pace") or "slow"]
    return {"speed": speed * (10 if values.get("engine") else 1), "batchsize": speed, "elsewhere": 3}


def parser(in_chat: bool = False) -> ParlaiParser:
    made = ParlaiParser(add_parlai_args=False)
    choice: dict[str, Any] = {"action": Choice, "defaults": defaults, "in_chat": in_chat}
    made.add_argument("--pace", choices=["slow", "fast"], default="slow", **choice)
    made.add_argument("--engine", default=None, **choice)
    made.add_argument("--speed", type=int, default=0)
    made.add_argument("--batchsize", type=int, default=0)
    set_defaults(made, defaults({}), in_chat)
    return made


def parsed(*arguments: str, in_chat: bool = False) -> dict[str, Any]:
    made = parser(in_chat)
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


def test_a_chat_is_a_batch_of_one_whatever_is_chosen() -> None:
    assert parsed("--pace", "fast", in_chat=True)["batchsize"] == 0
    assert parsed("--pace", "fast", in_chat=True)["speed"] == 9
