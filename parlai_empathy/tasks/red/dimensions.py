"""Labels by one dimension alone, for the paper's ablation (Xu et al. 2022, Figure 2)."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

import parlai.utils.logging as logging

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.red.records import CLASSES, REACTION, RedPost


def labelled_by(dimension: str, posts: Sequence[RedPost], kappa: float = 1.0) -> list[RedPost]:
    """Return the posts that people reacted to, labelled by the z-score of one dimension's normalised score.

    Posts above ``kappa`` are engaging, those below ``-kappa`` are not, and those between are left out. RED's own labels
    follow the same rule with the aggregate, but there the larger class is sampled down. If the rule leaves a class
    empty, as with a score that is 0 for most posts, the threshold is the median: posts above it are engaging, all
    others are not.

    :param dimension: one of :data:`~parlai_empathy.tasks.red.records.DIMENSIONS`.
    :param posts: posts of all folds, so that the threshold is the same for all.
    :param kappa: at least 0; the paper's is 1.
    :raises DataError: if a post lacks this score, or all have the same.
    """
    real = [post for post in posts if post.source == REACTION]
    if lacking := [post for post in real if dimension not in post.dimensions]:
        raise DataError(
            f"the post {lacking[0].text[:40]!r} has no score of {dimension}: use a file of `parlai curate_red` with "
            "this dimension measured"
        )
    scores = [post.dimensions[dimension] for post in real]
    if len(set(scores)) < 2:
        raise DataError(f"all {len(real):,} posts have the same score of {dimension}: it cannot give labels")
    mean, deviation = statistics.fmean(scores), statistics.pstdev(scores)
    distances = [(score - mean) / deviation for score in scores]
    if min(distances) < -kappa and max(distances) > kappa:
        return [
            _with_label(post, distance > 0)
            for post, distance in zip(real, distances, strict=True)
            if abs(distance) > kappa
        ]
    middle = statistics.median_low(scores)
    if middle == max(scores):  # more than half of the posts have the highest score
        middle = max(score for score in scores if score < middle)
    logging.info(
        f"{dimension}: a kappa of {kappa:g} leaves a class empty; instead, scores above {middle:g} are engaging"
    )
    return [_with_label(post, score > middle) for post, score in zip(real, scores, strict=True)]


def _with_label(post: RedPost, engaging: bool) -> RedPost:
    return replace(post, label=CLASSES[engaging])
