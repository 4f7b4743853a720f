"""Labels from a single dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.red.dimensions import labelled_by
from parlai_empathy.tasks.red.records import DIMENSIONS, RedPost


def posts_of(scores: Sequence[float], dimension: str = "ae", source: str = "reaction") -> list[RedPost]:
    return [
        RedPost(f"{place}", "", "engaging", "train", source, dimensions={dimension: score, "re": 0.5})
        for place, score in enumerate(scores)
    ]


def labels(posts: list[RedPost]) -> dict[str, str]:
    return {post.text: post.label for post in posts}


def test_scores_within_one_deviation_are_left_out() -> None:
    # The mean is .5 and the deviation sqrt(2 x .16 / 4) = .283: only the ends are more than one deviation away.
    assert labels(labelled_by("ae", posts_of([0.1, 0.5, 0.9, 0.5]))) == {"0": "not engaging", "2": "engaging"}


def test_larger_class_is_not_downsampled() -> None:
    # The mean is .433 and the deviation sqrt((4 x .333 ** 2 + 2 x .667 ** 2) / 6) = .471.
    found = labels(labelled_by("ae", posts_of([0.1, 0.1, 0.1, 0.1, 1.1, 1.1]), kappa=0.5))
    assert sorted(found.values()) == ["engaging"] * 2 + ["not engaging"] * 4


def test_kappa_0_keeps_all_posts() -> None:
    found = labels(labelled_by("ae", posts_of([0.1, 0.4, 0.6, 0.9]), kappa=0))
    assert found == {"0": "not engaging", "1": "not engaging", "2": "engaging", "3": "engaging"}


@given(st.lists(st.integers(0, 100).map(lambda n: n / 100), min_size=4), st.sampled_from([0.0, 0.5, 1.0]))
def test_labels_follow_the_z_score(scores: list[float], kappa: float) -> None:
    assume(len(set(scores)) > 1)
    z = stats.zscore(scores)
    assume(z.min() < -kappa and z.max() > kappa)
    assume(not np.isclose(np.abs(z), kappa).any())  # at the threshold, rounding errors would decide
    expected = {
        str(place): "engaging" if one > 0 else "not engaging" for place, one in enumerate(z) if abs(one) > kappa
    }
    assert labels(labelled_by("ae", posts_of(scores), kappa)) == expected


def test_median_is_the_threshold_if_most_scores_are_0(log: pytest.LogCaptureFixture) -> None:
    # The z-score of 0 is -(1.1 / 5) / .316 = -.70: no post is below -1, and the median is 0.
    found = labels(labelled_by("ae", posts_of([0, 0, 0, 0.3, 0.8])))
    assert found == {"0": "not engaging", "1": "not engaging", "2": "not engaging", "3": "engaging", "4": "engaging"}
    assert "ae: a kappa of 1 leaves a class empty; instead, scores above 0 are engaging" in log.text


def test_highest_score_is_engaging_if_most_posts_have_it() -> None:
    found = labels(labelled_by("ae", posts_of([1, 1, 1, 0.7, 0.2])))
    assert found == {"0": "engaging", "1": "engaging", "2": "engaging", "3": "not engaging", "4": "not engaging"}


def test_other_dimensions_and_file_labels_are_ignored() -> None:
    scores = [0.1, 0.9, 0.2, 0.8]
    posts = [
        replace(post, dimensions={**dict.fromkeys(DIMENSIONS, 1 - score), "be": score})
        for post, score in zip(posts_of(scores), scores, strict=True)
    ]
    found = labels(labelled_by("be", posts, kappa=0))
    assert found == {"0": "not engaging", "1": "engaging", "2": "not engaging", "3": "engaging"}


def test_negative_samples_are_left_out_and_do_not_affect_thresholds() -> None:
    real, made = posts_of([0.1, 0.5, 0.9, 0.5]), posts_of([1.0] * 9, source="copy")
    assert labelled_by("ae", [*made, *real]) == labelled_by("ae", real)


def test_post_without_the_score_raises_data_error() -> None:
    with pytest.raises(DataError, match="the post '0' has no score of ee"):
        labelled_by("ee", posts_of([0.1, 0.9]))


def test_identical_scores_raise_data_error() -> None:
    with pytest.raises(DataError, match="all 2 posts have the same score of re"):
        labelled_by("re", posts_of([0.1, 0.9]))
