"""The message that a judge receives for a rated reply."""

from __future__ import annotations

import pytest

from parlai_empathy.tasks.engagement.messages import rated_message
from parlai_empathy.tasks.engagement.records import RatedReply


def test_message_fields() -> None:
    one = RatedReply("4", ("Hi!", "Hello."), "How are you?", (1, 2, 2), "Meena")
    assert rated_message(one, (0, 1, 2)) == {
        "text": "Hi!\nHello.\nHow are you?",
        "labels": ["2"],
        "label_candidates": ["0", "1", "2"],
        "rating_mean": pytest.approx(5 / 3),
        "ratings": [1, 2, 2],
        "item": "4",
        "system": "Meena",
        "fold": "all",
    }


@pytest.mark.parametrize(("ratings", "label"), [((1, 2), "2"), ((2, 3), "3"), ((1, 1, 2), "1"), ((5,), "5")])
def test_label_is_the_mean_with_halves_rounded_up(ratings: tuple[float, ...], label: str) -> None:
    assert rated_message(RatedReply("0", (), "Yes.", ratings), (1, 2, 3, 4, 5))["labels"] == [label]


def test_single_mean_is_not_listed_as_a_rating() -> None:
    message = rated_message(RatedReply("0", (), "Yes.", (0.67,)), (0, 1))
    assert "ratings" not in message
    assert message["rating_mean"] == 0.67
