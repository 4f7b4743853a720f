"""The report on replies: tables by hand, and correlations compared with SciPy's."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from parlai_empathy import __version__
from parlai_empathy.errors import DataError, NotComputableError
from parlai_empathy.reports.cells import PValue
from parlai_empathy.reports.plots import Panels
from parlai_empathy.reports.responses import (
    check_rated,
    differences_table,
    intervals_table,
    item_names,
    numbers_table,
    ratings_table,
    records,
    turns_table,
)
from parlai_empathy.reports.table import Table
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.scored import Scored, median, scored
from parlai_empathy.scoring.systems import System, SystemScores, score_systems, systems_of
from parlai_empathy.scoring.word_metrics import AvgBleu, Length, Variety, Words
from parlai_empathy.statistics.paired import holm, paired_difference

WORDS = Words("space")


def system(name: str, *replies: LoggedReply) -> System:
    (found,) = systems_of(name, replies)
    return found


def said(*texts: str, **more: Any) -> list[LoggedReply]:
    return [LoggedReply(text, **more) for text in texts]


def with_scores(one: System, *found: Scored) -> SystemScores:
    return SystemScores(one, {each.key: each for each in found})


def values(key: str, *items: float | None) -> Scored:
    return scored(key, key.upper(), items, {})


def rows_of(table: Table, columns: int = 1) -> dict[Any, dict[str, Any]]:
    """Return a table's rows by their first column."""
    return {
        row[0] if columns == 1 else tuple(row[:columns]): dict(zip(table.header[columns:], row[columns:], strict=True))
        for row in table.rows
    }


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_numbers_table_has_one_row_per_system_and_column_per_metric() -> None:
    one = system("one", *said("a b", "", "a"), LoggedReply("", no_answer="time-out"))
    other = system("other", *said("c"))
    scores = score_systems([one, other], {"length": Length(WORDS), "distinct": Variety(WORDS)})
    table = numbers_table(scores, ["--metrics epitome needs --epitome-model"])
    rows = rows_of(table)
    assert rows["one"]["words a reply"] == 1
    assert [rows["one"][name] for name in ("replies", "empty", "no answer")] == [3, 1, 1]
    assert rows["one"]["Dist-1"] == pytest.approx(100 * 2 / 3)
    assert rows["one"]["Dist-1 in a reply"] == 1
    assert (rows["other"]["words a reply"], rows["other"]["Dist-2"], rows["other"]["no answer"]) == (1, None, 0)
    assert f"- words a reply|case:kept|tokens:space|n:3|version:{__version__}: one" in table.notes
    assert "- left out: --metrics epitome needs --epitome-model" in table.notes


def test_failed_metric_of_a_system_is_noted() -> None:
    scores = score_systems([system("one", *said("a"))], {"length": Length(WORDS), "bleu": AvgBleu(WORDS)})
    assert "- one: left out: AVG BLEU: no reply has a reference" in numbers_table(scores).notes


# --- intervals -------------------------------------------------------------------------------------------------------


def test_interval_matches_bootstrap_over_replies() -> None:
    known = [0.0, 3.0, 5.0, 1.0, 2.0, 7.0, 4.0, 4.0, 9.0, 0.0]
    items = [*known[:2], None, *known[2:]]
    middle = scored("k", "K", items, {}, median)
    found = with_scores(system("one", *said(*"abcdefghijk")), values("m", *items), middle)
    table, plots = intervals_table([found], resamples=400, seed=4)
    generator = np.random.default_rng(4)
    drawn = np.array([np.array(known)[generator.integers(10, size=10)] for _ in range(400)])
    # For the mean of ten items, the most extreme .8551 % at each end: see test_bootstrap.py.
    of_means = np.percentile(drawn.mean(axis=1), [0.8551, 99.1449])
    of_medians = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    assert table.rows == [
        ["one", "M", 10, 1, 3.5, pytest.approx(tuple(of_means), abs=1e-4)],
        ["one", "K", 10, 1, 3.5, pytest.approx(tuple(of_medians))],
    ]
    assert "of means, expanded percentiles" in table.notes[-1]
    assert plots == [], "a system alone is beside nobody"


