"""Options shared by several agents: truncation of contexts, and valid sizes of a Transformer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.message import Message
from parlai.core.opt import Opt

from parlai_empathy.agent_kit.options.common import (
    apply_truncate,
    check_at_least,
    check_choices,
    check_sizes,
    check_unused,
    cut_context,
    flag,
)
from parlai_empathy.errors import OptionError

SIZES: dict[str, Any] = {
    "embedding_size": 8,
    "n_layers": 1,
    "n_heads": 2,
    "ffn_size": 3,
    "n_positions": 10,
    "dropout": 0.5,
    "text_truncate": 10,
    "label_truncate": 1,
}


@pytest.mark.parametrize(
    ("typed", "lengths"),
    [
        ({}, (100, 100)),
        ({"truncate": 5}, (5, 5)),
        ({"truncate": 5, "text_truncate": 50}, (50, 5)),
        ({"truncate": 5, "text_truncate": 50, "label_truncate": 20}, (50, 20)),
        ({"truncate": -1}, (100, 100)),
    ],
)
def test_truncate_sets_lengths_not_given_on_command_line(typed: dict[str, int], lengths: tuple[int, int]) -> None:
    opt = Opt({"truncate": -1, "text_truncate": 100, "label_truncate": 100, **typed, "override": typed})
    apply_truncate(opt)
    assert (opt["text_truncate"], opt["label_truncate"]) == lengths


def test_saved_lengths_are_kept_without_truncate_on_command_line() -> None:
    opt = Opt({"truncate": 5, "text_truncate": 50, "label_truncate": 5, "override": {"batchsize": 1}})
    apply_truncate(opt)
    assert opt["text_truncate"] == 50


def cut(which: str, tokens: list[int], whole: list[int]) -> list[int]:
    obs = Message({"text": "...", "text_vec": torch.tensor(tokens, dtype=torch.long), "full_text_vec": whole})
    cut_context(obs, Opt({"truncate_context": which}), 2, unknown=9)
    return obs["text_vec"].tolist()  # type: ignore[no-any-return]


def test_truncate_context_drops_oldest_or_newest_tokens() -> None:
    assert cut("oldest", [3, 4], [1, 2, 3, 4]) == [3, 4]  # as ParlAI truncated it
    assert cut("newest", [3, 4], [1, 2, 3, 4]) == [1, 2]


@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_empty_context_becomes_one_unknown_token(which: str) -> None:
    assert cut(which, [], []) == [9]
    obs = Message({"text": "..."})
    cut_context(obs, Opt({"truncate_context": which}), 2, unknown=9)
    assert obs["text_vec"].tolist() == [9]


def test_message_without_text_gets_no_text_vec() -> None:
    obs = Message({"labels": ["x"]})
    cut_context(obs, Opt({"truncate_context": "oldest"}), 2, unknown=9)
    assert "text_vec" not in obs


def test_check_choices_and_check_at_least() -> None:
    opt = Opt({"pooling": "mean", "towers": 3, "max_tokens": 4})
    check_choices(opt, pooling=("mean", "first"), towers=(1, 3))
    check_at_least(opt, 3, "towers", "max_tokens")
    with pytest.raises(OptionError, match=r"^--towers 3: must be one of 1, 2$"):
        check_choices(opt, pooling=("mean", "first"), towers=(1, 2))
    with pytest.raises(OptionError, match=r"^--max-tokens 4: must be at least 5$"):
        check_at_least(opt, 5, "max_tokens")
    with pytest.raises(OptionError, match=r"^--max-tokens nan: must be at least 5$"):
        check_at_least(Opt({"max_tokens": math.nan}), 5, "max_tokens")


def test_option_without_effect_is_an_error_if_it_was_typed(tmp_path: Path) -> None:
    check_unused(Opt({"n_layers": 2}), ["n_layers"], "leave it out")  # a default
    opt = Opt({"n_layers": 2, "override": {"n_layers": 2}})
    check_unused(opt, ["dropout"], "leave it out")
    with pytest.raises(OptionError, match=r"^--n-layers 2: leave it out$"):
        check_unused(opt, ["n_layers"], "leave it out")
    (file := tmp_path / "model.opt").write_text('{"n_layers": 2}')  # a model's, with the values of all options
    of_file = Opt({"override": {"n_layers": 2, "dropout": 0.5, "init_opt": str(file)}})
    check_unused(of_file, ["n_layers"], "leave it out")
    with pytest.raises(OptionError, match=r"^--dropout 0.5: leave it out$"):
        check_unused(of_file, ["dropout"], "leave it out")


def test_valid_sizes_are_accepted() -> None:
    check_sizes(Opt(SIZES))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, 0) for name in ("embedding_size", "n_layers", "n_heads", "ffn_size", "n_positions", "text_truncate")),
        ("n_layers", None),
        ("n_heads", 3),
        ("dropout", 1.1),
        ("dropout", -0.1),
        ("text_truncate", 11),
        ("label_truncate", None),
    ],
)
def test_invalid_size_error_names_option_and_value(name: str, value: object) -> None:
    with pytest.raises(OptionError) as caught:
        check_sizes(Opt({**SIZES, name: value}))
    assert str(caught.value).startswith(f"{flag(name)} {value}: must")
