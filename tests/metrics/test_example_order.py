"""An evaluation that reorders the fold's examples names the order."""

from __future__ import annotations

import pytest

from parlai_empathy.metrics.example_order import example_order

ENDS, GOES_ON = {"episode_done": True}, {"episode_done": False}
TRAINING, EVALUATION, TRAIN_FOLD = (
    {"datatype": datatype, "batchsize": 16} for datatype in ("train", "test", "train:evalmode")
)


@pytest.mark.parametrize(
    ("opt", "messages", "name"),
    [
        ({"batchsize": 16}, [ENDS, ENDS], None),
        ({"batchsize": 16}, [ENDS, {}], None),
        ({"batchsize": 16}, [ENDS, GOES_ON], "side-by-side-16"),
        ({"batchsize": 1}, [GOES_ON], None),
        ({"batchsize": 16, "dynamic_batching": "batchsort"}, [ENDS], "dynamic-batchsort"),
        ({"batchsize": 1, "dynamic_batching": "full"}, [ENDS], "dynamic-full"),
        ({"batchsize": 1, "dynamic_batching": None}, [ENDS], None),
        ({**TRAINING, "eval_batchsize": 5, "eval_dynamic_batching": "full"}, [ENDS], "dynamic-full"),
        ({**TRAINING, "dynamic_batching": "full", "eval_dynamic_batching": "off"}, [ENDS], None),
        ({**TRAINING, "dynamic_batching": "full", "eval_dynamic_batching": None}, [ENDS], "dynamic-full"),
        ({**TRAINING, "eval_batchsize": 5}, [GOES_ON], "side-by-side-5"),
        ({**TRAINING, "eval_batchsize": 1}, [GOES_ON], None),
        ({**TRAINING, "eval_batchsize": None}, [GOES_ON], "side-by-side-16"),
        # Evaluations of a model that was trained with such options do not use them.
        ({**EVALUATION, "eval_batchsize": 5, "eval_dynamic_batching": "full"}, [GOES_ON], "side-by-side-16"),
        ({**EVALUATION, "dynamic_batching": "full", "eval_dynamic_batching": "off"}, [ENDS], "dynamic-full"),
        ({**TRAIN_FOLD, "eval_batchsize": 5}, [GOES_ON], "side-by-side-16"),
    ],
)
def test_order_is_named_only_if_examples_are_reordered(
    opt: dict[str, object], messages: list[dict[str, bool]], name: str
) -> None:
    assert example_order(opt, messages) == name
