"""A training run that is killed after its first checkpoint, and a check that the next run resumed from it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from processes import start


def kill_a_training(options: Mapping[str, Any], model: Path) -> None:
    """Start ``train_model`` with these options and 500 epochs, and kill it once there is a checkpoint."""
    command = [sys.executable, "-m", "parlai", "train_model", "-mf", str(model)]
    for name, value in {**options, "num_epochs": 500, "loglevel": "error", "validation_patience": 0}.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    stats = Path(f"{model}.checkpoint.trainstats")
    training = start(command, model.parent)  # in its own process group, so that all its processes are killed
    try:
        until = time.monotonic() + 120
        while not stats.exists() and training.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
    finally:
        os.killpg(training.pid, signal.SIGKILL)
        _, said = training.communicate()
    assert stats.exists(), f"the training left no checkpoint: {said[-2000:]}"


def check_that_it_went_on(model: Path) -> None:
    """Assert that epochs and updates continue over both runs, and that the first run's first validation is kept."""
    reports = json.loads(Path(f"{model}.trainstats").read_text())["valid_reports"]
    epochs = [report["total_epochs"] for report in reports]
    assert epochs == sorted(epochs)
    assert epochs[0] < 2
    updates = [report["total_train_updates"] for report in reports]
    assert updates == sorted(updates)
