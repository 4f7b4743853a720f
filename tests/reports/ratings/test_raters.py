"""Tables of raters and of excluded raters."""

from __future__ import annotations

from parlai_empathy.rating.analysis.raters import Rater
from parlai_empathy.reports.ratings.raters import excluded_table, raters_table

PLAIN = Rater("Ann", ratings=3, same=0.5, seconds=12.0, correlation=0.4, shared=3)
SEEN = Rater("Bob", ratings=2, texts=1, checks=2, failed=2, flags={"checks": "2 of 2 checks failed", "same": "all"})


def test_flagged_raters_are_listed_first() -> None:
    table = raters_table([PLAIN, SEEN], {"Bob": "asked to be"}, {})
    assert [list(row) for row in table.rows] == [
        ["Bob", 2, 1, "-", "-", "2 of 2", "-", 0, "2 of 2 checks failed; all", "yes"],
        ["Ann", 3, 0, 0.5, 12.0, "-", 0.4, 3, "", ""],
    ]


def test_note_tells_which_rule_could_not_judge_everybody() -> None:
    both = {"speed", "others"}
    needs_times = "it needs 5 raters whose pages were timed, and 3 pages of the rater"
    needs_items = "it needs 5 raters, each with 5 items that others rated too"
    assert notes_on_rules([both, both]) == []
    assert notes_on_rules([both, {"others"}]) == [f"- the rule speed judged 1 of 2 raters: {needs_times}"]
    assert notes_on_rules([set(), set()]) == [
        f"- the rule speed judged 0 of 2 raters: {needs_times}",
        f"- the rule others judged 0 of 2 raters: {needs_items}",
    ]


def notes_on_rules(judged: list[set[str]]) -> list[str]:
    raters = [Rater(f"w{number}", judged=rules) for number, rules in enumerate(judged)]
    return [note for note in raters_table(raters, {}, {}).notes if note.startswith("- the rule")]


def test_excluded_table_lists_raters_and_unknown_names() -> None:
    table = excluded_table({"Bob": "asked to be"}, {"Ann": 3, "Bob": 5}, ["Zoe"], {})
    assert table is not None
    assert [list(row) for row in table.rows] == [["Bob", 5, "asked to be"]]
    assert "- not in this file: Zoe" in table.notes
    only_unknown = excluded_table({}, {}, ["Zoe"], {})
    assert only_unknown is not None
    assert only_unknown.rows == []
    assert excluded_table({}, {"Ann": 3}, [], {}) is None


def test_raters_can_be_shown_under_pseudonyms() -> None:
    called = {"Ann": "rater 1", "Bob": "rater 2"}
    assert [row[0] for row in raters_table([PLAIN, SEEN], {}, called).rows] == ["rater 2", "rater 1"]
    table = excluded_table({"Bob": "asked to be"}, {"Bob": 5}, ["Zoe", "Zac"], called)
    assert table is not None
    assert [list(row) for row in table.rows] == [["rater 2", 5, "asked to be"]]
    assert "- not in this file: 2 more" in table.notes
