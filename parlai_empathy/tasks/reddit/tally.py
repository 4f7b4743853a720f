"""Counts of what became of the dumps' lines: whatever is left out is counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import parlai.utils.logging as logging

from parlai_empathy.tasks.reddit.records import BadLine


class Tally:
    """Counts of what was read, used and left out.

    Each line that is not blank is counted exactly once: in ``pairs``, in ``submissions``, in ``elsewhere`` (it belongs
    to another fold or process), in ``left_out`` by reason, or in ``bad`` by reason. ``late`` counts, by file, the posts
    that come so far behind later ones that they could not be put into order: what they answer, or what answers them,
    may have been read too late.
    """

    def __init__(self) -> None:
        self.lines = self.pairs = self.submissions = self.elsewhere = 0
        self.left_out: Counter[str] = Counter()
        self.bad: Counter[str] = Counter()
        self.late: Counter[str] = Counter()
        self.broken: list[str] = []  # messages about files that cannot be read to their end
        self._first: dict[str, str] = {}

    def add_bad(self, path: Path, line: int, bad: BadLine) -> None:
        """Count a line that is not a post, and remember the first location for each reason."""
        self.bad[bad.reason] += 1
        detail = f" ({bad.detail})" if bad.detail else ""
        self._first.setdefault(bad.reason, f"{path}, line {line}{detail}")

    def __str__(self) -> str:
        return (
            f"{self.lines:,} lines gave {self.pairs:,} pairs; {self.submissions:,} are submissions, {self.elsewhere:,} "
            f"belong to another fold or process; left out: {_listed(self.left_out)}; bad lines: {_listed(self.bad)}; "
            f"too far out of order: {self.late.total():,}; broken files: {len(self.broken)}"
        )

    def report(self, what: str) -> None:
        """Log the counts, and a warning for each kind of bad line and each file that is out of order or broken."""
        logging.info(f"{what}: {self}")
        for reason, count in self.bad.items():
            logging.warning(f"{what}: {count:,} bad line(s), {reason}; the first is {self._first[reason]}")
        for path, count in self.late.items():
            logging.warning(
                f"{path}: {count:,} post(s) are too far out of order, and some may be parted from what they answer: "
                "sort the file by created_utc"
            )
        for message in self.broken:
            logging.warning(message)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in counts.most_common()) or "none"
