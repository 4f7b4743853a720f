"""Candidates for P@1,100 where the data set brings none: the true reply among others of its fold."""

from __future__ import annotations

import random
from collections.abc import Sequence

NUM_CANDIDATES = 100  # P@1,100: the true reply among 99 others (Rashkin et al. 2019, section 4.1)


def sample_candidates(reply: str, replies: Sequence[str], seed: str) -> list[str]:
    """The true reply and 99 others, or as many as there are, in an order that depends on the arguments alone.

    :param replies: the fold's replies, each once, in an order that is the same in each run.
    :param seed: names the example, so that each has its own draw.
    """
    draw = random.Random(seed)
    others = draw.sample(replies, min(NUM_CANDIDATES, len(replies)))
    others = [text for text in others if text != reply][: NUM_CANDIDATES - 1]
    others.insert(draw.randrange(len(others) + 1), reply)
    return others
