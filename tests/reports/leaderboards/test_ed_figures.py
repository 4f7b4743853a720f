"""Published figures: those that determine comparisons, and their sources."""

from __future__ import annotations

import pytest

from parlai_empathy.reports.leaderboards.ed_figures import PUBLISHED, published


def test_published_systems_have_sources_values_and_unique_names() -> None:
    assert all(one.source and one.values for one in PUBLISHED)
    names = [one.name for one in PUBLISHED]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("column", "figures"),
    [
        ("p_at_1", {43.25, 56.90, 60.44, 65.92, 66.04}),
        ("ppl", {27.96, 21.24, 16.55}),
        ("avg_bleu", {5.88, 6.27, 8.06}),
        ("emotion_situation", {43.0, 48.0}),
        ("ppl_peers", {37.65, 38.35, 37.33, 37.77, 36.86, 35.37}),
        ("dist_2", {2.10, 4.01}),
        ("emotion_context", {32.2, 40.2}),
    ],
)
def test_published_figures_by_column(column: str, figures: set[float]) -> None:
    assert {one.values[column] for one in published(column)} == figures


def test_published_selects_systems_with_any_of_the_columns() -> None:
    both = published("dist_1", "p_at_1")
    assert {one.system for one in both} >= {"MoEL", "retrieval BERT"}
    assert published("no_such_column") == []
