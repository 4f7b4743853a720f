"""How much faster replies are scored together than one at a time: the same metrics, models, replies and process.

    python benchmarks/reply_scoring.py --log FILE [--epitome-model M] [--emotion-model M] [--intent-model M]
        [--fluency-model M] [--replies 1000]

Both ways are run in turns, and the medians of three rounds are compared; loading the models is not counted. Together
means what ``parlai score_responses`` does: in batches of texts of like length, each different text read once. So the
ratio depends on how often a system repeats itself; ``--different`` takes each different reply once.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from timing import ROUNDS, seconds

from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs import read_replies_log
from parlai_empathy.scoring.reply_metrics import MODELS, Needs, reply_metrics
from parlai_empathy.scoring.systems import ReplyMetric
from parlai_empathy.scoring.word_metrics import Words


def main() -> None:
    """Measure, and print replies per second and their ratio, for each metric and for all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", required=True, help="a log that parlai score_responses reads")
    parser.add_argument("--replies", type=int, default=1000, help="how many, evenly over the log's first system")
    parser.add_argument("--different", action="store_true", help="take each different reply once")
    for name in MODELS:
        parser.add_argument(f"--{name}-model")
    arguments = vars(parser.parse_args())
    models = {name: arguments[f"{name}_model"] for name in MODELS if arguments[f"{name}_model"]}
    replies = chosen(read_replies_log(arguments["log"]), arguments["replies"], arguments["different"])
    metrics, _ = reply_metrics(list(models), Needs(Words(), models))
    different = len({one.reply for one in replies})
    print(f"{len(replies)} replies, {different} of them different; {torch.get_num_threads()} thread(s)")
    totals = np.array([report(name, metric, replies) for name, metric in metrics.items()])
    print(f"{'all':10} {totals[:, 0].sum() / totals[:, 1].sum():6.1f} times")


def chosen(log: Sequence[LoggedReply], number: int, different: bool) -> list[LoggedReply]:
    """Replies of the log's first system."""
    replies = [one for one in log if one.system == log[0].system and one.reply.strip()]
    if different:
        replies = list({one.reply: one for one in replies}.values())
    number = min(number, len(replies))
    return [replies[place * len(replies) // number] for place in range(number)]


def report(name: str, metric: ReplyMetric, replies: Sequence[LoggedReply]) -> tuple[float, float]:
    """Print what a metric takes; returns the seconds one by one, and together."""

    def one_by_one() -> np.ndarray:
        return np.concatenate([items(metric, [one]) for one in replies])

    def together() -> np.ndarray:
        return items(metric, replies)

    together()  # what is only done the first time shall not count
    rounds = [(seconds(one_by_one), seconds(together)) for _ in range(ROUNDS)]
    one, many = (statistics.median(times) for times in zip(*rounds, strict=True))
    apart = np.nanmax(np.abs(one_by_one() - together()))
    rates = f"{len(replies) / one:7.0f} replies/s one by one, {len(replies) / many:7.0f} together"
    print(f"{name:10} {one / many:6.1f} times  ({rates}; largest difference {apart:.4f})", flush=True)
    return one, many


def items(metric: ReplyMetric, replies: Sequence[LoggedReply]) -> np.ndarray:
    """What a metric says of each reply, one row a reply."""
    columns: list[list[Any]] = [[np.nan if item is None else item for item in s.items] for s in metric.score(replies)]
    return np.array(columns, dtype=np.float64).T


if __name__ == "__main__":
    main()
