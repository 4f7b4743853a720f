"""Of which metrics less is better, for trainings that choose their best model by one."""

from __future__ import annotations

LESS_IS_BETTER = frozenset({"loss", "ppl", "mean_rank", "rank", "ppl_peers", "mean_loss", "emotion_loss"})


def is_less_better(metric: str, mode: str | None) -> bool:
    """Return whether the best value of a metric is its lowest.

    :param metric: its key in a report; ``<task>/ppl`` is the perplexity on one of several tasks.
    :param mode: ``--validation-metric-mode``: ``min`` or ``max``, or None if it is not given.
    """
    return mode == "min" or (mode is None and metric.split("/")[-1] in LESS_IS_BETTER)
