"""The linear learning rate, and the number of steps of a training; the sample has 288 training examples."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.training import linear_rate
from parlai_empathy.agent_kit.training.linear_rate import LinearRate, steps_of
from parlai_empathy.errors import OptionError

FEEL = "empathy:empathetic_dialogues:SituationEmotion"


class Trained(LinearRate):
    """An agent that has a learning rate and no model."""

    def __init__(self, steps: int, warmup: int | None) -> None:
        self.opt = Opt(learningrate=2.0, warmup_updates=warmup)
        self.optimizer = torch.optim.SGD([{"params": [torch.zeros(1)]}, {"params": [torch.zeros(1)]}], lr=7.0)
        self._steps = steps

    def build_model(self) -> None: ...

    def train_step(self, batch: Any) -> None: ...

    def eval_step(self, batch: Any) -> None: ...

    def rate_after(self, updates: int) -> float:
        """The rate of all parameters, as a share of ``--learningrate``."""
        self._number_training_updates = updates
        self.set_rate()
        first, second = (group["lr"] for group in self.optimizer.param_groups)
        assert first == second
        return float(first) / 2.0


def test_rate_rises_over_the_warmup_and_falls_to_zero_at_the_end() -> None:
    """With 4 warm-up updates of 20: min(1, (updates + 1) / 5) times the remaining share of updates."""
    agent = Trained(steps=20, warmup=4)
    rates = [agent.rate_after(updates) for updates in (0, 3, 4, 10, 19, 20, 25)]
    assert rates == pytest.approx([1 / 5, 4 / 5 * 17 / 20, 16 / 20, 10 / 20, 1 / 20, 0, 0])


@pytest.mark.parametrize("warmup", [0, -1, None])
def test_rate_starts_in_full_without_a_warmup(warmup: int | None) -> None:
    agent = Trained(steps=4, warmup=warmup)
    assert [agent.rate_after(updates) for updates in range(5)] == [1, 3 / 4, 2 / 4, 1 / 4, 0]


def test_rate_is_left_alone_without_a_linear_schedule() -> None:
    assert Trained(steps=0, warmup=4).rate_after(1) == 7 / 2


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
