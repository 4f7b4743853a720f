"""What the options of leaderboards call data sets and references. It imports nothing that reports."""

from __future__ import annotations

REPLY_TASKS = {"ed": "empathy:empathetic_dialogues", "dd": "empathy:daily_dialog", "r": "empathy:reddit"}
"""What the paper trains and tests on: EmpatheticDialogues, DailyDialog, Reddit (Rashkin et al. 2019)."""

REFERENCES = ("human", "original", "all")
"""What HUMOD's word overlap is counted with: :func:`parlai_empathy.reports.humod_leaderboard.rated_pairs`."""