def test_interval_of_a_share_has_nominal_coverage() -> None:
    """Of 200 samples of 20 replies with a share of .8; one in a hundred has no interval, because all are alike."""
    generator = np.random.default_rng(1)
    inside = known = 0
    for hits in generator.random((200, 20)) < 0.8:
        one = with_scores(system("one", *said(*map(str, range(20)))), values("m", *hits.astype(float).tolist()))
        interval: Any = intervals_table([one], resamples=200)[0].rows[0][-1]
        known += interval is not None
        inside += interval is not None and interval[0] <= 0.8 <= interval[1]
    assert known >= 190
    assert inside / known >= 0.93


def test_intervals_plot_has_one_panel_per_metric() -> None:
    one = with_scores(system("one", *said(*"abc")), values("m", 0.0, 3.0, 5.0), values("k", 2.0, 4.0, 4.0))
    two = with_scores(system("two", *said(*"a")), values("m", 7.0))
    table, (plot,) = intervals_table([one, two], resamples=100)
    assert isinstance(plot, Panels)
    assert {row for part in plot.parts for row in part.rows} == {"one", "two"}
    shown = {part.title: part.series[part.title] for part in plot.parts}
    rows = rows_of(table, 2)
    for metric in ("M", "K"):
        found = rows["one", metric]
        assert shown[metric]["one"] == (found["value"], *found["95 % interval"])
    assert shown["M"]["two"] == (7, 7, 7), "one reply does not say how sure it is"
    assert list(shown["K"]) == ["one"]
    assert not any(part.from_zero for part in plot.parts), "0 is off the scale of many metrics"


def test_missing_intervals_are_explained_in_notes() -> None:
    one = system("one", *said("a b", "a"))
    corpus = Scored("c", "Corpus", values("c", 3.0).number)
    alone = with_scores(system("alone", *said("x")), values("m", 2.0))
    found = score_systems([one], {"distinct": Variety(WORDS)})[0]
    table, _ = intervals_table([with_scores(one, corpus, *found.scores.values()), alone], resamples=50)
    rows = rows_of(table, 2)
    assert rows["one", "Corpus"] == {"n": None, "without a value": None, "value": 3, "95 % interval": None}
    assert rows["one", "Dist-1"]["95 % interval"] is None
    assert rows["one", "Dist-1 in a reply"]["95 % interval"] is None, "all equal, but two replies are not certain"
    assert rows["alone", "M"]["95 % interval"] is None, "one reply does not say how sure it is"
    assert table.notes[:-1] == [
        "- Dist-1: no interval: resampling repeats replies, which lowers variety",
        "- Dist-2: no interval: resampling repeats replies, which lowers variety",
        "- one, Dist-1 in a reply: no interval: too few replies that differ",
        "- one, Dist-2 in a reply: no interval: too few replies that differ",
        "- alone, M: no interval: too few replies that differ",
    ]


def test_failing_resamples_give_no_interval() -> None:
    def sometimes(items: Any) -> float:
        if len(items) != 4 or len(set(items.tolist())) < 4:
            raise NotComputableError("nothing drawn twice")
        return 1.0

    found = scored("m", "M", [1, 2, 3, 4], {}, sometimes)
    (row,) = intervals_table([with_scores(system("one", *said(*"abcd")), found)], resamples=50)[0].rows
    assert row[-2:] == [1, None]


# --- differences -----------------------------------------------------------------------------------------------------


def test_single_system_gives_no_differences_table() -> None:
    assert differences_table([with_scores(system("one", *said("a")), values("m", 1.0))], 10) is None


