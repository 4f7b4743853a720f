"""Prompts and sampling options."""

from __future__ import annotations

from typing import Any

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.prompt import Message, Sampling, without_system_role

SYSTEM, USER, MODEL = Message("system", "Be kind."), Message("user", "I fell."), Message("assistant", "Oh no!")


@pytest.mark.parametrize(
    ("chat", "plain"),
    [
        ((SYSTEM, USER, MODEL), (Message("user", "Be kind.\n\nI fell."), MODEL)),
        ((SYSTEM, MODEL, USER), (Message("user", "Be kind."), MODEL, USER)),
        ((SYSTEM,), (Message("user", "Be kind."),)),
        ((USER, MODEL), (USER, MODEL)),
        ((USER, SYSTEM), (USER, SYSTEM)),
        ((), ()),
    ],
)
def test_system_message_becomes_the_head_of_the_users_first(
    chat: tuple[Message, ...], plain: tuple[Message, ...]
) -> None:
    assert without_system_role(chat) == plain


def test_sampling_defaults_match_the_paper() -> None:
    # Lee et al. 2022: davinci with temperature .8, 128 tokens, both penalties .4, no top-p truncation.
    assert Sampling() == Sampling(0.8, 1.0, 128, 0.4, 0.4, (), None)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"temperature": -0.1}, "temperature -0.1: must be from 0 to 2"),
        ({"temperature": float("nan")}, "temperature nan"),
        ({"top_p": 0.0}, "top_p 0.0: must be above 0"),
        ({"top_p": 1.1}, "top_p 1.1"),
        ({"max_tokens": 0}, "max_tokens 0: must be 1 or more"),
        ({"frequency_penalty": 2.1}, "frequency_penalty 2.1: must be from -2 to 2"),
        ({"presence_penalty": -3}, "presence_penalty -3"),
        ({"stop": ("",)}, "must be a list of non-empty texts"),
        ({"stop": "Human:"}, "stop 'Human:'"),
    ],
)
def test_invalid_sampling_raises_option_error(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Sampling(**wrong)


def test_sampling_limits_are_inclusive() -> None:
    Sampling(temperature=0, top_p=1, max_tokens=1, frequency_penalty=-2, presence_penalty=2)


def test_unknown_role_raises_option_error() -> None:
    with pytest.raises(OptionError, match="role 'human': must be one of system, user, assistant"):
        Message("human", "hello")
