"""Adapting requests to what a server's error messages say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parlai_empathy.language_models.server.dialect import Dialect

NEW_NAME = b"Use 'max_completion_tokens' instead."
NO_COUNTS = b"Unrecognized request argument supplied: stream_options"
NO_SEED = b'{"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}'
NO_SYSTEM = b'{"message": "System role not supported"}'
GOOGLES_NO_SEED = rb'{"error": {"message": "Unknown name \"seed\": Cannot find field."}}'

CHAT = {"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi."}]}
FULL: dict[str, Any] = {**CHAT, "max_tokens": 5, "seed": 1, "stream_options": {"include_usage": True}}
# The same chat as it is sent when all of the above is known.
BARE = {"messages": [{"role": "user", "content": "Be kind. Hi."}], "extra_body": {"max_completion_tokens": 5}}


@pytest.mark.parametrize("status", [400, 422])
def test_each_rejection_is_learned_only_once(status: int) -> None:
    dialect = Dialect()
    for body in (NEW_NAME, NO_COUNTS, NO_SYSTEM, NO_SEED):
        assert dialect.learn(FULL, status, body)
    assert dialect == Dialect("max_completion_tokens", counts=False, system=False, seed=False)
    for body in (NEW_NAME, NO_COUNTS, NO_SYSTEM, NO_SEED):
        assert not dialect.learn(BARE, status, body), "it was put so already"


def test_limit_of_a_text_is_never_renamed() -> None:
    """``/completions`` has no other name for it, and ignores what it does not know."""
    dialect = Dialect()
    assert not dialect.learn({"prompt": "Hi.", "max_tokens": 5}, 400, NEW_NAME)
    assert dialect == Dialect()


def test_message_that_names_both_limits_renames_none() -> None:
    """vLLM's words for a prompt that is too long."""
    body = (
        b"{\"message\": \"'max_tokens' or 'max_completion_tokens' is too large: 128. This model's maximum context "
        b'length is 4096 tokens and your request has 4000 input tokens (128 > 4096 - 4000).", "code": 400}'
    )
    dialect = Dialect()
    assert not dialect.learn(FULL, 400, body)
    assert dialect == Dialect()


def test_new_name_of_the_limit_is_read_between_escaped_quotes() -> None:
    dialect = Dialect()
    assert dialect.learn(FULL, 400, rb'{"message": "Use \u0027max_completion_tokens\u0027 instead."}')
    assert dialect.limit == "max_completion_tokens"


def test_system_role_of_a_chat_that_the_assistant_begins_says_nothing_of_others() -> None:
    begun = {"messages": [{"role": "system"}, {"role": "assistant"}, {"role": "user"}]}
    dialect = Dialect()
    assert dialect.learn(begun, 400, NO_SYSTEM)
    assert dialect == Dialect(assistant_first=False)
    assert dialect.learn(CHAT, 400, NO_SYSTEM), "the server has none after all"
    assert dialect == Dialect(assistant_first=False, system=False)


def test_request_sent_before_the_lesson_is_retried() -> None:
    dialect = Dialect("max_completion_tokens", counts=False)
    assert dialect.learn(FULL, 400, NEW_NAME)
    assert dialect.learn(FULL, 400, NO_COUNTS)
    assert dialect == Dialect("max_completion_tokens", counts=False)


@pytest.mark.parametrize(
    "body",
    [
        b"Template error: invalid operation: System role not supported (in <string>:1)",
        b"Conversation roles must alternate user/assistant/user/assistant/...",
        b"Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        b"Developer instruction is not enabled for models/gemma-3-1b-it",
    ],
)
def test_refused_system_messages_are_recognised(body: bytes) -> None:
    dialect = Dialect()
    assert dialect.learn(CHAT, 400, body)
    assert dialect == Dialect(system=False)


@pytest.mark.parametrize("as_text", [False, True], ids=["as JSON", "within a text"])
def test_request_that_is_quoted_in_a_refusal_changes_nothing(as_text: bool) -> None:
    said = {"role": "user", "content": 'My role is that of a "seed" grower.\nI\u2019m tired.'}
    sent = {**FULL, "messages": [*CHAT["messages"], said]}
    quoted: Any = json.dumps(FULL) if as_text else sent
    detail = [{"loc": ["body", "frequency_penalty"], "msg": "Extra inputs are not permitted", "input": quoted}]
    body = json.dumps({"detail": detail}).encode()
    dialect = Dialect()
    assert not dialect.learn(sent, 422, body)
    assert dialect == Dialect()


@pytest.mark.parametrize("body", [NO_SEED, GOOGLES_NO_SEED])
def test_seed_that_is_refused_is_left_out_whatever_was_said(body: bytes) -> None:
    said = {"role": "user", "content": "I planted a seed in my new role."}
    dialect = Dialect()
    assert dialect.learn({"messages": [said], "seed": 1}, 422, body)
    assert dialect == Dialect(seed=False)


@pytest.mark.parametrize(("status", "body"), [(404, NEW_NAME), (500, NO_COUNTS), (400, b"too long")])
def test_other_rejections_change_nothing(status: int, body: bytes) -> None:
    dialect = Dialect()
    assert not dialect.learn(FULL, status, body)
    assert dialect == Dialect()
