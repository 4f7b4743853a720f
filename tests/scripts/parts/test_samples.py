"""``--resamples`` and ``--seed`` are checked before scoring."""

from __future__ import annotations

import re

import pytest
from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.scripts.parts.samples import check_samples


@pytest.mark.parametrize(
    ("options", "message"),
    [({"resamples": 0}, "--resamples 0: must be at least 1"), ({"seed": -1}, "--seed -1: must be at least 0")],
)
def test_invalid_resamples_or_seed_raise_option_error(options: dict[str, int], message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        check_samples(Opt({"resamples": 1, "seed": 0, **options}))


def test_minimum_resamples_and_seed_are_accepted() -> None:
    check_samples(Opt({"resamples": 1, "seed": 0}))
