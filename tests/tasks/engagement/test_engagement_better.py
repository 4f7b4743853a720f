"""Reading BETTER: the sample that ships with the package, in the layout of the authors' later set."""

from __future__ import annotations

from parlai_empathy.tasks.engagement.better import read_better
from parlai_empathy.tasks.engagement.sets import SAMPLE


def test_the_sample() -> None:
    found = list(read_better(SAMPLE / "better.csv"))
    assert [len(one.ratings) for one in found] == [3] * 10
    assert found[0].context == ("Have you seen my glasses ?",)
    assert found[0].human > found[1].human  # an answer, and words that only sound like one
