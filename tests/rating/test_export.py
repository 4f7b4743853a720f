"""Exporting ratings to files that the analysis reads."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from full_disk import full_disk
from tiny_studies import LIKERT, PAIRWISE, Clock

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.outcomes import Assignment
from parlai_empathy.rating.export import COLUMNS, rating_rows, write_export
from parlai_empathy.rating.names import FORMER
from parlai_empathy.rating.ratings_file import ratings_of, read_ratings
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.study import Study

Make = Callable[..., Study]
Log = Callable[..., str]


def next_item(desk: Desk, rater: str) -> Assignment:
    found = desk.next_item(rater)
    assert isinstance(found, Assignment)
    return found


def test_exported_row_has_all_columns(store: Store, study_of: Make, write_log: Log, clock: Clock) -> None:
    questions = [*LIKERT["questions"], {"id": "why", "text": "Why?", "kind": "text", "required": False}]
    checks = [{"reply": "Bus.", "expected": {"liking": 1}}]
    study = study_of(LIKERT, questions=questions, checks=checks, systems={"A": write_log("A", 1)})
    desk = Desk(store, study, clock)
    clock.now = 0.0
    for _ in range(2):
        found = next_item(desk, "a")
        answers = {"liking": 2} if found.item.is_check else {"liking": 4, "why": "grey, slow"}
        desk.answer(found.id, "a", answers, seconds=2.5)
        clock.now += 60
    rows = {(row["item"], row["question"]): row for row in rating_rows(store, study.name)}
    assert set(rows) == {("1", "liking"), ("1", "why"), ("check-1", "liking")}
    number = rows["1", "liking"]["number"]
    assert rows["1", "liking"] == {
        "item": "1",
        "system": "A",
        "other": "",
        "question": "liking",
        "rater": "a",
        "rating": 4,
        "text": "",
        "when": f"1970-01-01T00:0{number - 1}:00.000+00:00",
        "seconds": 2.5,
        "study": "herons",
        "version": study.version,
        "check": None,
        "kind": "likert",
        "reply": "A#1",
        "other_reply": "",
        "side": "",
        "turn": None,
        "number": number,
        "excluded": "",
    }
    assert (rows["1", "why"]["rating"], rows["1", "why"]["text"]) == (None, "grey, slow")
    assert (rows["check-1", "liking"]["rating"], rows["check-1", "liking"]["check"]) == (2, 1)
    assert all(tuple(row) == COLUMNS for row in rows.values())


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_exported_file_is_readable_by_analysis(
    store: Store, study_of: Make, write_log: Log, tmp_path: Path, suffix: str
) -> None:
    desk = Desk(store, study_of(PAIRWISE, systems={"A": write_log("A", 3), "B": write_log("B", 3)}))
    expected = {}
    for side in ("left", "right", "tie"):
        found = next_item(desk, 'o"reilly, ☘')
        desk.answer(found.id, 'o"reilly, ☘', {"better": side})
        sign = {"left": 1, "right": -1, "tie": 0}[side]
        expected[found.item.name] = -sign if found.swapped else sign
    path = tmp_path / f"ratings{suffix}"
    assert write_export(store, "herons", path) == 3
    assert {one.item: one.rating for one in read_ratings(path)} == expected
    assert {one.rater for one in read_ratings(path)} == {'o"reilly, ☘'}
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file)) if suffix == ".csv" else [json.loads(line) for line in file]
    for row in rows:
        assert (row["system"], row["other"]) == ("A", "B")
        assert row["side"] in ("left", "right")
        assert (row["reply"], row["other_reply"]) == (f"A#{row['item']}", f"B#{row['item']}")
        assert datetime.fromisoformat(row["when"]).tzinfo is not None


@pytest.mark.parametrize("is_old", [False, True], ids=["new", "of an older store"])
def test_carriage_returns_do_not_split_rows(
    store: Store, study_of: Make, write_log: Log, tmp_path: Path, is_old: bool
) -> None:
    questions = [{"id": "why", "text": "Why?", "kind": "text"}]
    desk = Desk(store, study := study_of(LIKERT, questions=questions, systems={"A": write_log("A", 1)}))
    desk.answer(next_item(desk, "a").id, "a", {"why": "one" if is_old else "a\rb\r\nc"})
    if is_old:
        with store.writing(study.name) as t:
            t.run("UPDATE rating_answers SET text = :text", text="a\rb\r\nc")
    for suffix in ("csv", "jsonl"):
        write_export(store, study.name, path := tmp_path / f"ratings.{suffix}")
        assert [one.text for one in ratings_of(path)] == ["a\nb\nc"]


def test_carriage_returns_in_names_do_not_split_rows(store: Store, study_of: Make, tmp_path: Path) -> None:
    log = {"context": ["x"], "reply": "y", "item": "a\rb"}
    (tmp_path / "a.jsonl").write_text(json.dumps(log) + "\n")
    desk = Desk(store, study := study_of(LIKERT, systems={"A\rB": "a.jsonl"}))
    desk.answer(next_item(desk, "a").id, "a", {"liking": 4})
    for suffix in ("csv", "jsonl"):
        write_export(store, study.name, path := tmp_path / f"ratings.{suffix}")
        assert [(one.item, one.system, one.reply) for one in ratings_of(path)] == [("a\nb", "A\nB", "a\nb")]


def test_side_column_is_where_system_was_shown(store: Store, study_of: Make, write_log: Log) -> None:
    desk = Desk(store, study_of(PAIRWISE, systems={"A": write_log("A", 4), "B": write_log("B", 4)}))
    stood = {}
    for _ in range(4):
        found = next_item(desk, "a")
        desk.answer(found.id, "a", {"better": "left"})
        stood[found.item.name] = "left" if found.left.reply.startswith("A") else "right"
    assert {row["item"]: row["side"] for row in rating_rows(store, "herons")} == stood
    assert sorted(stood.values()) == ["left", "left", "right", "right"]


def test_excluded_raters_are_exported_only_on_request(store: Store, study_of: Make, write_log: Log) -> None:
    desk = Desk(store, study_of(LIKERT, systems={"A": write_log("A", 2)}))
    for rater in "ab":
        desk.answer(next_item(desk, rater).id, rater, {"liking": 3})
    desk.exclude("a", "all the same")
    assert [row["rater"] for row in rating_rows(store, "herons")] == ["b"]
    both = {row["rater"]: row["excluded"] for row in rating_rows(store, "herons", excluded=True)}
    assert both == {"a": "all the same", "b": ""}


def test_each_chat_is_an_item_with_numbered_turns(store: Store, study_of: Make) -> None:
    good = {"id": "good", "text": "Good?", "kind": "choice", "choices": ["yes", "no"], "per_turn": True}
    questions = [good, *LIKERT["questions"]]
    desk = Desk(store, study_of({**LIKERT, "kind": "chat"}, questions=questions, models={"M": "m"}))
    ids = []
    for rater in "ab":
        found = next_item(desk, rater)
        desk.mark(found.id, rater, 2, {"good": "no"})
        desk.answer(found.id, rater, {"liking": 4})
        ids.append(found.id)
    rows = list(rating_rows(store, "herons"))
    names = [f"chat-{id[:12]}" for id in ids]
    assert {(row["item"], row["turn"], row["question"], row["rating"], row["text"]) for row in rows} == {
        *((name, None, "liking", 4, "") for name in names),
        *((name, 2, "good", 2, "no") for name in names),
    }
    assert {row["system"] for row in rows} == {"M"}


def test_same_item_name_in_two_versions_gives_different_units(store: Store, study_of: Make, tmp_path: Path) -> None:
    log, path = tmp_path / "A.jsonl", tmp_path / "ratings.csv"
    for rater, replies in (("ann", ("Oh no.", "Poor cat.", "Well!")), ("bob", ("Oh no.", "Great!", "Well!"))):
        log.write_text("".join(json.dumps({"context": [reply[0]], "reply": reply}) + "\n" for reply in replies))
        desk = Desk(store, study_of(LIKERT, systems={"A": str(log)}), new_version=True)
        for _ in replies:
            desk.answer(next_item(desk, rater).id, rater, {"liking": 3})
    assert write_export(store, "herons", path) == 6
    ratings = list(read_ratings(path))
    assert len({one.unit for one in ratings}) == 6
    # A reply's name refers to the current logs: a reply that has changed since is marked.
    assert {one.item: one.reply for one in ratings if one.rater == "ann"} == {"1": "A#1", "2": FORMER, "3": "A#3"}
    assert {one.item: one.reply for one in ratings if one.rater == "bob"} == {"1": "A#1", "2": "A#2", "3": "A#3"}


def test_replies_that_a_new_version_has_replaced_are_marked_before_it_is_rated(
    store: Store, study_of: Make, write_log: Log
) -> None:
    desk = Desk(store, study_of(PAIRWISE, systems={"A": write_log("A", 1), "B": write_log("B", 1)}))
    desk.answer(next_item(desk, "ann").id, "ann", {"better": "left"})
    Desk(store, study_of(PAIRWISE, systems={"C": write_log("C", 1), "D": write_log("D", 1)}), new_version=True)
    (row,) = rating_rows(store, "herons")
    assert (row["reply"], row["other_reply"]) == (FORMER, FORMER)


@pytest.mark.parametrize("study", [LIKERT, PAIRWISE])
def test_replies_are_the_same_if_more_or_less_of_their_context_is_shown(
    store: Store, study_of: Make, tmp_path: Path, study: dict[str, Any]
) -> None:
    """The first reply is rated with two turns before it, the second with one; then the first one's context changes."""

    def desk(context_turns: int, *asked: str) -> Desk:
        records = [{"context": ["Hm.", one, f"End {n}."], "reply": "Oh."} for n, one in enumerate(asked)]
        text = "".join(json.dumps(record) + "\n" for record in records)
        for name in "AB":
            (tmp_path / f"{name}.jsonl").write_text(text)
        logs = {name: str(tmp_path / f"{name}.jsonl") for name in ("A", "B")[: 1 + (study is PAIRWISE)]}
        return Desk(store, study_of(study, systems=logs, context_turns=context_turns, order="listed"), new_version=True)

    answers = {"better": "left"} if study is PAIRWISE else {"liking": 3}
    for turns in (2, 1):
        one = desk(turns, "Why?", "What?")
        one.answer(next_item(one, "ann").id, "ann", answers)
    desk(3, "Why?", "What?")
    assert [row["reply"] for row in rating_rows(store, "herons")] == ["A#1", "A#2"]
    desk(3, "Who?", "What?")
    assert [row["reply"] for row in rating_rows(store, "herons")] == [FORMER, "A#2"]


