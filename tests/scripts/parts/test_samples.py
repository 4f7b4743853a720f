"""The options ``--resamples`` and ``--seed``: they are checked before scoring."""

from __future__ import annotations

import re
from argparse import ArgumentParser

import pytest
from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.scripts.parts.samples import add_samples, check_samples


def test_defaults_are_valid() -> None:
    parser = ArgumentParser()
    add_samples(parser.add_argument_group("Report"))
    defaults = vars(parser.parse_args([]))
    assert defaults == {"resamples": 1000, "seed": 0}
    check_samples(Opt(defaults))


def test_minimum_resamples_and_seed_are_accepted() -> None:
    check_samples(Opt({"resamples": 1, "seed": 0}))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"resamples": 0}, "--resamples 0: must be at least 1"), ({"seed": -1}, "--seed -1: must be at least 0")],
)
def test_invalid_resamples_or_seed_raise_option_error(options: dict[str, int], message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        check_samples(Opt({"resamples": 1, "seed": 0, **options}))
