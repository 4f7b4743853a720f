"""Speed of a judge that scores replies in batches, against one by one: the same model, pairs and process.

    python benchmarks/scoring.py --model-file model/relevance [--humod-file FILE] [--pairs 1000]

The variants alternate, and the medians of five rounds are compared. Loading the model is not counted. "one by one" is
the loop that one would write, in float32; "as the judge" is the same loop in the judge's own precision. As when a whole
file is scored, each context occurs with all its replies.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from parlai.core.agents import create_agent_from_model_file
from timing import ROUNDS, seconds

from parlai_empathy.tasks.humod.agents import read_pairs
from parlai_empathy.tasks.humod.build import SAMPLE
from parlai_empathy.tasks.humod.records import Pair


def main() -> None:
    """Measure, and print pairs per second and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model-file", required=True, help="a trained judge (empathy:text_classifier, empathy:han)")
    parser.add_argument("--humod-file", default=SAMPLE, help="HUMOD file with the pairs; by default, the sample")
    parser.add_argument("--pairs", type=int, default=1000, help="about how many pairs; all, if the file has fewer")
    arguments = parser.parse_args()
    agent = create_agent_from_model_file(arguments.model_file)
    plain = create_agent_from_model_file(arguments.model_file, {"precision": "float32"})
    pairs = read_pairs(arguments.humod_file, skip_bad_rows=True)
    chosen = _chosen(pairs, arguments.pairs)
    contexts, replies = [pair.context for pair in chosen], [pair.reply for pair in chosen]

    def one_by_one(judge: Any) -> np.ndarray:
        return np.concatenate([judge.score_pairs([c], [r]) for c, r in zip(contexts, replies, strict=True)])

    def in_batches() -> np.ndarray:
        scores: np.ndarray = agent.score_pairs(contexts, replies)
        return scores

    ways = (lambda: one_by_one(plain), lambda: one_by_one(agent), in_batches)
    rounds = [[seconds(way) for way in ways] for _ in range(ROUNDS)]
    difference = np.abs(one_by_one(plain) - in_batches()).max()
    print(f"{len(chosen)} pairs, {torch.get_num_threads()} thread(s), largest difference of scores {difference:.4f}")
    one, own, many = ([len(chosen) / each for each in times] for times in zip(*rounds, strict=True))
    for name, rates in (("one by one", one), ("as the judge", own)):
        ratios = [fast / rate for fast, rate in zip(many, rates, strict=True)]
        ratio = f"{statistics.median(ratios):.1f} times ({min(ratios):.1f} to {max(ratios):.1f})"
        print(f"{name:12} {statistics.median(rates):8.0f} pairs/s; batches {ratio}")
    print(f"{'in batches':12} {statistics.median(many):8.0f} pairs/s")


def _chosen(pairs: Sequence[Pair], number: int) -> list[Pair]:
    """Return about ``number`` pairs: contexts evenly spaced over the file, sorted by length, with all replies."""
    groups = [list(group) for _, group in itertools.groupby(pairs, key=lambda pair: pair.context)]
    few = min(len(groups), max(1, number * len(groups) // len(pairs)))
    return [pair for n in range(few) for pair in groups[n * len(groups) // few]]


if __name__ == "__main__":
    main()
