"""The number of steps of a training; the sample has 288 training examples."""

from __future__ import annotations

from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.training import linear_rate
from parlai_empathy.agent_kit.training.linear_rate import steps_of
from parlai_empathy.errors import OptionError

FEEL = "empathy:empathetic_dialogues:SituationEmotion"


@pytest.fixture(scope="module")
def given() -> Opt:
    return Opt({**ParlaiParser(True, False).parse_args(["-t", FEEL]), "edition": "sample", "batchsize": 32})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"num_epochs": 2.0}, 18),  # 2 x 288 / 32
        ({"num_epochs": 0.5, "batchsize": 7}, 21),  # 144 / 7 = 20.6
        ({"num_epochs": 2.0, "update_freq": 3}, 6),
        ({"num_epochs": 2.0, "max_train_steps": 5}, 5),
        ({"num_epochs": 2.0, "max_train_steps": 50}, 18),
        ({"num_epochs": -1, "max_train_steps": 50}, 50),
        ({"num_epochs": 1.0, "task": f"{FEEL},{FEEL}"}, 18),
    ],
)
def test_number_of_steps(given: Opt, changes: dict[str, Any], expected: int) -> None:
    assert steps_of(Opt({**given, **changes})) == expected


def test_steps_are_divided_among_processes(given: Opt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_rate, "num_workers", lambda: 3)
    assert steps_of(Opt({**given, "num_epochs": 2.0})) == 6


def test_endless_training_raises_option_error(given: Opt) -> None:
    with pytest.raises(OptionError, match="set --num-epochs or --max-train-steps"):
        steps_of(Opt({**given, "num_epochs": -1, "max_train_steps": -1}))
