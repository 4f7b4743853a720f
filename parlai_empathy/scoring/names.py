"""Names of metrics, kinds of scores and models in options and tables. It imports no scoring code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

ALL = "all"
"""In place of metrics' names: every metric whose needs are met."""

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
"""The metrics of replies, in the order of tables; :mod:`parlai_empathy.scoring.reply_metrics` creates them."""

MODELS = ("epitome", "emotion", "intent", "endex", "fluency")
"""The metrics that need a model, each given by an option ``--<metric>-model``."""

ENDEX = "EnDex"
"""The name of the metric of ``--endex-model`` in tables."""

TITLES = (
    *("words a reply", "Dist-1", "Dist-2", "Dist-1 in a reply", "Dist-2 in a reply", "NIDF", "AVG BLEU"),
    *("BLEU-4 (sacrebleu)", "EPITOME-ER", "EPITOME-IP", "EPITOME-EX", "diff-ER", "diff-IP", "diff-EX"),
    *("EmoAcc", "IntentAcc", "PPL of the language model", "median PPL of the language model"),
)
"""The names of the other metrics' numbers in tables."""

OUTPUTS = ("probability", "class")
"""The outputs of :class:`parlai_empathy.scoring.endex.Endex`."""


def few(names: Sequence[str]) -> str:
    """Return the first few names, for an error message."""
    return f"{', '.join(names[:4])}{', ...' if len(names) > 4 else ''}"


def judge_name(model_file: str) -> str:
    """Return a model's default name in tables: its folder and file."""
    return str(Path(*Path(model_file).parts[-2:]))
