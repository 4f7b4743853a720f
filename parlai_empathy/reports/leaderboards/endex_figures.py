"""Published figures of judges of engagingness (Xu et al. 2022, Table 2), for comparison with what is measured here.

Only figures whose source is certain are listed. A gap means that the figure has not been entered yet.
"""

from __future__ import annotations

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "better": "BETTER",
    "predeng_600": "PREDENG-600",
    "fed": "FED",
    "red_test": "RED-Test",
    "grade": "GRADE",
}
"""The titles of the test sets in tables."""

FIGURES: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "EnDex, mean of ten": {
        "better": (0.478, 0.455),
        "predeng_600": (0.597, 0.577),
        "fed": (0.229, 0.214),
        "red_test": (0.389, 0.378),
        "grade": (0.308, 0.282),
    },
    "question": {"predeng_600": (0.073, 0.074), "fed": (0.320, 0.320)},
    "specificity": {"predeng_600": (0.076, 0.102), "fed": (0.254, 0.254)},
}
"""Pearson's and Spearman's correlation with people's ratings of single replies, by judge and set."""