def test_differences_from_first_system_use_common_items() -> None:
    ours = [LoggedReply("r", (context,)) for context in "abcde"]
    first = with_scores(system("first", *ours), values("m", 1, 2, None, 4, 5), values("k", 1, 2, 3, 4, 5))
    # The second has another order, lacks b and k, and has no value for d.
    second = with_scores(
        system("second", *[LoggedReply("s", (context,)) for context in "edcax"]), values("m", 9, None, 9, 4, 9)
    )
    table = differences_table([first, second], resamples=100, seed=3)
    assert table is not None
    (row,) = table.rows
    # Values of m in both: a (4 and 1) and e (9 and 5).
    there = paired_difference(lambda items: float(np.mean(items)), np.array([9, 4]), np.array([5, 1]), 100, 3)
    assert there.value == 3.5
    assert row == ["second", "M", 2, 3.5, pytest.approx(there.interval), there.p_value, there.p_value]
    assert table.title == "Differences from first, on the items that both have"
    assert table.notes[-1].startswith("- p: permutation test, 100 random swaps")


def test_intervals_of_differences_are_expanded_only_for_means() -> None:
    ours, theirs = np.random.default_rng(5).normal(size=(2, 10))
    systems = [
        with_scores(
            system(name, *said(*"abcdefghij")), values("m", *one.tolist()), scored("k", "K", one.tolist(), {}, median)
        )
        for name, one in (("first", ours), ("second", theirs))
    ]
    table = differences_table(systems, resamples=200)
    assert table is not None
    rows = rows_of(table, 2)
    for title, value, of_means in (("M", np.mean, True), ("K", np.median, False)):
        alone = paired_difference(lambda items, of=value: float(of(items)), theirs, ours, 200, of_means=of_means)
        assert rows["second", title]["95 % interval"] == pytest.approx(alone.interval)


def test_pairing_by_place_in_the_log_is_noted() -> None:
    first = with_scores(system("first", *said("a", "b")), values("m", 1, 2))
    table = differences_table([first, with_scores(system("second", *said("c", "d")), values("m", 1, 2))], 10)
    assert table is not None
    assert "- second: replies without context, reference and item are paired by their place in the logs" in table.notes
    longer = with_scores(system("third", *said("c", "d", "e")), values("m", 1, 2, 3))
    table = differences_table([first, longer], 10)
    assert table is not None
    assert table.rows == []
    assert any("are not compared, since the logs have 2 and 3: add one of the three" in note for note in table.notes)


def test_p_values_are_holm_corrected_across_the_table() -> None:
    generator = np.random.default_rng(2)
    systems = [
        with_scores(
            system(name, *said(*map(str, range(20)))),
            *(values(key, *generator.normal(shift, 1, 20).tolist()) for key in ("m", "k")),
        )
        for name, shift in (("one", 0), ("two", 0.5), ("three", 0.8))
    ]
    table = differences_table(systems, resamples=200)
    assert table is not None
    rows = rows_of(table, 2)
    assert list(rows) == [("two", "M"), ("two", "K"), ("three", "M"), ("three", "K")]
    assert [row["p (Holm)"] for row in rows.values()] == holm([row["p"] for row in rows.values()])
    assert len({row["p"] for row in rows.values()}) > 1
    assert {type(cell) for row in table.rows for cell in row[-2:]} == {PValue}, "they are shown as papers print them"


def test_number_of_swaps_grows_with_number_of_rows() -> None:
    # 50 of 51 rows have no differences: p is 1. With 1,000 swaps the least p is 1 / 1,001; 51 times that exceeds .05.
    firm = values("firm", *[0.0] * 30)
    systems = [with_scores(system("first", *said(*map(str, range(30)))), firm, *(_flat(key) for key in range(50)))]
    other = system("other", *said(*map(str, range(30))))
    systems.append(with_scores(other, values("firm", *[10.0] * 30), *(_flat(key) for key in range(50))))
    table = differences_table(systems, resamples=1000)
    assert table is not None
    assert rows_of(table, 2)["other", "FIRM"]["p (Holm)"] == pytest.approx(51 / 1276)
    assert table.notes[-1].startswith("- p: permutation test, 1,275 random swaps")


def _flat(key: int) -> Scored:
    return values(f"flat{key}", *[1.0] * 30)


