"""Counts of what became of each line."""

from __future__ import annotations

from pathlib import Path

import pytest

from parlai_empathy.tasks.reddit.records import BadLine
from parlai_empathy.tasks.reddit.tally import Tally


@pytest.fixture
def tally() -> Tally:
    """The tally of 1,234 lines."""
    found = Tally()
    found.lines, found.pairs, found.submissions, found.elsewhere = 1_234, 1_000, 200, 4
    found.left_out.update({"too long": 20, "bot": 7})
    found.add_bad(Path("a.jsonl"), 7, BadLine("missing field", "body"))
    found.add_bad(Path("a.jsonl"), 9, BadLine("missing field", "id"))
    found.add_bad(Path("b.jsonl"), 1, BadLine("not UTF-8"))
    found.late.update({"RS_2006-01": 2, "tea_posts": 1})
    return found


def test_summary_lists_all_counts_in_one_line(tally: Tally) -> None:
    assert str(tally) == (
        "1,234 lines gave 1,000 pairs; 200 are submissions, 4 belong to another fold or process; left out: "
        "20 too long, 7 bot; bad lines: 2 missing field, 1 not UTF-8; too far out of order: 3; broken files: 0"
    )


def test_summary_of_an_empty_tally() -> None:
    assert str(Tally()).endswith("left out: none; bad lines: none; too far out of order: 0; broken files: 0")


def test_report_warns_of_the_first_bad_line_of_each_kind_and_of_each_file(
    tally: Tally, log: pytest.LogCaptureFixture
) -> None:
    tally.broken.append("c.zst, line 5: it cannot be read on")
    tally.report("folder, train")
    assert [(record.levelname, record.message) for record in log.records] == [
        ("INFO", f"folder, train: {tally}"),
        ("WARNING", "folder, train: 2 bad line(s), missing field; the first is a.jsonl, line 7 (body)"),
        ("WARNING", "folder, train: 1 bad line(s), not UTF-8; the first is b.jsonl, line 1"),
        *(
            (
                "WARNING",
                f"{late} post(s) are too far out of order, and some may be parted from what they answer: "
                "sort the file by created_utc",
            )
            for late in ("RS_2006-01: 2", "tea_posts: 1")
        ),
        ("WARNING", "c.zst, line 5: it cannot be read on"),
    ]
