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
def test_what_cannot_work_is_named(options: dict[str, int], message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        check_samples(Opt({"resamples": 1, "seed": 0, **options}))


def test_the_least_that_works() -> None:
    check_samples(Opt({"resamples": 1, "seed": 0}))