def test_corpus_level_metrics_have_p_value_but_no_interval() -> None:
    log = {name: system(name, *said(*texts)) for name, texts in {"a": ["x y", "x"], "b": ["p q r", "s t"]}.items()}
    table = differences_table(score_systems(list(log.values()), {"distinct": Variety(WORDS)}), resamples=50)
    assert table is not None
    row = rows_of(table, 2)["b", "Dist-1"]
    # 100 minus 2 of 3.
    assert row["difference"] == pytest.approx(100 / 3)
    assert row["95 % interval"] is None
    assert 0 < row["p"] <= 1


def test_only_metrics_of_both_systems_with_values_of_replies_are_compared() -> None:
    whole = Scored("c", "Corpus", values("c", 3.0).number)
    first = with_scores(system("first", *said("a", "b")), values("m", 1, 2), whole)
    second = with_scores(system("second", *said("c", "d")), values("m", 3, 4), values("k", 1, 2), whole)
    table = differences_table([first, second], resamples=10)
    assert table is not None
    assert list(rows_of(table, 2)) == [("second", "M")]


def test_bleu_difference_is_difference_of_corpus_scores() -> None:
    def replies(*texts: str) -> list[LoggedReply]:
        return [LoggedReply(text, references=(f"so sorry for you {n}",)) for n, text in enumerate(texts)]

    good, bad = replies("so sorry for you 0", "so sorry for me"), replies("so", "so sorry for you")
    scores = score_systems([system("bad", *bad), system("good", *good)], {"bleu": AvgBleu(WORDS)})
    table = differences_table(scores, resamples=50)
    assert table is not None
    (row,) = table.rows
    numbers = [one.numbers["avg_bleu"] for one in scores]
    assert row[:4] == ["good", "AVG BLEU", 2, pytest.approx(numbers[1] - numbers[0])]


def test_incomparable_systems_are_noted() -> None:
    first = with_scores(system("first", *[LoggedReply("r", (one,)) for one in "ab"]), values("m", 1, 2))
    apart = with_scores(system("apart", *[LoggedReply("r", (one,)) for one in "cd"]), values("m", 1, 2))
    once = with_scores(system("once", *[LoggedReply("r", (one,)) for one in "ad"]), values("m", 1, 2))
    table = differences_table([first, apart, once], resamples=10)
    assert table is not None
    assert table.rows == []
    assert table.notes[:2] == [
        "- apart: no item in common with first: contexts and references must be alike in both logs, or items if they "
        "lack those",
        "- once, M: no comparison: 1 and 1 items; at least two common ones are needed",
    ]


# --- turns -----------------------------------------------------------------------------------------------------------


def test_mean_empathy_level_by_turn() -> None:
    replies = [LoggedReply("r", context) for context in (("a", "b", "c"), ("a",), ("d",), ("e", "f", "g"), ())]
    levels = scored("epitome_er", "EPITOME-ER", [1, 2, 1, None, None], {})
    found = turns_table([with_scores(system("one", *replies), levels, values("m", 1, 1, 1, 1, 1))])
    assert found is not None
    table, (plot,) = found
    # Turn 2: levels 2 and 1. Turn 4: level 1, and one without a value. Replies without a context have no turn.
    assert table.rows == [["one", "EPITOME-ER", 2, 2, 1.5], ["one", "EPITOME-ER", 4, 1, 1]]
    assert (plot.title, plot.series) == ("EPITOME-ER by turn", {"one": [(2, 1.5), (4, 1)]})


def test_replies_in_cut_contexts_are_counted_at_the_turn_that_the_log_says() -> None:
    replies = [LoggedReply("r", ("c",), turn=4), LoggedReply("r", ("a",)), LoggedReply("r", (), turn=4)]
    one = with_scores(system("one", *replies), scored("epitome_er", "EPITOME-ER", [2, 1, None], {}))
    found = turns_table([one])
    assert found is not None
    assert found[0].rows == [["one", "EPITOME-ER", 2, 1, 1], ["one", "EPITOME-ER", 4, 1, 2]]
    assert [record["turn"] for record in records([one])] == [4, 2, 4]


def test_no_turns_table_without_empathy_levels() -> None:
    assert turns_table([with_scores(system("one", *said("a")), values("m", 1))]) is None


