"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from parlai_empathy.rating.wording import counted


@pytest.mark.parametrize(
    ("many", "shown"),
    [(0, "0 turns"), (1, "1 turn"), (1.0, "1 turn"), (0.5, "0.5 turns"), (1_234_567, "1,234,567 turns")],
)
def test_noun_is_singular_only_for_one(many: float, shown: str) -> None:
    assert counted(many, "turn") == shown
