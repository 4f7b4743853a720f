"""A loss that is not finite stops training."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from parlai_empathy.agent_kit.training.finite_loss import check_finite
from parlai_empathy.errors import TrainingError

OPT = {"learningrate": 0.1, "model_file": None}


def test_finite_losses_pass() -> None:
    check_finite(torch.tensor([0.0, -1.0, 1e30]), OPT, 0)
    check_finite(torch.tensor(2.0), OPT, 0)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_single_non_finite_loss_raises_training_error(wrong: float) -> None:
    with pytest.raises(TrainingError, match=r"after 1,234 updates: try a lower --learningrate \(now 0.1\)") as error:
        check_finite(torch.tensor([1.0, wrong, 2.0]), OPT, 1234)
    assert str(wrong) in str(error.value)
    assert "as last saved" not in str(error.value)


@pytest.mark.parametrize("ending", ["", ".checkpoint"])
def test_error_mentions_the_saved_model(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"m{ending}").touch()
    with pytest.raises(TrainingError, match="is as last saved"):
        check_finite(torch.tensor(float("nan")), {**OPT, "model_file": str(tmp_path / "m")}, 5)
