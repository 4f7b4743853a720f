"""Options that change other options' defaults, on a parser of ParlAI's."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from parlai.core.loader import load_agent_module
from parlai.core.params import ParlaiParser
from parlai.core.script import superscript_main
from parlai.core.torch_agent import TorchAgent
from parlai.scripts.display_model import DisplayModel
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.interactive import Interactive
from parlai.scripts.multiprocessing_eval import MultiProcessEval
from parlai.scripts.multiprocessing_train import MultiProcessTrain
from parlai.scripts.self_chat import SelfChat
from parlai.scripts.train_model import TrainModel

import parlai_empathy
from parlai_empathy.agent_kit.options.presets import Choice, refine_defaults, set_first_defaults
from parlai_empathy.errors import OptionError

TASK = {"task": "empathy:empathetic_dialogues", "edition": "sample"}


def defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    speed = {"slow": 1, "fast": 9}[values.get("pace") or "slow"]
    return {"speed": speed * (10 if values.get("engine") else 1), "batchsize": speed, "elsewhere": 3}


def parser(*others: str) -> ParlaiParser:
    made = ParlaiParser(add_parlai_args=False)
    choice: dict[str, Any] = {"action": Choice, "defaults": defaults}
    made.add_argument("--pace", choices=["slow", "fast"], default="slow", **choice)
    made.add_argument("--engine", default=None, **choice)
    made.add_argument("--speed", type=int, default=0)
    made.add_argument("--batchsize", type=int, default=0)
    for other in others:
        made.add_argument(other)
    set_first_defaults(made, {})
    return made


def parsed(*arguments: str, others: tuple[str, ...] = ("--metrics",)) -> dict[str, Any]:
    made = parser(*others)
    made.parse_args(list(arguments))  # this changes the defaults
    return dict(made.parse_args(list(arguments)))


def test_choice_sets_defaults() -> None:
    assert parsed()["speed"] == 1
    assert parsed("--pace", "fast")["speed"] == 9
    assert parsed("--engine", "steam")["speed"] == 10


def refined(*arguments: str) -> dict[str, Any]:
    made = parser("--metrics")
    made.add_argument(
        "--preset", default="default", action=Choice, defaults=lambda values: {"speed": 5, "batchsize": 5}
    )
    refine_defaults(made, {"batchsize": 7}, without=["engine"])
    made.parse_args(list(arguments))
    return dict(made.parse_args(list(arguments)))


@pytest.mark.parametrize(
    "arguments", [(), ("--preset", "default"), ("--pace", "slow"), ("--engine", "steam"), ("--pace", "fast")]
)
def test_refined_defaults_hold_whatever_is_chosen(arguments: tuple[str, ...]) -> None:
    assert refined(*arguments)["batchsize"] == 7


def test_choice_without_defaults_of_its_own_changes_none() -> None:
    assert refined("--engine", "steam")["speed"] == 1


def test_other_presets_are_not_refined() -> None:
    assert refined("--preset", "paper")["batchsize"] == 5
    assert refined("--preset", "paper", "--batchsize", "3")["batchsize"] == 3


@pytest.mark.parametrize("order", list(permutations([("--pace", "fast"), ("--engine", "steam"), ("--speed", "4")])))
def test_given_value_overrides_defaults_in_any_order(order: tuple[tuple[str, str], ...]) -> None:
    values = parsed(*(word for pair in order for word in pair))
    assert (values["speed"], values["batchsize"]) == (4, 9)


@pytest.mark.parametrize("order", list(permutations([("--pace", "fast"), ("--engine", "steam")])))
def test_choices_combine_in_any_order(order: tuple[tuple[str, str], ...]) -> None:
    assert parsed(*(word for pair in order for word in pair))["speed"] == 90


def test_defaults_of_missing_options_are_ignored() -> None:
    assert "elsewhere" not in parsed("--pace", "fast")


def test_batchsize_default_applies_only_to_training_and_evaluation() -> None:
    assert parsed("--pace", "fast", others=())["batchsize"] == 0
    assert parsed("--pace", "fast", others=())["speed"] == 9


@pytest.mark.parametrize("script", [TrainModel, MultiProcessTrain, EvalModel, MultiProcessEval])
def test_training_and_evaluation_commands_have_metrics_option(script: Any) -> None:
    assert "metrics" in {action.dest for action in script.setup_args()._actions}


@pytest.mark.parametrize("script", [Interactive, SelfChat, DisplayModel])
def test_other_commands_have_no_metrics_option(script: Any) -> None:
    assert "metrics" not in {action.dest for action in script.setup_args()._actions}


# --- a training's defaults -------------------------------------------------------------------------------------------

AGENTS = Path(parlai_empathy.__file__).parent / "agents"
NAMES = [path.parent.name for path in AGENTS.glob("*/__init__.py")]
GENERATORS = [f"{path.parent.name}/generative" for path in AGENTS.glob("*/generative.py")]


@pytest.mark.parametrize("name", sorted(NAMES + GENERATORS))
def test_no_training_ends_at_a_value_of_its_metric(name: str) -> None:
    if not issubclass(load_agent_module(f"empathy:{name}"), TorchAgent):
        pytest.skip("it has no weights to train")
    opt = TrainModel.setup_args().parse_args(["-t", TASK["task"], "-m", f"empathy:{name}", "-mf", "/nowhere/model"])
    assert not math.isfinite(opt["validation_cutoff"])


# --- choices from a file (-o) ----------------------------------------------------------------------------------------


@pytest.fixture
def from_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the options of a training as ``parlai`` parses them, which adds an agent's options twice."""
    monkeypatch.setattr(TrainModel, "run", lambda script: script.opt)

    def options(of_file: Mapping[str, Any], *arguments: str) -> dict[str, Any]:
        file = tmp_path / "mine.opt"
        file.write_text(json.dumps({**TASK, **of_file}))
        return dict(superscript_main(["train_model", "-o", str(file), *arguments]))

    return options


