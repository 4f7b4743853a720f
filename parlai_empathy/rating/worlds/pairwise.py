"""Comparing two replies, or two conversations."""

from __future__ import annotations

from parlai_empathy.rating.worlds.rating_world import RatingWorld


class PairwiseWorld(RatingWorld):
    """A rater says which of two is better. The desk balances how often each system is shown first."""

    KIND = "pairwise"
