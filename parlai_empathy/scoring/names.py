"""What options and tables call metrics, kinds of scores and models. It imports nothing that scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

ALL = "all"
"""In place of metrics' names: each that has what it needs."""

REPLY_METRICS = (
    "length",
    "distinct",
    "nidf",
    "bleu",
    "bleu_4",
    "epitome",
    "emotion",
    "intent",
    "endex",
    "fluency",
)
"""The metrics of replies, in the order of tables; :mod:`parlai_empathy.scoring.reply_metrics` makes them."""

MODELS = ("epitome", "emotion", "intent", "endex", "fluency")
"""The metrics that need a model, each named by an option ``--<metric>-model``."""

ENDEX = "EnDex"
"""What tables call the number of ``--endex-model``."""

OUTPUTS = ("probability", "class")
"""What :class:`parlai_empathy.scoring.endex.Endex` gives for a reply."""


def few(names: Sequence[str]) -> str:
    """The first of them, for an error."""
    return f"{', '.join(names[:4])}{', ...' if len(names) > 4 else ''}"


def judge_name(model_file: str) -> str:
    """What tables call a model that has no other name: its folder and file."""
    return str(Path(*Path(model_file).parts[-2:]))
