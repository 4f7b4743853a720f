"""Options shared by several agents: truncation of contexts, and valid sizes of a Transformer."""

from __future__ import annotations

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
def test_truncate_stands_for_the_lengths_that_are_not_typed(typed: dict[str, int], lengths: tuple[int, int]) -> None:
    opt = Opt({"truncate": -1, "text_truncate": 100, "label_truncate": 100, **typed, "override": typed})
    apply_truncate(opt)
    assert (opt["text_truncate"], opt["label_truncate"]) == lengths


def test_a_model_keeps_the_lengths_that_it_was_trained_with() -> None:
    opt = Opt({"truncate": 5, "text_truncate": 50, "label_truncate": 5, "override": {"batchsize": 1}})
    apply_truncate(opt)
    assert opt["text_truncate"] == 50


def cut(which: str, tokens: list[int], whole: list[int]) -> list[int]:
    obs = Message({"text": "...", "text_vec": torch.tensor(tokens, dtype=torch.long), "full_text_vec": whole})
    cut_context(obs, Opt({"truncate_context": which}), 2, unknown=9)
    return obs["text_vec"].tolist()  # type: ignore[no-any-return]


def test_a_long_context_loses_the_end_that_is_asked_for() -> None:
    assert cut("oldest", [3, 4], [1, 2, 3, 4]) == [3, 4]  # as ParlAI truncated it
    assert cut("newest", [3, 4], [1, 2, 3, 4]) == [1, 2]


@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_a_context_without_tokens_is_one_unknown_word(which: str) -> None:
    assert cut(which, [], []) == [9]
    obs = Message({"text": "..."})
    cut_context(obs, Opt({"truncate_context": which}), 2, unknown=9)
    assert obs["text_vec"].tolist() == [9]


def test_a_message_without_text_stays_without() -> None:
    obs = Message({"labels": ["x"]})
    cut_context(obs, Opt({"truncate_context": "oldest"}), 2, unknown=9)
    assert "text_vec" not in obs


def test_choices_and_the_least_that_can_be() -> None:
    opt = Opt({"pooling": "mean", "towers": 3, "max_tokens": 4})
    check_choices(opt, pooling=("mean", "first"), towers=(1, 3))
    check_at_least(opt, 3, "towers", "max_tokens")
    with pytest.raises(OptionError, match=r"^--towers 3: must be one of 1, 2$"):
        check_choices(opt, pooling=("mean", "first"), towers=(1, 2))
    with pytest.raises(OptionError, match=r"^--max-tokens 4: must be at least 5$"):
        check_at_least(opt, 5, "max_tokens")


def test_sizes_that_work() -> None:
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
def test_sizes_that_cannot_work_are_named(name: str, value: object) -> None:
    with pytest.raises(OptionError) as caught:
        check_sizes(Opt({**SIZES, name: value}))
    assert str(caught.value).startswith(f"{flag(name)} {value}: must")
