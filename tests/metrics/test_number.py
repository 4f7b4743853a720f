"""``Number``, a float that keeps its signature."""

from __future__ import annotations

import copy
import json
import pickle

from parlai_empathy.metrics.number import Number


def test_number_is_a_float_with_a_signature() -> None:
    number = Number(0.5, "metric|n:3")
    assert number == 0.5
    assert number.signature == "metric|n:3"
    assert f"{number:.2f}" == "0.50"
    assert json.dumps(number) == "0.5"


def test_arithmetic_returns_plain_float() -> None:
    assert type(Number(0.5, "x") * 2) is float


def test_copies_keep_the_signature() -> None:
    number = Number(0.5, "x")
    for other in (copy.deepcopy(number), pickle.loads(pickle.dumps(number))):
        assert (other, other.signature) == (0.5, "x")
