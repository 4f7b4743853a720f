"""The report on scored replies: the effect of its options, and invalid options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from parlai.core.params import ParlaiParser
from tiny_judge import train_judge

from parlai_empathy.errors import DataError, EmpathyError, NotComputableError, OptionError
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.systems import System
from parlai_empathy.scripts.parts.reply_options import add_metrics
from parlai_empathy.scripts.runs import reply_scores
from parlai_empathy.scripts.runs.reply_scores import response_report

ONE = System("one", [LoggedReply("So sorry, so sorry!", references=("Oh no!",)), LoggedReply("", references=("Oh?",))])
OTHER = System("other", [LoggedReply("Oh no?", references=("Oh no!",)), LoggedReply("I see.", references=("Oh?",))])


def report(*systems: System, arguments: tuple[str, ...] = (), **more: Any) -> Report:
    """Return the report for these command-line arguments; ``more`` are options that each command declares itself."""
    parser = ParlaiParser(True, False)
    add_metrics(parser)
    opt = parser.parse_args(list(arguments))
    return response_report(
        "Title", systems, {**opt, "resamples": 10, "seed": 0, "edition": "sample", "skip_bad_rows": False, **more}
    )


def test_default_metrics_are_those_without_models() -> None:
    found = report(ONE, OTHER)
    assert found.title == "Title"
    expected = ["words a reply", "Dist-1", "Dist-2", "Dist-1 in a reply", "Dist-2 in a reply", "NIDF", "AVG BLEU"]
    assert found.tables[0].header == [
        *("system", "replies", "empty", "no answer"),
        *(*expected, "BLEU-4 (sacrebleu)"),
    ]
    assert len(found.tables) == 3
    assert [plot.name for plot in found.plots] == ["systems"]
    assert [item["system"] for item in found.items] == ["one", "one", "other", "other"]


def test_single_system_has_no_differences_table() -> None:
    assert [table.title.split()[0] for table in report(ONE).tables] == ["Replies", "Numbers"]


def test_tokenization_options_appear_in_signatures() -> None:
    arguments = ("--metrics", "length", "nidf", "--tokens", "space", "--lower-case", "true", "--nidf", "max")
    notes = "\n".join(report(ONE, arguments=arguments).tables[0].notes)
    assert "words a reply|case:lower|tokens:space|" in notes
    assert "NIDF|words:max|case:lower|tokens:space|counts:ed_train_sample|" in notes


def test_raters_excluded_by_the_study_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    good = "item,rater,rating,excluded\nother#1,ann,1,\nother#2,ann,3,\none#1,ann,4,\n"
    found = []
    for rows in (good, good + "one#1,spam,1,too fast\none#2,spam,5,too fast\n"):
        path.write_text(rows)
        found.append(report(ONE, OTHER, arguments=("--metrics", "length"), ratings=str(path)).text())
    assert "Spearman" in found[0]
    assert found[0] == found[1]


def test_endex_column_is_reported_next_to_other_metrics(tmp_path: Path) -> None:
    model = str(train_judge(tmp_path, task="empathy:red"))
    arguments = ("--metrics", "length", "endex", "--endex-model", model, "--endex-score", "class")
    table = report(ONE, OTHER, arguments=arguments).tables[0]
    assert table.header[-2:] == ["words a reply", "EnDex"]
    assert all(row[-1] in (0.0, 0.5, 1.0) for row in table.rows)
    assert any("|reads:context+reply|output:class|" in note for note in table.notes)
    alone = report(ONE, arguments=(*arguments, "--endex-context", "false")).tables[0]
    assert any("|reads:reply|output:class|" in note for note in alone.notes)


def test_seed_determines_the_intervals() -> None:
    first, second, third = (report(ONE, OTHER, seed=seed).tables[1].rows for seed in (1, 1, 2))
    assert first == second != third


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        (("--metrics", "length", "epitome"), {}, "--metrics epitome needs --epitome-model"),
        (("--metrics", "fluency"), {}, "--metrics fluency needs --fluency-model"),
        (("--metrics", "endex"), {}, "--metrics endex needs --endex-model"),
        (("--judges", "x=a", "x=b"), {}, "--judges: x is used twice: write NAME=FILE to tell them apart"),
        (("--judges", "length=a"), {}, "--judges: length is used twice: write NAME=FILE to tell them apart"),
        (("--judges", "NIDF=a"), {}, "--judges: NIDF is used twice: write NAME=FILE to tell them apart"),
    ],
)
def test_invalid_options_raise_option_error(arguments: tuple[str, ...], more: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        report(ONE, arguments=arguments, **more)


@pytest.mark.parametrize(
    ("metric", "reason"), [("distinct", "Dist-n: no reply has a word"), ("bleu", "AVG BLEU: no reply has a reference")]
)
def test_unmeasurable_metric_error_names_the_reason(metric: str, reason: str) -> None:
    with pytest.raises(OptionError, match=f"^--metrics: nothing could be measured: {reason}"):
        report(System("one", [LoggedReply(""), LoggedReply(" ")]), arguments=("--metrics", metric))


# --- ratings ---------------------------------------------------------------------------------------------------------


def test_ratings_are_correlated_with_metrics(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("item,rater,rating\none#1,ann,4\none#2,ann,1\nother#1,ann,2\nother#2,ann,3\n")
    found = report(ONE, OTHER, arguments=("--metrics", "length"), ratings=str(tmp_path / "r.csv"))
    # Lengths 6, 0, 3, 3: ranks 4, 1, 2.5, 2.5 beside 4, 1, 2, 3. Deviations from 2.5: 1.5, -1.5, 0, 0 and 1.5, -1.5,
    # -.5, .5; their products add up to 4.5, their squares to 4.5 and 5.
    correlation = 4.5 / (4.5 * 5) ** 0.5
    assert found.tables[-1].rows[0] == ["people: rating", 4, pytest.approx(1), pytest.approx(correlation)]
    assert [plot.name for plot in found.plots] == ["systems", "ratings_and_metrics"]
    with (tmp_path / "r.csv").open("a") as file:
        file.write("one#1,bob,good\n")
    skipped = report(ONE, OTHER, arguments=("--metrics", "length"), ratings=str(tmp_path / "r.csv"), skip_bad_rows=True)
    assert skipped.tables[-1] == found.tables[-1]


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        ("item,rater,rating\nnobody,ann,3\n", NotComputableError, "no rated item is one of these replies, which are"),
        ("item,rater,rating\n", NotComputableError, "no rated item is one of these replies, which are"),
        ("item,rater,rating\none#1,ann,good\n", DataError, "r.csv, line 2, column rating: 'good' is not a number"),
        ("reply,stars\n", DataError, "r.csv, line 1: the header lacks the column(s) item, rater, rating"),
    ],
)
def test_invalid_ratings_raise_before_scoring(
    tmp_path: Path, content: str, kind: type[EmpathyError], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_scores, "reply_metrics", lambda *_: pytest.fail("no model should be loaded"))
    (tmp_path / "r.csv").write_text(content)
    with pytest.raises(kind) as error:
        report(ONE, ratings=str(tmp_path / "r.csv"))
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1
