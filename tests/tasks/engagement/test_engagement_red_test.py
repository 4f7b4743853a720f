"""Reading RED-Test: the sample that ships with the package."""

from __future__ import annotations

from parlai_empathy.tasks.engagement.red_test import read_red_test
from parlai_empathy.tasks.engagement.sets import SAMPLE


def test_the_sample() -> None:
    found = list(read_red_test(SAMPLE / "red_test.csv"))
    assert [len(one.ratings) for one in found] == [3] * 12
    assert {rating for one in found for rating in one.ratings} == {0, 1}
    assert {len(one.context) for one in found} == {1}