def test_unsupported_suffix_or_missing_folder_raises_option_error(
    store: Store, study_of: Make, write_log: Log, tmp_path: Path
) -> None:
    Desk(store, study_of(LIKERT, systems={"A": write_log("A", 1)}))
    with pytest.raises(OptionError, match=r"written as .csv or .jsonl"):
        write_export(store, "herons", tmp_path / "x.xlsx")
    with pytest.raises(OptionError, match="cannot be written"):
        write_export(store, "herons", tmp_path / "nowhere" / "x.csv")


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_full_disk_keeps_previous_file(store: Store, study_of: Make, write_log: Log, tmp_path: Path, name: str) -> None:
    desk = Desk(store, study_of(LIKERT, systems={"A": write_log("A", 1)}))
    desk.answer(next_item(desk, "ann").id, "ann", {"liking": 3})
    (path := tmp_path / name).write_text("former")
    with full_disk(), pytest.raises(OptionError, match="cannot be written"):
        write_export(store, "herons", path)
    assert path.read_text() == "former"
    assert [one for one in tmp_path.iterdir() if one.name.startswith("x.")] == [path]


def test_study_without_ratings_exports_header_only(
    store: Store, study_of: Make, write_log: Log, tmp_path: Path
) -> None:
    Desk(store, study_of(LIKERT, systems={"A": write_log("A", 1)}))
    assert write_export(store, "herons", tmp_path / "x.csv") == 0
    assert (tmp_path / "x.csv").read_text() == ",".join(COLUMNS) + "\n"


def test_unknown_study_keeps_previous_file(store: Store, study_of: Make, write_log: Log, tmp_path: Path) -> None:
    (path := tmp_path / "x.csv").write_text("former")
    with pytest.raises(OptionError, match="has no study herons: it has none; name one"):
        write_export(store, "herons", path)
    for name in ("herons", "cranes"):
        Desk(store, study_of(LIKERT, name=name, systems={"A": write_log("A", 1)}))
    with pytest.raises(OptionError, match="has no study heron: it has cranes, herons; name one"):
        write_export(store, "heron", path)
    assert path.read_text() == "former"
