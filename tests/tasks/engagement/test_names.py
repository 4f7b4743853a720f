"""The names of the evaluation sets match the sets."""

from __future__ import annotations

from parlai_empathy.tasks.engagement.names import SETS
from parlai_empathy.tasks.engagement.sets import EVALUATION_SETS


def test_names_match_the_evaluation_sets() -> None:
    assert tuple(EVALUATION_SETS) == SETS
