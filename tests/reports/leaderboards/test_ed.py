"""Tables and plots of made-up measurements."""

from __future__ import annotations

from pathlib import Path

from parlai_empathy.reports.leaderboards.ed import plots, tables
from parlai_empathy.reports.leaderboards.ed_figures import PUBLISHED
from parlai_empathy.reports.leaderboards.ed_models import Measured
from parlai_empathy.reports.plots import draw
from parlai_empathy.reports.table import Table
from parlai_empathy.signature import Number


def retrieval(name: str = "mine") -> Measured:
    values = {"p_at_1_shuffled": Number(50, "P|shuffled"), "avg_bleu": Number(5.5, "AVG BLEU")}
    return Measured(name, "f", {"ed": dict(values), "dd": dict(values)}, {"parameters": 14.0, "minutes": 43.0})


def classifier() -> Measured:
    return Measured("emotions", "f", {"ed": {"emotion_situation": Number(52, "accuracy")}})


def generative() -> Measured:
    return Measured("writes", "f", {"ed": {"ppl_peers": Number(36, "PPL"), "emotion_context": Number(39, "E")}})


def read(table: Table) -> dict[str, dict[str, object]]:
    """Return each row's non-empty cells by column."""
    rows = {row[0]: dict(zip(table.header[1:], row[1:], strict=True)) for row in table.rows}
    return {str(name): {key: cell for key, cell in row.items() if cell is not None} for name, row in rows.items()}


def test_measured_models_are_listed_above_published_ones() -> None:
    (table,) = tables([retrieval(), classifier()], ["ed"], "test fold")
    rows = read(table)
    assert list(rows) == ["mine", "emotions", *(one.name for one in PUBLISHED)]
    assert rows["mine"] == {
        "P@1,100 shuffled": 50,
        "AVG BLEU": 5.5,
        "parameters, M": 14.0,
        "training, min": 43.0,
    }
    assert rows["emotions"] == {"emotion: situation": 52}
    assert rows["retrieval BERT (Rashkin et al. 2019)"] == {"P@1,100, protocol not named": 65.92}
    assert table.title == "EmpatheticDialogues, test fold"


def test_empty_columns_are_omitted() -> None:
    (table,) = tables([classifier()], ["ed"], "test fold")
    assert "emotion: situation" in table.header
    assert "P@1,100 inline" not in table.header
    assert "epochs" not in table.header


def test_other_data_set_gets_its_own_table_without_published_figures() -> None:
    ed, dd = tables([retrieval(), classifier()], ["ed", "dd"], "valid fold")
    assert dd.title == "DailyDialog, valid fold"
    assert list(read(dd)) == ["mine"]
    assert len(ed.rows) > 2


def test_notes_list_signatures_and_failures() -> None:
    broken = Measured("broken", "f", failures=["f is broken"])
    (table,) = tables([retrieval(), broken], ["ed"], "test fold")
    assert {"- P|shuffled", "- AVG BLEU", "- broken: left out: f is broken"} <= set(table.notes)
    assert "broken" not in read(table)


def test_notes_on_all_models_are_in_each_table() -> None:
    for table in tables([retrieval()], ["ed", "dd"], "test fold", ["- asked nicely"]):
        assert "- asked nicely" in table.notes


def test_notes_explain_only_what_a_table_shows() -> None:
    starts = ("- P@1,100, emotion", "- rows that name a", "- Rashkin et al. pretrain", "- PPL is", "- training: ")

    def explained(table: Table) -> list[bool]:
        return [any(note.startswith(start) for note in table.notes) for start in starts]

    ed, dd = tables([retrieval(), classifier()], ["ed", "dd"], "test fold")
    assert (explained(ed), explained(dd)) == ([True] * 5, [True, False, False, False, True])
    (without_minutes,) = tables([classifier()], ["ed"], "test fold")
    assert explained(without_minutes) == [True, True, True, True, False]
    perplexity = Measured("writes", "f", {"dd": {"ppl": Number(36, "ppl")}}, {"epochs": 3.0})
    (without_shares,) = tables([perplexity], ["dd"], "test fold")
    assert explained(without_shares) == [False, False, False, True, False]


def test_plots_compare_measured_and_published_figures(tmp_path: Path) -> None:
    found = {plot.name: plot for plot in plots([retrieval(), classifier(), generative()])}
    assert list(found) == ["p_at_1", "emotions", "perplexity"]
    assert found["p_at_1"].series == {"shuffled": {"mine": 50}}
    assert [line.value for line in found["p_at_1"].lines] == [56.90, 43.25, 60.44, 65.92, 66.04]
    assert found["p_at_1"].lines[3].name == "retrieval BERT 65.92"
    assert found["emotions"].lines[0].name == "situation: fastText 43.00"
    assert found["emotions"].rows == ["emotions", "writes"]
    assert {(line.value, line.series) for line in found["emotions"].lines} == {
        *((43.0, "situation"), (48.0, "situation"), (32.2, "context"), (40.2, "context"))
    }
    assert found["perplexity"].rows[0] == "writes"
    assert found["perplexity"].series["published"]["CASE (Zhou et al. 2023)"] == 35.37
    for plot in found.values():
        draw(plot, tmp_path / f"{plot.name}.png")


def test_metrics_without_measurements_are_not_plotted() -> None:
    assert [plot.name for plot in plots([classifier()])] == ["emotions"]
    assert plots([Measured("none", "f")]) == []
