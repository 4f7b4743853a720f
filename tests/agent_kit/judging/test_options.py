"""The judges' options: their defaults for each command, and invalid values."""

from __future__ import annotations

from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.interactive import Interactive
from parlai.scripts.train_model import TrainModel

from parlai_empathy.agent_kit.judging import options as judge_options
from parlai_empathy.errors import EmpathyError, OptionError

STARS = ["1", "2", "3", "4", "5"]
GOOD = {"loss": "ce", "prior": 0.27, "negatives": 1, "classes": []}


def parsed(script: Any, *arguments: str) -> Opt:
    parser = script.setup_args()
    judge_options.add(parser)
    return parser.parse_args(list(arguments))  # type: ignore[no-any-return]


def message(error: type[EmpathyError], check: Any, *arguments: Any) -> str:
    with pytest.raises(error) as caught:
        check(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- defaults --------------------------------------------------------------------------------------------------------


def test_training_defaults() -> None:
    opt = parsed(TrainModel, "-t", "empathy:humod", "-m", "empathy:han")
    assert {name: opt[name] for name in GOOD} == GOOD
    assert (opt["batchsize"], opt["gradient_clip"], opt["use_reply"]) == (32, 1.0, "none")
    assert opt["validation_metric"] == "loss"


def test_command_line_overrides_defaults() -> None:
    opt = parsed(
        TrainModel, "-t", "empathy:humod", "-bs", "3", "--validation-metric", "pearson", "--classes", "no", "yes"
    )
    assert (opt["batchsize"], opt["validation_metric"], opt["classes"]) == (3, "pearson", ["no", "yes"])


def test_other_commands_get_only_applicable_defaults() -> None:
    assert "validation_metric" not in parsed(EvalModel, "-t", "empathy:humod")
    assert parsed(EvalModel, "-t", "empathy:humod")["batchsize"] == 32
    assert parsed(Interactive)["batchsize"] == 1


def test_every_option_has_help() -> None:
    parser = ParlaiParser(False, False)
    judge_options.add(parser)
    (group,) = (group for group in parser._action_groups if group.title == judge_options.GROUP)
    assert {action.dest for action in group._group_actions} == {*GOOD, "precision"}
    assert all(action.help for action in group._group_actions)


# --- invalid values --------------------------------------------------------------------------------------------------


def test_valid_values_are_accepted() -> None:
    judge_options.check(Opt(GOOD))
    judge_options.check(Opt({**GOOD, "classes": ["no", "yes"], "loss": "mse", "negatives": 9, "prior": 0.99}))
    judge_options.check(Opt({**GOOD, "dynamic_batching": None, "eval_dynamic_batching": "off"}))
    judge_options.check(Opt({**GOOD, "truncate": -1, "text_truncate": None, "label_truncate": None}))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"loss": "hinge"}, "--loss hinge: must be one of ce, mse, nnpu"),
        ({"prior": 0.0}, "--prior 0.0: must lie between 0 and 1"),
        ({"prior": 1.0}, "--prior 1.0: must lie between 0 and 1"),
        ({"prior": float("nan")}, "--prior nan: must lie between 0 and 1"),
        ({"negatives": 0}, "--negatives 0: must be at least 1"),
        ({"classes": ["sad"]}, "--classes sad: name at least two, each once"),
        ({"classes": ["sad", "glad", "sad"]}, "--classes sad glad sad: name at least two, each once"),
        ({"fp16": True}, "--fp16 true: judges do not support it; --precision bfloat16 is as fast"),
        ({"dynamic_batching": "full"}, "--dynamic-batching full: judges do not support it; use --batchsize"),
        ({"num_workers": 2}, "--num-workers 2: judges do not support it; leave it out"),
        (
            {"eval_dynamic_batching": "batchsort"},
            "--eval-dynamic-batching batchsort: judges do not support it; use --batchsize",
        ),
        *(
            ({name: 50, **others}, f"{flag} 50: judges do not support it; {remedy}")
            for name, flag, others, remedy in (
                ("truncate", "--truncate", {}, "leave it out"),
                ("text_truncate", "--text-truncate", {"max_tokens": 128}, "use --max-tokens"),
                ("label_truncate", "--label-truncate", {"max_words": 30}, "use --max-words"),
            )
        ),
    ],
)
def test_invalid_value_error_names_option_and_value(changes: dict[str, Any], expected: str) -> None:
    assert message(OptionError, judge_options.check, Opt({**GOOD, **changes})) == expected


@pytest.mark.parametrize(
    ("loss", "classes", "values", "expected"),
    [
        ("mse", ["sad", "glad"], None, "--loss mse: the task's classes must be numbers, such as the ratings of "),
        ("mse", [], None, "--loss mse: the task's classes must be numbers, such as the ratings of "),
        ("nnpu", STARS, [1.0, 2.0, 3.0, 4.0, 5.0], "--loss nnpu: the task must have replies to rank, such as "),
    ],
)
def test_loss_unsuited_to_task_raises_option_error(
    loss: str, classes: list[str], values: list[float] | None, expected: str
) -> None:
    opt = Opt({"loss": loss, "classes": classes})
    assert message(OptionError, judge_options.check_loss, opt, values).startswith(expected)


@pytest.mark.parametrize(("loss", "classes"), [("ce", []), ("ce", STARS), ("mse", STARS), ("nnpu", [])])
def test_loss_suited_to_task_is_accepted(loss: str, classes: list[str]) -> None:
    judge_options.check_loss(Opt({"loss": loss, "classes": classes}), [1.0, 2.0] if classes else None)
