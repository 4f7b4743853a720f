"""Rating one reply, or one conversation, at a time."""

from __future__ import annotations

from parlai_empathy.rating.worlds.rating_world import RatingWorld


class LikertRatingWorld(RatingWorld):
    """A rater answers a study's questions about each reply, as in Rashkin et al. 2019 and Merdivan et al. 2020."""

    KIND = "likert"
