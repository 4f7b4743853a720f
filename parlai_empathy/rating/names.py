"""What options call studies, stores, help lines' countries and kinds of statistics. It imports nothing that rates."""

from __future__ import annotations

from pathlib import Path

OWN_STUDIES = Path(__file__).parent / "studies"
STUDIES = tuple(sorted(path.stem for path in OWN_STUDIES.glob("*.yaml")))
"""The names of the studies that come with this package."""

STORE = "ratings.db"
"""The file that is taken if no store is named."""

COUNTRIES = ("AT", "AU", "CA", "CH", "DE", "ES", "EU", "FR", "GB", "IE", "IN", "NL", "NZ", "US")
"""The countries of ``chat/help_lines.yaml``: reading them there would slow every ``parlai --help`` down."""

TESTS = ("ranks", "permutation")
"""Of differences. ``ranks``: Wilcoxon's signed-rank test of pairs, else that of Mann and Whitney. ``permutation``: of
the means."""

UNITS = ("item", "rating")
"""What the sign test takes for one independent throw: an item, by the majority of its raters, or every rating."""

NOT_EXCLUDED = ("0", "false", "no")
"""What in the column ``excluded`` of a file of ratings says that a rater's ratings count, as if nothing were there."""
