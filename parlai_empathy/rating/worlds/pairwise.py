"""Comparing two replies, or two conversations."""

from __future__ import annotations

from parlai_empathy.rating.worlds.rating_world import RatingWorld


class PairwiseWorld(RatingWorld):
    """A rater says which of two is better. The desk sees to it that each system stands first as often as second."""

    KIND = "pairwise"
