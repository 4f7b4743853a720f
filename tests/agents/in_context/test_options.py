"""The agent's options: presets, invalid values, and secrets that no option may contain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.interactive import Interactive

from parlai_empathy.agents.in_context import options
from parlai_empathy.agents.in_context.in_context import InContextAgent
from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.prompt import Sampling
from parlai_empathy.modules.pretrained.hugging_face import MINILM


def parsed(*arguments: str, chat: bool = False) -> Opt:
    """Return the options of an evaluation or of a chat."""
    parser = (Interactive if chat else EvalModel).setup_args()
    return parser.parse_args(["-m", "empathy:in_context", *arguments])


ECHO = ("--lm-backend", "echo")


def test_default_preset_uses_no_examples_and_no_oracle() -> None:
    opt = parsed(*ECHO)
    found = {name: opt[name] for name in options.PRESETS["default"]}
    assert found == {
        "prompt": "chat",
        "examples": 0,
        "select": "context",
        "oracle": False,
        "sentence_encoder": MINILM,
    }
    options.check(opt)


def test_paper_preset_matches_the_paper() -> None:
    opt = parsed(*ECHO, "--preset", "paper")
    assert (opt["prompt"], opt["examples"], opt["select"], opt["oracle"]) == ("paper", 2, "emositsm", True)
    assert opt["sentence_encoder"] == "sentence-transformers/stsb-roberta-large"
    assert options.sampling(opt, ("Human:",)) == Sampling(0.8, 1.0, 128, 0.4, 0.4, ("Human:",), 42)
    options.check(opt)


@pytest.mark.parametrize(
    "arguments", [("--examples", "5", "--preset", "paper"), ("--preset", "paper", "--examples", "5")]
)
def test_explicit_options_override_the_preset(arguments: tuple[str, ...]) -> None:
    opt = parsed(*ECHO, *arguments)
    assert (opt["examples"], opt["prompt"]) == (5, "paper")


def test_preset_of_a_saved_model_cannot_be_changed(tmp_path: Path) -> None:
    """Its own options precede the preset's, so that the numbers would be of another method than the log says."""
    path = str(tmp_path / "model")
    (saved := parsed(*ECHO)).save(f"{path}.opt")
    options.check(Opt({**saved, "model_file": path, "override": {"preset": "default"}}))
    with pytest.raises(OptionError, match=rf"^--preset paper: {path} was saved with the options of --preset default"):
        options.check(Opt({**saved, "model_file": path, "override": {"preset": "paper"}}))


def test_batch_size_defaults_to_eight_and_to_one_in_chat() -> None:
    assert parsed(*ECHO)["batchsize"] == 8
    assert parsed(*ECHO, "--batchsize", "3")["batchsize"] == 3
    assert parsed(*ECHO, chat=True)["batchsize"] == 1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"lm_backend": "hf"}, "--lm-model is missing: --lm-backend hf"),
        ({"lm_backend": "openai", "lm_model": ""}, "--lm-model is missing: --lm-backend openai"),
        ({"lm_backend": "davinci"}, "--lm-backend davinci: must be one of hf, openai, echo"),
        ({"examples": -1}, "--examples -1: must be at least 0"),
        ({"lm_retries": -1}, "--lm-retries -1: must be 0 or more"),
        ({"lm_timeout": 0.0}, "--lm-timeout 0.0: must be a number of seconds above 0"),
        ({"lm_context_length": 0}, "--lm-context-length 0: must be 1 or more"),
        ({"temperature": -1.0}, "temperature -1.0"),
        ({"max_tokens": 0}, "max_tokens 0"),
        ({"lm_prices": "1"}, "--lm-prices 1: must be two prices"),
        ({"lm_prices": "1,-2"}, "--lm-prices 1,-2: must be two prices"),
        ({"lm_prices": "1,nan"}, "--lm-prices 1,nan: must be two prices"),
        ({"select": "best", "examples": 1}, "--select best: must be one of context, random"),
        ({"select": "sitsm", "examples": 1}, "--select sitsm: compares situations.*--oracle true, or --select context"),
        (
            {"select": "emositsm", "examples": 1},
            "the emotion is unknown: name a classifier with --emotion-classifier",
        ),
        ({"select": "random", "examples": 1, "oracle": True}, "--oracle true: --select random uses no oracle"),
        (
            {"select": "sitsm", "examples": 1, "oracle": True, "interactive_mode": True},
            "--oracle true: in a chat the situation",
        ),
    ],
)
def test_invalid_options_raise_option_error(changes: dict[str, Any], reason: str) -> None:
    opt = Opt({**parsed(*ECHO, "--lm-cache", "none"), **changes})
    with pytest.raises(OptionError, match=reason) as caught:
        InContextAgent(opt)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("select", ["sitsm", "emositsm"])
def test_select_is_not_checked_without_examples(select: str) -> None:
    options.check(parsed(*ECHO, "--select", select))


def test_lm_prices_are_parsed() -> None:
    assert options.prices(parsed(*ECHO)) is None
    assert options.prices(parsed(*ECHO, "--lm-prices", "0.15, 0.6")) == (0.15, 0.6)


def test_cache_file_location() -> None:
    assert options.cache_file(parsed(*ECHO, "-dp", "data")) == Path("data/in_context/completions")
    assert options.cache_file(parsed(*ECHO, "-mf", "model/in_context")) == Path("model/in_context.completions")
    assert options.cache_file(parsed(*ECHO, "--lm-cache", "own", "-mf", "model/in_context")) == Path("own")
    assert options.cache_file(parsed(*ECHO, "--lm-cache", "None")) is None


def test_no_option_takes_a_secret() -> None:
    """Options are written to logs and files."""
    found = options.add(ParlaiParser(add_parlai_args=False, add_model_args=False), {})
    flags = {flag for action in found._actions for flag in action.option_strings}
    assert "--lm-model" in flags
    assert not [flag for flag in flags if any(word in flag for word in ("key", "url", "secret", "password", "host"))]
