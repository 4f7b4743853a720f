"""The summary at the end of an evaluation."""

from __future__ import annotations

from parlai_empathy.agents.in_context.counts import Tally
from parlai_empathy.agents.in_context.truncation import Fitted


def test_warnings_sum_counts_over_prompts() -> None:
    tally = Tally()
    tally.add([Fitted("", (), 0, 0), Fitted("", (), 2, 0)])
    tally.add([Fitted("", (), 1, 4), Fitted("", (), 0, 0)])
    tally.no_answers += 1
    assert list(tally.warnings()) == [
        "2 of 4 prompts were too long: 3 examples and 4 turns were left out",
        "1 of 4 prompts have no answer and are excluded from scores",
    ]


def test_complete_prompts_give_no_warnings() -> None:
    tally = Tally()
    tally.add([Fitted("", (), 0, 0)])
    assert list(tally.warnings()) == []
