"""A training that ``kill -9`` ends after its first checkpoint, and how to see that the next one went on from there."""

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
    """Train for 500 epochs, by these options of ``train_model``, until there is a checkpoint."""
    command = [sys.executable, "-m", "parlai", "train_model", "-mf", str(model)]
    for name, value in {**options, "num_epochs": 500, "loglevel": "error", "validation_patience": 0}.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    stats = Path(f"{model}.checkpoint.trainstats")
    training = start(command, model.parent)  # in a group of its own, so that nothing of it survives
    try:
        until = time.monotonic() + 120
        while not stats.exists() and training.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
    finally:
        os.killpg(training.pid, signal.SIGKILL)
        _, said = training.communicate()
    assert stats.exists(), f"the training left no checkpoint: {said[-2000:]}"


def check_that_it_went_on(model: Path) -> None:
    """Epochs and updates of both trainings follow one another, and the first one's first validation is remembered."""
    reports = json.loads(Path(f"{model}.trainstats").read_text())["valid_reports"]
    epochs = [report["total_epochs"] for report in reports]
    assert epochs == sorted(epochs)
    assert epochs[0] < 2
    updates = [report["total_train_updates"] for report in reports]
    assert updates == sorted(updates)