# --- ratings ---------------------------------------------------------------------------------------------------------


def rated(*systems: System) -> list[SystemScores]:
    """Return systems with two numbers for each reply; one has no value for the last reply."""
    generator = np.random.default_rng(7)
    found = []
    for one in systems:
        a, b = generator.integers(0, 5, size=(2, len(one.replies))).tolist()
        found.append(with_scores(one, values("a", *a), values("b", *b[:-1], None)))
    return found


def test_correlations_of_questions_ignore_ratings_of_other_replies() -> None:
    """The two questions agree on the six replies of this log, and contradict each other on those of another."""
    names = [f"one#{place}" for place in range(1, 7)]
    others = [f"other#{place}" for place in range(1, 7)]
    up = {name: [rating] for name, rating in zip([*names, *others], [1, 2, 3, 4, 5, 6] * 2, strict=True)}
    down = {
        name: [rating] for name, rating in zip([*names, *others], [1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1], strict=True)
    }
    table, _ = ratings_table(rated(system("one", *said(*"abcdef"))), {"up": up, "down": down})
    assert table.rows[0][:4] == ["people: up", 6, pytest.approx(1), pytest.approx(1)]
    assert table.rows[1][:4] == ["people: down", 6, pytest.approx(1), pytest.approx(1)]
    assert "- 6 rated items are not replies of these logs, such as other#1" in table.notes


def test_correlations_match_scipy_on_common_items() -> None:
    scores = rated(system("one", *said(*"abcdefgh")), system("two", *said(*"pqrstuvw")))
    generator = np.random.default_rng(8)
    names = [f"{name}#{place}" for name in ("one", "two") for place in range(1, 9)]
    ratings = {
        "empathy": {name: generator.integers(1, 6, size=3).tolist() for name in names},
        "fluency": {name: generator.integers(1, 6, size=2).tolist() for name in names[3:14]},
    }
    table, (grid,) = ratings_table(scores, {**ratings, "none of these": {"x": [1]}})
    assert table.header == [
        "",
        "rated replies",
        "people: empathy",
        "people: fluency",
        "people: none of these",
        "A",
        "B",
    ]
    assert [row[1] for row in table.rows] == [16, 11, 0, 16, 14]
    assert "- 1 rated items are not replies of these logs, such as x" in table.notes
    a, b = ([item for one in scores for item in one.scores[key].items] for key in ("a", "b"))
    empathy, fluency = (
        [np.mean(people[name]) if name in people else None for name in names] for people in ratings.values()
    )
    series = [empathy, fluency, [None] * 16, a, b]
    for i, first in enumerate(series):
        for j, second in enumerate(series):
            both = [(x, y) for x, y in zip(first, second, strict=True) if x is not None and y is not None]
            theirs = stats.spearmanr(*zip(*both, strict=True)).statistic if both else None
            assert table.rows[i][j + 2] == (None if theirs is None else pytest.approx(theirs)), (i, j)
    assert [row[0] for row in table.rows] == grid.names == table.header[2:]
    assert grid.values == [row[2:] for row in table.rows]


def test_too_few_or_constant_values_have_no_correlation() -> None:
    scores = [with_scores(system("one", *said(*"abc")), values("a", 1, 1, 1), values("b", 1, 2, None))]
    table, _ = ratings_table(scores, {"": {"one#1": [1], "one#2": [2], "one#3": [3]}})
    nothing = dict.fromkeys(["people: rating", "A", "B"])
    assert rows_of(table) == {
        "people: rating": {"rated replies": 3, "people: rating": pytest.approx(1), "A": None, "B": None},
        "A": {"rated replies": 3, **nothing},
        "B": {"rated replies": 2, **nothing},
    }
    assert not any("are not replies" in note for note in table.notes)


