"""Options that are true or false."""

from __future__ import annotations

from pathlib import Path

import pytest
from teachers import load_teacher

from parlai_empathy.errors import OptionError
from parlai_empathy.task_kit.is_true import is_true


@pytest.mark.parametrize("value", [True, False])
def test_is_true_returns_the_value_or_the_default(value: bool) -> None:
    assert is_true("--x-y", {"x_y": value}) is is_true("--x-y", {}, default=value) is value
    assert is_true("--x-y", {}) is False


@pytest.mark.parametrize(
    ("task", "option"),
    [
        ("empathetic_dialogues", "--ed-drop-political"),
        ("daily_dialog", "--dd-drop-overlap"),
        ("humod", "--skip-bad-rows"),
        ("red", "--red-context"),
    ],
)
@pytest.mark.parametrize("value", ["no", "1", "None"])
def test_every_task_rejects_other_values_after_a_colon(tmp_path: Path, task: str, option: str, value: str) -> None:
    name = option.removeprefix("--").replace("-", "_")
    with pytest.raises(OptionError, match=f"^{option} {value}: must be true or false$"):
        load_teacher(tmp_path, f"empathy:{task}:edition=sample:{name}={value}")
