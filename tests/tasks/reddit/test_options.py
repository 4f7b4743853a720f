"""The options' defaults, and invalid values."""

from __future__ import annotations

from typing import Any

import pytest
from parlai.core.params import ParlaiParser

from parlai_empathy.errors import OptionError
from parlai_empathy.tasks.reddit import options
from parlai_empathy.tasks.reddit.reader import Limits

DEFAULTS = Limits(window=1_000_000, min_words=2, max_words=100, history=4)


def parsed(*arguments: str) -> dict[str, Any]:
    parser = ParlaiParser(False, False)
    options.add(parser)
    return dict(parser.parse_args(list(arguments)))


def test_defaults_with_and_without_a_parser() -> None:
    assert options.limits(parsed()) == options.limits({}) == DEFAULTS
    assert [options.number({}, name) for name in ("buffer", "eval_size", "epoch_size")] == [10_000, 5_000, 0]


def test_options_set_the_limits() -> None:
    opt = parsed("--reddit-window", "9", "--reddit-min-words", "3", "--reddit-max-words", "5", "--reddit-history", "-1")
    assert options.limits(opt) == Limits(window=9, min_words=3, max_words=5, history=-1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("window", 0), ("min_words", 0), ("max_words", -1), ("window", 1.5), ("history", 0), ("window", "9")],
)
def test_invalid_limits_raise_option_error(name: str, value: object) -> None:
    with pytest.raises(OptionError, match=rf"^--reddit-{name.replace('_', '-')} {value}: must be "):
        options.limits({f"reddit_{name}": value})


@pytest.mark.parametrize(
    ("name", "least"), [("window", 1), ("min_words", 1), ("max_words", 1), ("buffer", 1), ("eval_size", 1)]
)
def test_least_values_are_accepted(name: str, least: int) -> None:
    assert options.number({f"reddit_{name}": least}, name) == least


@pytest.mark.parametrize(("name", "value"), [("buffer", 0), ("eval_size", 0), ("epoch_size", -1)])
def test_invalid_numbers_raise_option_error(name: str, value: int) -> None:
    with pytest.raises(OptionError, match=f"--reddit-{name.replace('_', '-')} {value}: must be a whole number"):
        options.number({f"reddit_{name}": value}, name)


def test_min_words_above_max_words_raises_option_error() -> None:
    with pytest.raises(OptionError, match="--reddit-min-words 9: must not be more than --reddit-max-words 8"):
        options.limits({"reddit_min_words": 9, "reddit_max_words": 8})
