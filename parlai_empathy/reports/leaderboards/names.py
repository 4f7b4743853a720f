"""Values of the leaderboards' options. This module imports no other report module, so that it loads quickly."""

from __future__ import annotations

REPLY_TASKS = {"ed": "empathy:empathetic_dialogues", "dd": "empathy:daily_dialog", "r": "empathy:reddit"}
"""The tasks of Rashkin et al. 2019: EmpatheticDialogues, DailyDialog and Reddit."""

REFERENCES = ("human", "original", "all")
"""The references for HUMOD's word overlap: see :func:`parlai_empathy.reports.leaderboards.humod.rated_pairs`."""
