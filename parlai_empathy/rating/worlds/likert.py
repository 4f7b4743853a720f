"""Judging one reply, or one conversation, at a time."""

from __future__ import annotations

from parlai_empathy.rating.worlds.rating_world import RatingWorld


class LikertRatingWorld(RatingWorld):
    """A rater judges replies by a study's questions: those of Rashkin et al. 2019, Merdivan et al. 2020 and others."""

    KIND = "likert"
