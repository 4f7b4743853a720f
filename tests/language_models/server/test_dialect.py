"""Adapting requests to what a server's error messages say."""

from __future__ import annotations

import pytest

from parlai_empathy.language_models.server.dialect import Dialect

NEW_NAME = b"Use 'max_completion_tokens' instead."
NO_COUNTS = b"Unrecognized request argument supplied: stream_options"
NO_SEED = b'{"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}'
NO_SYSTEM = b'{"message": "System role not supported"}'


@pytest.mark.parametrize("status", [400, 422])
def test_each_rejection_is_learned_only_once(status: int) -> None:
    dialect = Dialect()
    assert dialect.learn(Dialect(), status, NEW_NAME)
    assert dialect == Dialect("max_completion_tokens")
    assert dialect.learn(Dialect("max_completion_tokens"), status, NO_COUNTS)
    assert dialect == Dialect("max_completion_tokens", counts=False)
    assert dialect.learn(Dialect("max_completion_tokens", counts=False), status, NO_SYSTEM)
    assert dialect.learn(Dialect("max_completion_tokens", counts=False, system=False), status, NO_SEED)
    known = Dialect("max_completion_tokens", counts=False, system=False, seed=False)
    assert dialect == known
    for body in (NEW_NAME, NO_COUNTS, NO_SYSTEM, NO_SEED):
        assert not dialect.learn(known, status, body), "it was put so already"


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
    assert dialect.learn(Dialect(), 400, body)
    assert dialect == Dialect(system=False)


def test_request_sent_with_an_older_dialect_is_retried() -> None:
    dialect = Dialect("max_completion_tokens", counts=False)
    assert dialect.learn(Dialect(), 400, NEW_NAME)
    assert dialect.learn(Dialect("max_completion_tokens"), 400, NO_COUNTS)
    assert dialect == Dialect("max_completion_tokens", counts=False)


@pytest.mark.parametrize(("status", "body"), [(404, NEW_NAME), (500, NO_COUNTS), (400, b"too long")])
def test_other_rejections_change_nothing(status: int, body: bytes) -> None:
    dialect = Dialect()
    assert not dialect.learn(Dialect(), status, body)
    assert dialect == Dialect()
