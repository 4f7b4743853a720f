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
def test_example_count_in_training_follows_the_message_fold(fold: str) -> None:
    training = options(datatype="train", validation_max_exs=-1)
    assert evaluated(training, {"id": TASK, "fold": fold}) == COUNTS[fold]


def test_example_count_of_several_tasks_follows_the_message_id() -> None:
    assert evaluated(options(task=f"{TASK}:Speaker,{TASK}"), {"id": TASK, "fold": "test"}) == COUNTS["test"]
    assert evaluated(options(task=f"{TASK}:Speaker", evaltask=TASK), {"id": TASK, "fold": "test"}) == COUNTS["test"]


def test_example_count_defaults_to_the_task_option() -> None:
    assert evaluated(options(), {}) == COUNTS["test"]


@pytest.mark.parametrize(
    ("changes", "fold", "expected"),
    [
        ({"num_examples": 120}, "test", 120),
        ({"num_examples": 100, "batchsize": 32}, "test", 128),
        ({"num_examples": 100, "batchsize": 8, "evaluation_batchsize": 32}, "test", 128),
        ({"num_examples": 130, "batchsize": 32}, "test", 142),
        ({"num_examples": 1000}, "test", 142),
        ({"datatype": "train", "validation_max_exs": 50}, "valid", 50),
        ({"datatype": "train", "validation_max_exs": 50, "batchsize": 8, "eval_batchsize": 20}, "valid", 60),
        ({"datatype": "train", "validation_max_exs": 50}, "test", 142),
        ({"datatype": "train", "validation_max_exs": 50, "short_final_eval": True}, "test", 50),
        ({"datatype": "train", "num_examples": 5, "validation_max_exs": -1}, "valid", 133),
        # A training divides its limit among its tasks.
        ({"datatype": "train", "validation_max_exs": 50, "task": f"{TASK}:Speaker,{TASK}"}, "valid", 25),
        ({"datatype": "train", "validation_max_exs": 50, "evaltask": f"{TASK}:Speaker,{TASK}"}, "valid", 25),
    ],
)
def test_example_count_is_limited_by_evaluation_options(changes: dict[str, Any], fold: str, expected: int) -> None:
    assert evaluated(options(**changes), {"id": TASK, "fold": fold}) == expected