def test_unnamed_question_is_distinct_from_question_named_rating() -> None:
    scores = [with_scores(system("one", *said(*"abc")), values("a", 1, 2, 3))]
    ratings = {"": {"one#1": [1], "one#2": [2], "one#3": [3]}, "rating": {"one#1": [3], "one#2": [2], "one#3": [1]}}
    rows = rows_of(ratings_table(scores, ratings)[0])
    assert (rows["people: no question"]["A"], rows["people: rating"]["A"]) == (pytest.approx(1), pytest.approx(-1))


def test_two_distinct_values_suffice_for_correlation() -> None:
    """As for a share, with a value of 0 or 1 for each reply."""
    scores = [with_scores(system("one", *said(*"abcd")), values("a", 0, 1, 1, 0))]
    table, _ = ratings_table(scores, {"": {"one#1": [1], "one#2": [5], "one#3": [5], "one#4": [1]}})
    assert rows_of(table)["A"]["people: rating"] == pytest.approx(1)


def test_corpus_level_metrics_are_omitted_from_ratings_table() -> None:
    replies = [LoggedReply("a b", references=("a b",)), LoggedReply("c", references=("c",)), LoggedReply("a")]
    metrics = {"length": Length(WORDS), "distinct": Variety(WORDS), "bleu": AvgBleu(WORDS)}
    scores = score_systems([system("one", *replies)], metrics)
    table, _ = ratings_table(scores, {"q": {"one#1": [1]}})
    assert table.header[2:] == ["people: q", "words a reply", "Dist-1 in a reply", "Dist-2 in a reply"]


def test_item_names_come_from_log_or_position() -> None:
    log = [LoggedReply("a", item="x7"), LoggedReply("", no_answer="time-out"), LoggedReply("c")]
    assert item_names(system("one", *log)) == ["x7", "one#3"]


def test_ratings_matching_no_reply_raise() -> None:
    scores = [with_scores(system("one", *said("a", "b", "c")), values("a", 1, 2, 3))]
    message = (
        "no rated item is one of these replies, which are called one#1, one#2 and so on: name the items as the logs do"
    )
    for ratings in ({"q": {"one": [1], "1": [2]}}, {}):
        with pytest.raises(NotComputableError, match=f"^{re.escape(message)}$"):
            ratings_table(scores, ratings)


def test_duplicate_item_names_raise() -> None:
    systems = [system(name, *said("r", item="7")) for name in ("one", "two")]
    message = r"^2 replies have the item 7, and ratings cannot tell them apart: give each reply of all logs a"
    with pytest.raises(DataError, match=message):
        check_rated(systems, {"q": {"7": [1]}})
    check_rated(systems[:1], {"q": {"7": [1]}})


# --- records ---------------------------------------------------------------------------------------------------------


def test_records_hold_metric_values_per_reply() -> None:
    log = [
        LoggedReply("a b", ("x", "y", "z"), ("a c",), "sad", item="i1", line=4),
        LoggedReply("", no_answer="time-out", line=5),
        LoggedReply("", line=6),
    ]
    metrics = {"length": Length(WORDS), "distinct": Variety(WORDS), "bleu": AvgBleu(WORDS)}
    found = records(score_systems([system("one", *log)], metrics))
    bleu = {"matches": [1, 0, 0, 0], "totals": [2, 1, 0, 0], "reply_length": 2, "reference_length": 2}
    known = {"dist_1_reply": 1, "dist_2_reply": 1, "avg_bleu": bleu}  # Dist-n itself is for all replies only
    empty = {"dist_1_reply": None, "dist_2_reply": None, "avg_bleu": None}
    where: Sequence[dict[str, Any]] = (
        {"system": "one", "item": "i1", "line": 4, "turn": 4, "emotion": "sad", "reply": "a b"},
        {"system": "one", "item": "one#3", "line": 6, "turn": None, "emotion": None, "reply": ""},
    )
    assert found == [{**where[0], "words": 2, **known}, {**where[1], "words": 0, **empty}]
    assert json.loads(json.dumps(found)) == found


def test_corpus_level_metrics_are_omitted_from_records() -> None:
    corpus = Scored("c", "Corpus", values("c", 3.0).number)
    (record,) = records([with_scores(system("one", *said("a")), corpus)])
    assert "c" not in record
