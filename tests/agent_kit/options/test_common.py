"""What several agents' options have in common: a context's end that is cut, and sizes that make a Transformer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from parlai.core.message import Message
from parlai.core.opt import Opt

from parlai_empathy.agent_kit.options.common import check_sizes, cut_context, flag
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


def cut(which: str, tokens: list[int], whole: list[int]) -> list[int]:
    obs = Message({"text": "...", "text_vec": torch.tensor(tokens, dtype=torch.long), "full_text_vec": whole})
    cut_context(obs, Opt({"truncate_context": which}), 2, unknown=9)
    return obs["text_vec"].tolist()  # type: ignore[no-any-return]


def test_a_long_context_loses_the_end_that_is_asked_for() -> None:
    assert cut("oldest", [3, 4], [1, 2, 3, 4]) == [3, 4]  # as ParlAI has cut it
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
