"""Opening a language model by backend and name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.language_models.completion import Completion
from parlai_empathy.language_models.open_model import BACKENDS, open_language_model
from parlai_empathy.language_models.prompt import Sampling


def test_open_echo_with_cache_and_prices(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for cached in (False, True):
        model = open_language_model("echo", "", cache=cache, prices=(1e6, 0.0), context_length=9)
        (answer,) = model.complete(["two words"], Sampling())
        assert answer == Completion("two words", "stop", 2, 2, cached=cached)
        assert (model.name, model.context_length) == ("echo", 9)
        assert model.usage.cost == (0 if cached else 2)


def test_no_files_are_written_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    open_language_model("echo", "x").complete(["a"], Sampling())
    assert list(tmp_path.iterdir()) == []


def test_open_server_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    assert open_language_model("openai", "some-model").name == "openai:some-model"


def test_available_backends() -> None:
    assert BACKENDS == ("hf", "openai", "echo")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "davinci"}, "--lm-backend davinci: must be one of hf, openai, echo"),
        ({"backend": "hf", "model": ""}, "--lm-backend hf needs the name of a model"),
        ({"timeout": 0.0}, r"--lm-timeout 0\.0: must be a number of seconds"),
        ({"timeout": float("inf")}, "--lm-timeout inf"),
        ({"retries": -1}, "--lm-retries -1: must be 0 or more"),
        ({"concurrency": 0}, "concurrency 0: must be 1 or more"),
        ({"context_length": 0}, "--lm-context-length 0"),
        ({"prices": (-1.0, 1.0)}, "--lm-prices -1,1: must be two prices"),
    ],
)
def test_invalid_options_raise_option_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        open_language_model(**{"backend": "echo", "model": "x", **options})


def test_unusable_cache_path_raises_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="unable to open database file"):
        open_language_model("echo", "x", cache=tmp_path)
