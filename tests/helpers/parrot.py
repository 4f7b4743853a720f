"""The real client, for a model named ``parrot`` behind a server, and a check of its errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from parlai_empathy.errors import LanguageModelError
from parlai_empathy.language_models.prompt import Message, Sampling
from parlai_empathy.language_models.server.openai_model import OpenAIModel

CHAT = (Message("system", "Be kind."), Message("user", "My dog is ill."))
KEY = "sk-very-secret"


def parrot(**options: Any) -> OpenAIModel:
    return OpenAIModel("parrot", **{"timeout": 20.0, "retries": 2, "first_wait": 0.01, **options})


def fails(model: OpenAIModel, prompts: Sequence[Any] = ("hello",)) -> str:
    with pytest.raises(LanguageModelError) as caught:
        model.complete(list(prompts), Sampling())
    message = str(caught.value)
    assert "\n" not in message
    assert model.address.public in message
    return message
