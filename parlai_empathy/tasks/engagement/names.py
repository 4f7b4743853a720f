"""The names of the evaluation sets, for options. This module imports no reader."""

from __future__ import annotations

SETS = ("better", "predeng_600", "fed", "red_test", "grade")
"""In the order of EnDex's Table 2 (Xu et al. 2022)."""