@pytest.mark.parametrize(
    ("of_file", "expected"),
    [
        (
            {"model": "empathy:retrieval", "preset": "paper"},
            {"score": "dot", "truncate_context": "newest", "validation_metric": "loss", "n_layers": 4},
        ),
        (
            {"model": "empathy:retrieval", "encoder": "hf"},
            {"optimizer": "adamw", "learningrate": 1e-4, "temperature": 0.05, "symmetric_loss": True},
        ),
        (
            {"model": "empathy:retrieval", "encoder": "hf", "preset": "paper"},
            {"hf_model": "bert-base-cased", "towers": 2, "projection": 300},
        ),
        (
            {"model": "empathy:generative", "preset": "paper"},
            {"optimizer": "adamax", "n_layers": 4, "inference": "diversebeam", "beam_size": 5},
        ),
        ({"model": "empathy:generative", "hf_model": "some/gpt"}, {"learningrate": 5e-5, "batchsize": 16}),
        ({"model": "empathy:in_context", "preset": "paper"}, {"prompt": "paper", "examples": 2, "oracle": True}),
        ({"model": "empathy:epitome", "preset": "paper"}, {"hf_model": "roberta-base", "responders": "apart"}),
        ({"model": "empathy:text_classifier", "preset": "endex"}, {"hf_model": "roberta-large"}),
    ],
)
def test_choices_in_opt_file_set_defaults(
    from_file: Any, of_file: Mapping[str, Any], expected: Mapping[str, Any]
) -> None:
    opt = from_file(of_file)
    assert {name: opt[name] for name in of_file.keys() | expected.keys()} == {**of_file, **expected}


def test_command_line_choice_overrides_opt_file(from_file: Any) -> None:
    opt = from_file({"model": "empathy:retrieval", "preset": "paper", "encoder": "hf"}, "--preset", "default")
    assert (opt["preset"], opt["encoder"], opt["towers"], opt["learningrate"]) == ("default", "hf", 1, 1e-4)


def test_opt_file_overrides_defaults_and_command_line_overrides_both(from_file: Any) -> None:
    of_file = {"model": "empathy:retrieval", "preset": "paper", "score": "cosine", "n_layers": 3}
    opt = from_file(of_file, "--n-layers", "2")
    assert (opt["score"], opt["n_layers"], opt["truncate_context"]) == ("cosine", 2, "newest")


@pytest.mark.parametrize("model", ["retrieval", "generative"])
def test_unknown_choice_in_opt_file_raises_option_error(from_file: Any, model: str) -> None:
    with pytest.raises(OptionError, match=r"^--preset papers: must be one of default, paper$"):
        from_file({"model": f"empathy:{model}", "preset": "papers"})
