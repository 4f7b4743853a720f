"""Of which metrics less is better."""

from __future__ import annotations

import pytest

from parlai_empathy.metrics.direction import is_less_better


@pytest.mark.parametrize(
    ("metric", "mode", "expected"),
    [
        ("ppl", None, True),
        ("ppl_peers", None, True),
        ("rank", None, True),
        ("mean_loss", None, True),
        ("emotion_loss", None, True),
        ("empathy:daily_dialog/ppl", None, True),
        ("f1", None, False),
        ("empathy:daily_dialog/f1", None, False),
        ("mrr", None, False),
        ("clen", "min", True),
        ("rank", "max", False),
    ],
)
def test_given_mode_overrides_the_known_direction(metric: str, mode: str | None, expected: bool) -> None:
    assert is_less_better(metric, mode) == expected
