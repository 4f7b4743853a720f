"""The names of the emotions and their groups."""

from __future__ import annotations

from pathlib import Path

from parlai_empathy.tasks.go_emotions.emotions import AMBIGUOUS, EMOTIONS, NEGATIVE, NEUTRAL, POSITIVE


def test_groups_partition_the_emotions() -> None:
    assert sorted([*POSITIVE, *NEGATIVE, *AMBIGUOUS, NEUTRAL]) == sorted(EMOTIONS)
    assert (len(POSITIVE), len(NEGATIVE), len(AMBIGUOUS), len(EMOTIONS)) == (12, 11, 4, 28)  # Demszky et al., Figure 2


def test_emotion_order_matches_the_authors_list(real_data: Path) -> None:
    names = (real_data / "goemotions" / "labels.txt").read_text(encoding="utf-8").split()
    assert tuple(names) == EMOTIONS
