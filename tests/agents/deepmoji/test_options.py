"""Valid and invalid combinations of options."""

from __future__ import annotations

from typing import Any

import pytest
from parlai.core.opt import Opt

from parlai_empathy.agents.deepmoji.options import check_beginning, check_validations, choose_gates
from parlai_empathy.errors import OptionError


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"finetuning": "new"}, None),
        ({"finetuning": "last", "deepmoji_weights": "w"}, None),
        ({"finetuning": "chain-thaw", "init_model": "m"}, None),
        (
            {"finetuning": "new", "deepmoji_weights": "w"},
            "--finetuning new starts from random weights: with --deepmoji-weights ",
        ),
        (
            {"finetuning": "new", "init_model": "m"},
            "--finetuning new starts from random weights: with --init-model use full",
        ),
        ({"finetuning": "full"}, "--finetuning full: name --deepmoji-weights or --init-model to start from"),
        ({"finetuning": "full", "init_model": "m", "deepmoji_weights": "w"}, "can start from only one of them"),
    ],
)
def test_finetuning_mode_requires_matching_initial_weights(changes: dict[str, Any], reason: str | None) -> None:
    if reason is None:
        check_beginning(Opt(changes))
    else:
        with pytest.raises(OptionError, match=reason):
            check_beginning(Opt(changes))


def test_chain_thaw_requires_validations() -> None:
    opt = Opt({"finetuning": "chain-thaw", "thaw_patience": 1, "validation_patience": 10})
    with pytest.raises(OptionError, match="changes layers at validations: set --validation-every-n-epochs 1"):
        check_validations(Opt({**opt, "validation_every_n_epochs": -1}))
    check_validations(Opt({**opt, "validation_every_n_steps": 5}))
    check_validations(Opt({**opt, "finetuning": "full"}))


def test_gates_default_to_hard_for_published_weights() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"gates": "auto"}, "sigmoid"),
        ({"gates": "auto", "deepmoji_weights": "w"}, "hard"),
        ({"gates": "sigmoid", "deepmoji_weights": "w"}, "sigmoid"),
        ({"gates": "hard"}, "hard"),
    ]
    for given, expected in cases:
        opt = Opt(given)
        choose_gates(opt)
        assert opt["gates"] == expected
