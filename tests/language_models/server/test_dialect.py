"""Adapting requests to what a server's error messages say."""

from __future__ import annotations

import pytest

from parlai_empathy.language_models.server.dialect import Dialect

NEW_NAME = b"Use 'max_completion_tokens' instead."
NO_COUNTS = b"Unrecognized request argument supplied: stream_options"


@pytest.mark.parametrize("status", [400, 422])
def test_each_rejection_is_learned_only_once(status: int) -> None:
    dialect = Dialect()
    assert dialect.learn(Dialect(), status, NEW_NAME)
    assert dialect == Dialect("max_completion_tokens")
    assert dialect.learn(Dialect("max_completion_tokens"), status, NO_COUNTS)
    assert dialect == Dialect("max_completion_tokens", counts=False)
    for body in (NEW_NAME, NO_COUNTS):
        assert not dialect.learn(Dialect("max_completion_tokens", counts=False), status, body), "it was put so already"


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
