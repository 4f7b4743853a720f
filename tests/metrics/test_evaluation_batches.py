"""How an evaluation batches its examples: a training's own options for its evaluations apply to those alone."""

from __future__ import annotations

from typing import Any

import pytest

from parlai_empathy.metrics.evaluation_batches import (
    evaluation_batchsize,
    evaluation_dynamic_batching,
    is_of_training,
)

OWN = {"batchsize": 16, "eval_batchsize": 5, "dynamic_batching": "full", "eval_dynamic_batching": "batchsort"}


def found(opt: dict[str, Any]) -> tuple[int, str | None]:
    return evaluation_batchsize(opt), evaluation_dynamic_batching(opt)


@pytest.mark.parametrize(
    ("opt", "expected"),
    [
        ({"datatype": "train"}, True),
        ({"datatype": "train:stream"}, True),
        ({"datatype": "train:evalmode"}, False),
        ({"datatype": "train:stream:evalmode"}, False),
        ({"datatype": "valid"}, False),
        ({"datatype": None}, False),
        ({}, False),
    ],
)
def test_agent_is_trained_unless_it_evaluates_a_fold(opt: dict[str, Any], expected: bool) -> None:
    assert is_of_training(opt) is expected


@pytest.mark.parametrize("datatype", ["train", "train:stream"])
def test_training_evaluates_with_its_own_options(datatype: str) -> None:
    assert found({**OWN, "datatype": datatype}) == (5, "batchsort")


@pytest.mark.parametrize("datatype", ["valid", "test", "train:evalmode"])
def test_other_evaluations_ignore_them(datatype: str) -> None:
    assert found({**OWN, "datatype": datatype}) == (16, "full")


def test_other_evaluations_use_what_they_were_told() -> None:
    told = {"evaluation_batchsize": 128, "evaluation_dynamic_batching": None}
    assert found({**OWN, **told, "datatype": "test"}) == (128, None)
    assert found({**OWN, **told, "datatype": "train"}) == (5, "batchsort")


@pytest.mark.parametrize("own", [None, 0])
def test_training_without_own_options_evaluates_as_it_trains(own: int | None) -> None:
    opt = {**OWN, "datatype": "train", "eval_batchsize": own, "eval_dynamic_batching": None}
    assert found(opt) == (16, "full")
    assert found({"datatype": "train", "batchsize": 3}) == (3, None)


def test_off_means_that_batches_are_not_sorted() -> None:
    assert evaluation_dynamic_batching({**OWN, "datatype": "train", "eval_dynamic_batching": "off"}) is None
    assert evaluation_dynamic_batching({**OWN, "datatype": "test", "dynamic_batching": "off"}) is None
