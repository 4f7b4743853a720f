"""Candidates for P@1,100 if the data set has none: the true reply and others from its fold."""

from __future__ import annotations

import random
from collections.abc import Sequence

NUM_CANDIDATES = 100  # P@1,100: the true reply among 99 others (Rashkin et al. 2019, section 5.1)


def sample_candidates(reply: str, replies: Sequence[str], seed: str) -> list[str]:
    """Return the true reply and 99 others, or as many as there are, in an order that depends only on the arguments.

    :param replies: the fold's distinct replies, in an order that is the same in each run.
    :param seed: identifies the example, so that each has its own sample.
    """
    draw = random.Random(seed)
    others = draw.sample(replies, min(NUM_CANDIDATES, len(replies)))
    others = [text for text in others if text != reply][: NUM_CANDIDATES - 1]
    others.insert(draw.randrange(len(others) + 1), reply)
    return others
