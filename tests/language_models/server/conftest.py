"""A local server for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from model_server import ModelServer

from parlai_empathy.language_models.echo import EchoModel


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """Start a server with the model ``parrot``, which repeats its input."""
    with ModelServer(EchoModel("parrot")) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        yield running
