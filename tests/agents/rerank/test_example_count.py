"""The number of examples of an evaluation, derived from an agent's options."""

from __future__ import annotations

from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.agents.rerank.example_count import evaluated

TASK = "empathy:empathetic_dialogues"
COUNTS = {"valid": 133, "test": 142}  # the Listener's replies of the sample


def options(**changes: Any) -> Opt:
    given = ["--task", TASK, "--edition", "sample", "--datatype", "test"]
    return Opt({**ParlaiParser(True, False).parse_args(given), "num_examples": -1, **changes})


@pytest.mark.parametrize("fold", COUNTS)
def test_a_training_is_asked_for_the_fold_of_the_message(fold: str) -> None:
    training = options(datatype="train", validation_max_exs=-1)
    assert evaluated(training, {"id": TASK, "fold": fold}) == COUNTS[fold]


def test_of_several_tasks_it_is_the_messages() -> None:
    assert evaluated(options(task=f"{TASK}:Speaker,{TASK}"), {"id": TASK, "fold": "test"}) == COUNTS["test"]
    assert evaluated(options(task=f"{TASK}:Speaker", evaltask=TASK), {"id": TASK, "fold": "test"}) == COUNTS["test"]


def test_a_message_that_does_not_say_is_of_the_options_task() -> None:
    assert evaluated(options(), {}) == COUNTS["test"]


@pytest.mark.parametrize(
    ("changes", "fold", "expected"),
    [
        ({"num_examples": 120}, "test", 120),
        ({"num_examples": 1000}, "test", 142),
        ({"datatype": "train", "validation_max_exs": 50}, "valid", 50),
        ({"datatype": "train", "validation_max_exs": 50}, "test", 142),
        ({"datatype": "train", "validation_max_exs": 50, "short_final_eval": True}, "test", 50),
        ({"datatype": "train", "num_examples": 5, "validation_max_exs": -1}, "valid", 133),
    ],
)
def test_it_is_no_more_than_the_evaluation_takes(changes: dict[str, Any], fold: str, expected: int) -> None:
    assert evaluated(options(**changes), {"id": TASK, "fold": fold}) == expected
