"""An evaluation that reorders the fold's examples names the order."""

from __future__ import annotations

import pytest

from parlai_empathy.metrics.example_order import example_order

ENDS, GOES_ON = {"episode_done": True}, {"episode_done": False}


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
    ],
)
def test_order_is_named_only_if_examples_are_reordered(
    opt: dict[str, object], messages: list[dict[str, bool]], name: str
) -> None:
    assert example_order(opt, messages) == name
