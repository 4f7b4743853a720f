"""The columns of the EmpatheticDialogues leaderboard, and the key of each in ``eval_model``'s report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parlai_empathy.signature import Number, signature


@dataclass(frozen=True)
class Column:
    """One column.

    :param name: its key in the rows' values.
    :param title: the column header.
    :param key: the metric's key in a report of ``eval_model``; None if the report does not contain it.
    :param factor: 100 for shares that are shown in percent.
    """

    name: str
    title: str
    key: str | None = None
    factor: float = 1


REPLY_COLUMNS = (
    Column("p_at_1", "P@1,100, protocol not named"),
    Column("p_at_1_shuffled", "P@1,100 shuffled", "p_at_1_100_shuffled", 100),
    Column("p_at_1_ordered", "P@1,100 ordered", "p_at_1_100_ordered", 100),
    Column("p_at_1_inline", "P@1,100 inline", "p_at_1_100_inline", 100),
    Column("avg_bleu", "AVG BLEU", "avg_bleu"),
    Column("ppl", "PPL", "ppl"),
    Column("ppl_peers", "PPL, peers' protocol", "ppl_peers"),
    Column("dist_1", "Dist-1", "dist_1"),
    Column("dist_2", "Dist-2", "dist_2"),
    Column("emotion_context", "emotion: context", "emotion_accuracy", 100),
)
_TASK = "empathy:empathetic_dialogues"
# The tasks that evaluate a classifier, each with the column of its accuracy.
EMOTION_COLUMNS = {
    f"{_TASK}:SituationEmotion": Column("emotion_situation", "emotion: situation", "accuracy", 100),
    f"{_TASK}:SituationEmotionCut": Column("emotion_cut", "emotion: situation, cut", "accuracy", 100),
    f"{_TASK}:ContextEmotion": Column("emotion_context", "emotion: context", "accuracy", 100),
}
COST_COLUMNS = (
    Column("parameters", "parameters, M"),
    Column("epochs", "epochs"),
    Column("minutes", "training, min"),
)
COLUMNS = (*REPLY_COLUMNS[:-1], *EMOTION_COLUMNS.values(), *COST_COLUMNS)


def numbers(
    report: Mapping[str, Mapping[str, Any]], columns: Sequence[Column], fold: str, task: str
) -> dict[str, Number]:
    """Return the columns' numbers in a report, by column name, without those that are missing or not finite.

    Their signatures name the task, which the metrics do not know.
    """
    found = {}
    for column in columns:
        metric = report.get(column.key or "")
        if metric is not None and math.isfinite(metric["value"]):
            text = metric.get("signature") or _parlais(str(column.key), report, fold)
            found[column.name] = Number(column.factor * metric["value"], _with_task(text, task))
    return found


def _with_task(text: str, task: str) -> str:
    """Return a signature with the task, which comes first among its settings."""
    name, *settings = text.split("|")
    return "|".join([name, f"task:{task}", *settings])


def _parlais(key: str, report: Mapping[str, Mapping[str, Any]], fold: str) -> str:
    """Return a signature for one of ParlAI's own metrics, which have none."""
    mean = "tokens" if key == "ppl" else "examples"  # perplexity averages the loss over all tokens
    count = report.get("exs", {}).get("value")
    n = None if count is None else round(count)
    return signature(key, source="parlai", mean=mean, n=n, split=fold.split(":")[0])
