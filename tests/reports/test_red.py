"""RED's data card: its numbers are those of the curation."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from parlai_empathy.curation.curate import Curated, Plan
from parlai_empathy.curation.engagement import Measures
from parlai_empathy.curation.recipe import Recipe
from parlai_empathy.curation.selection import Chosen
from parlai_empathy.curation.unpack import Account
from parlai_empathy.reports.red import data_card
from parlai_empathy.reports.report import Report

ACCOUNTS = [
    Account("/d/RC_1.zst", 900, Counter({"not JSON": 2, "wrong type": 1}), {"not JSON": "/d/RC_1.zst, line 7"}),
    Account("/d/RC_2.bz2", 104, Counter({"not JSON": 1}), {"not JSON": "/d/RC_2.bz2, line 1"}, "/d/RC_2.bz2: cut"),
]
MEASURES = Measures(
    1000, ("ae", "re"), {"pv": 5.0, "ae": 6.0, "re": 1.0}, {"ae": 18.0, "re": 1.0}, 502_000.0, 100_000.0
)
MEANS = {"ae": 5.5, "re": 1.25, "ae_norm": 0.2, "re_norm": 0.5, "engagement": 0.4}


def curated(**changes: Any) -> Curated:
    """Return a possible result of curation."""
    plain: dict[str, Any] = {
        "accounts": ACCOUNTS,
        "fates": {"chosen": 40, "deleted": 900, "submission": 60},
        "measures": MEASURES,
        "chosen": Chosen((25, 20), 20),
        "classes": {"not engaging": MEANS, "engaging": {**MEANS, "ae": 70.0}},
        "subreddits": {"baking": {"not engaging": 12, "engaging": 15}, "trains": {"not engaging": 8, "engaging": 5}},
        # A bin of a hundredth may have posts on both sides of a threshold.
        "histogram": {30: (5, 0, 0), 40: (6, 1, 0), 41: (0, 3, 0), 50: (0, 9, 0), 60: (0, 1, 3), 80: (0, 0, 1)},
        "scorers": {},
        "added": {},
    }
    return Curated(**{**plain, **changes})


def card(changes: dict[str, Any] | None = None, recipe: dict[str, Any] | None = None, **plan: Any) -> Report:
    return data_card(curated(**(changes or {})), Plan([], Path("out"), Recipe(**(recipe or {})), **plan))


def notes(report: Report, place: int) -> str:
    return "\n".join(report.tables[place].notes)


def test_classes_table_lists_means() -> None:
    table = card().tables[0]
    assert table.header == ["class", "posts", "AE", "RE", "AE 0..1", "RE 0..1", "engagement"]
    assert table.rows == [
        ["not engaging", 20, 5.5, 1.25, 0.2, 0.5, 0.4],
        ["engaging", 20, 70.0, 1.25, 0.2, 0.5, 0.4],
    ]
    assert "Emotional engagement was not measured" in notes(card(), 0)
    assert "negative samples" not in notes(card(), 0)


def test_notes_mention_emotional_engagement_and_negative_samples() -> None:
    measures = Measures(10, ("ee",), {"pv": 5.0, "ee": 1.0}, {"ee": 1.0}, 5e5, 1e5)
    means = dict.fromkeys(("ee", "ee_norm", "engagement"), 0.5)
    report = card({"measures": measures, "classes": {"engaging": means}, "added": {"copy": 1_200, "deletion": 3}})
    assert "not measured" not in notes(report, 0)
    assert "EE is emotional engagement" in notes(report, 0)
    assert "1,203 negative samples, labelled not engaging: 1,200 copy, 3 deletion." in notes(report, 0)


def test_constants_and_notes_reflect_curation_settings() -> None:
    report = card(
        {"scorers": {"emotion": "by somebody"}}, {"kappa": 0.5, "seed": 4, "valid_share": 0.25, "edited_reply": 9}
    )
    assert report.tables[1].rows == [["AE", 3.0, 18.0, 6.0], ["RE", 3.0, 1.0, 1.0]]
    for part in (
        *("median popularity is 5.", "of 1,000 posts is 0.502000", "deviation 0.100000", "more than 0.5 of these"),
        *("counts for 9 words", "25% of the threads", "Seed 4, engine duckdb", "emotion: by somebody"),
    ):
        assert part in notes(report, 1)
    assert "--toxicity was not given" in notes(report, 1)
    assert "--toxicity was not given" not in notes(card(toxicity=object()), 1)


def test_each_input_line_is_counted_once() -> None:
    table = card().tables[2]
    assert table.rows == [
        ["deleted", 900],
        ["submission", 60],
        ["chosen", 40],
        ["bad line: not JSON", 3],
        ["bad line: wrong type", 1],
    ]
    assert sum(int(str(row[1])) for row in table.rows) == 1_004
    assert table.notes == [
        "1,004 lines of RC_1.zst (900), RC_2.bz2 (104).",
        "not JSON: first RC_1.zst, line 7",
        "not JSON: first RC_2.bz2, line 1",
        "RC_2.bz2: cut",
    ]


def test_line_outcomes_with_equal_counts_are_sorted_by_name() -> None:
    bad = Counter({"wrong type": 2, "not JSON": 2})
    fates = {"to an unknown comment": 1, "quotes only": 1, "chosen": 4, "empty": 1}
    table = card({"fates": fates, "accounts": [Account("/d/RC_1.zst", 11, bad)]}).tables[2]
    names = ["chosen", "empty", "quotes only", "to an unknown comment", "bad line: not JSON", "bad line: wrong type"]
    assert [row[0] for row in table.rows] == names


def test_subreddits_beyond_thirty_are_grouped_as_others() -> None:
    many = {f"s{n}": {"not engaging": 2, "engaging": n} for n in range(33)}
    assert card().tables[3].rows == [["baking", 12, 15], ["trains", 8, 5]]
    rows = card({"subreddits": many}).tables[3].rows
    assert rows[0] == ["s0", 2, 0]
    assert rows[-1] == ["3 others", 6, 30 + 31 + 32]
    assert len(rows) == 31


def test_plot_counts_each_post_in_one_class() -> None:
    (plot,) = card(recipe={"kappa": 1.0}).plots  # posts below .402 and above .602 are chosen
    assert plot.stacked
    assert {name: sum(heights) for name, heights in plot.series.items()} == {
        "not engaging": 5 + 6,
        "neither": 1 + 3 + 9 + 1,
        "engaging": 3 + 1,
    }
    assert [group for group in plot.groups if group] == ["0.30", "0.40", "0.50", "0.60", "0.70", "0.80"]
    assert len(plot.groups) == 51


def test_data_card_is_printed_and_saved_with_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card().show(tmp_path)
    assert capsys.readouterr().out.startswith("# RED: posts that people engaged with")
    with Image.open(tmp_path / "engagement.png") as image:
        assert len(image.convert("RGB").getcolors(1 << 20) or ()) > 10
    assert "| deleted " in (tmp_path / "report.md").read_text()
