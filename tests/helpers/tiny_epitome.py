"""Brief trainings of EPITOME's judge on the sample, and pairs to judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai.scripts.train_model import TrainModel

TASK = "empathy:epitome"
ALL = ["emotional_reactions", "interpretations", "explorations"]
# In float32, results do not depend on the composition of batches.
BRIEF: dict[str, Any] = {
    "task": TASK,
    "edition": "sample",
    "model": "empathy:epitome",
    "max_train_steps": 3,
    "batchsize": 8,
    "precision": "float32",
    "seed": 3,
    "loglevel": "error",
}
CONTEXTS = [["I failed.", "I can't sleep."], [], ["hello"], ["so " * 200]]
REPLIES = ["I am so sorry. Why is that?", "A reply that stands alone", "", "yes " * 100]


def train(model_file: Path, bert: Path, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    options = {**BRIEF, "hf_model": str(bert), **changes}
    return TrainModel.main(**options, model_file=str(model_file))  # type: ignore[no-any-return]
