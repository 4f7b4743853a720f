"""Values of options: studies, the default store, countries of help lines, statistics. Imports no other rating code."""

from __future__ import annotations

from pathlib import Path

OWN_STUDIES = Path(__file__).parent / "study" / "included"
STUDIES = tuple(sorted(path.stem for path in OWN_STUDIES.glob("*.yaml")))
"""The names of the studies included in this package."""

ON_SITE = tuple(name for name in STUDIES if name not in ("chat", "collect_ed"))
"""Those that ``parlai rate_site`` serves; ``chat_site`` and ``collect_site`` serve the others. Reading the kinds of the
studies would slow down every ``parlai --help``."""

STORE = "ratings.db"
"""The default store."""

COUNTRIES = ("AT", "AU", "CA", "CH", "DE", "ES", "EU", "FR", "GB", "IE", "IN", "NL", "NZ", "US")
"""The countries of ``talking/help_lines.yaml``, repeated here because reading it would slow down every
``parlai --help``."""

TESTS = ("ranks", "permutation")
"""Tests of differences. ``ranks``: Wilcoxon's signed-rank test for paired items, otherwise the Mann-Whitney test.
``permutation``: a permutation test of the means."""

UNITS = ("item", "rating")
"""What the sign test counts as one observation: an item, by the majority of its raters, or every rating."""

NOT_EXCLUDED = ("0", "0.0", "false", "no", "nan", "none")
"""Values of the column ``excluded`` that mean the same as an empty cell: the rater is not excluded. Some are how other
programs write a column of which some cells are empty."""

FORMER = "(former reply)"
"""In an export, the name of a reply that the study's current version no longer has."""
