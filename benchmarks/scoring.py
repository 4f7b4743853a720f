"""How much faster a judge scores replies in batches than one by one: the same model, pairs and process.

    python benchmarks/scoring.py --model-file model/relevance [--humod-file FILE] [--pairs 1000]

Both ways are run in turns, and the medians of five rounds are compared. Loading the model is not counted.
"""

from __future__ import annotations

import argparse
import statistics

import numpy as np
import torch
from parlai.core.agents import create_agent_from_model_file
from timing import ROUNDS, seconds

from parlai_empathy.tasks.humod.agents import read_pairs
from parlai_empathy.tasks.humod.build import SAMPLE


def main() -> None:
    """Measure, and print pairs per second and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model-file", required=True, help="a trained judge (empathy:text_classifier, empathy:han)")
    parser.add_argument("--humod-file", default=SAMPLE, help="where the pairs come from; left out, the sample")
    parser.add_argument("--pairs", type=int, default=1000, help="how many; a smaller file is gone through again")
    arguments = parser.parse_args()
    agent = create_agent_from_model_file(arguments.model_file)
    pairs = read_pairs(arguments.humod_file, skip_bad_rows=True)
    # Evenly over the file, whose contexts are sorted by length.
    chosen = [pairs[n * len(pairs) // arguments.pairs % len(pairs)] for n in range(arguments.pairs)]
    contexts, replies = [pair.context for pair in chosen], [pair.reply for pair in chosen]

    def one_by_one() -> np.ndarray:
        return np.concatenate([agent.score_pairs([c], [r]) for c, r in zip(contexts, replies, strict=True)])

    def in_batches() -> np.ndarray:
        return agent.score_pairs(contexts, replies)

    rounds = [(seconds(one_by_one), seconds(in_batches)) for _ in range(ROUNDS)]
    difference = np.abs(one_by_one() - in_batches()).max()
    one, many = (statistics.median(times) for times in zip(*rounds, strict=True))
    print(f"{len(chosen)} pairs, {torch.get_num_threads()} thread(s), largest difference of scores {difference:.4f}")
    print(f"one by one  {len(chosen) / one:8.0f} pairs/s")
    print(f"in batches  {len(chosen) / many:8.0f} pairs/s")
    print(f"ratio       {one / many:8.1f}")


if __name__ == "__main__":
    main()
