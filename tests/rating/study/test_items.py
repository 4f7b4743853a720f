"""The items that raters get from a study's logs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tiny_studies import LIKERT, PAIRWISE

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.rating.study.items import Item, items_of
from parlai_empathy.rating.study.study import Study

Make = Callable[..., Study]


def write(path: Path, *records: dict[str, object]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def test_each_reply_is_an_item(study_of: Make, write_log: Callable[..., str]) -> None:
    items = items_of(study_of(LIKERT, systems={"A": write_log("A", 2), "B": write_log("B", 2)}))
    assert [(one.name, one.system, one.reply, one.source) for one in items] == [
        ("1", "A", "A says 1.", "A#1"),
        ("2", "A", "A says 2.", "A#2"),
        ("1", "B", "B says 1.", "B#1"),
        ("2", "B", "B says 2.", "B#2"),
    ]
    first, second, other, _ = items
    assert first.context == ("I saw a heron today, number 1.",)
    assert first.subject == other.subject != second.subject  # a rater sees a context only once


def test_items_are_matched_by_context_not_log_order(study_of: Make, tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", *({"context": [text], "reply": f"a {text}"} for text in ("x", "y", "z")))
    b = write(tmp_path / "b.jsonl", *({"context": [text], "reply": f"b {text}"} for text in ("z", "x", "w")))
    items = items_of(study_of(LIKERT, systems={"A": a, "B": b}))
    assert [(one.name, one.reply, one.source) for one in items if one.system == "B"] == [
        ("3", "b z", "B#1"),
        ("1", "b x", "B#2"),
        ("4", "b w", "B#3"),
    ]


def test_items_without_contexts_are_matched_by_position(study_of: Make, tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", {"reply": "a1"}, {"reply": "a2"})
    b = write(tmp_path / "b.jsonl", {"reply": "b1"}, {"reply": "b2"})
    items = items_of(study_of(PAIRWISE, systems={"A": a, "B": b}))
    assert [(one.name, one.reply, one.other_reply) for one in items] == [("1", "a1", "b1"), ("2", "a2", "b2")]
    assert [(one.source, one.other_source) for one in items] == [("A#1", "B#1"), ("A#2", "B#2")]
    assert items[0].subject != items[1].subject


@pytest.mark.parametrize(("known_by", "known_as"), [("reference", str), ("item", str), ("context", list)])
def test_subject_of_a_reply_shown_without_context_does_not_depend_on_other_replies(
    study_of: Make, tmp_path: Path, known_by: str, known_as: Callable[[str], object]
) -> None:
    """A rater of an earlier version is not given it again when the study's file or logs have changed."""

    def subjects(texts: str) -> list[str]:
        log = write(tmp_path / "a.jsonl", *({"reply": f"a {text}", known_by: known_as(text)} for text in texts))
        return [one.subject for one in items_of(study_of(LIKERT, systems={"A": log}, context_turns=0))]

    x, y, z = subjects("xyz")
    assert len({x, y, z}) == 3
    assert subjects("zy") == [z, y]


def test_repeated_context_gives_separate_items_with_one_subject(study_of: Make, tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", {"context": ["x"], "reply": "a1"}, {"context": ["x"], "reply": "a2"})
    first, second = items_of(study_of(LIKERT, systems={"A": a}))
    assert (first.name, second.name) == ("1", "2")
    assert first.subject == second.subject


def test_gold_items_are_the_references(study_of: Make, write_log: Callable[..., str]) -> None:
    items = items_of(study_of(LIKERT, systems={"A": write_log("A", 2), "B": write_log("B", 2)}, gold=True))
    gold = [one for one in items if one.system == "gold"]
    assert [(one.name, one.reply, one.source) for one in gold] == [
        ("1", "Herons are lovely, all 1 of them.", "gold#1"),
        ("2", "Herons are lovely, all 2 of them.", "gold#2"),
    ]
    assert [one.subject for one in gold] == [one.subject for one in items[:2]]


def test_logs_with_and_without_references_share_items(study_of: Make, write_log: Callable[..., str]) -> None:
    systems = {"A": write_log("A", 2, references=False), "B": write_log("B", 2)}
    items = items_of(study_of(LIKERT, systems=systems, gold=True))
    assert [(one.system, one.name) for one in items] == [(system, n) for system in ("A", "B", "gold") for n in "12"]
    assert [one.reply for one in items[4:]] == [f"Herons are lovely, all {n} of them." for n in "12"]
    assert len(items_of(study_of(PAIRWISE, systems=systems))) == 2


def test_items_without_contexts_are_matched_by_reference(study_of: Make, tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", *({"reply": f"a {text}", "reference": text} for text in "xy"))
    b = write(tmp_path / "b.jsonl", *({"reply": f"b {text}", "reference": text} for text in "yx"))
    items = items_of(study_of(PAIRWISE, systems={"A": a, "B": b}))
    assert [(one.reply, one.other_reply) for one in items] == [("a x", "b x"), ("a y", "b y")]


def test_items_without_contexts_are_matched_by_name(study_of: Make, tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", *({"reply": f"a{n}", "item": n} for n in "123"))
    b = write(tmp_path / "b.jsonl", *({"reply": f"b{n}", "item": n} for n in "31"))
    items = items_of(study_of(PAIRWISE, systems={"A": a, "B": b}))
    assert [(one.name, one.reply, one.other_reply) for one in items] == [("1", "a1", "b1"), ("3", "a3", "b3")]


def test_logs_of_different_lengths_are_not_matched_by_position(study_of: Make, tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", *({"reply": f"a{n}"} for n in "123"))
    b = write(tmp_path / "b.jsonl", *({"reply": f"b{n}"} for n in "31"))
    assert len({one.name for one in items_of(study_of(LIKERT, systems={"A": a, "B": b}))}) == 5
    with pytest.raises(OptionError, match="A and B have no context in common"):
        items_of(study_of(PAIRWISE, systems={"A": a, "B": b}))


@pytest.mark.parametrize(("of_a", "of_b"), [("01", "10"), (("A-0", "A-1"), ("B-0", "B-1")), ("01", ("", ""))])
def test_names_that_differ_between_logs_do_not_name_items(
    study_of: Make, tmp_path: Path, of_a: Sequence[str], of_b: Sequence[str]
) -> None:
    """Ratings of replies to the same context are compared by the item's name."""
    a = write(
        tmp_path / "a.jsonl", *({"context": [c], "reply": "a", "item": n} for c, n in zip("xy", of_a, strict=True))
    )
    b = write(
        tmp_path / "b.jsonl", *({"context": [c], "reply": "b", "item": n} for c, n in zip("xy", of_b, strict=True))
    )
    items = items_of(study_of(LIKERT, systems={"A": a, "B": b}))
    assert [(one.system, one.name, one.context) for one in items] == [
        (system, name, (context,)) for system in "AB" for name, context in zip("12", "xy", strict=True)
    ]
    assert [one.source for one in items[:2]] == list(of_a)


def test_item_names_in_logs_are_kept(study_of: Make, tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", {"context": ["x"], "reply": "a1", "item": "h7", "references": ["r"]})
    items = items_of(study_of(LIKERT, systems={"A": a}, gold=True))
    assert [(one.name, one.source) for one in items] == [("h7", "h7"), ("h7", "gold#1")]


def test_log_with_several_systems_is_split(study_of: Make, tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", *({"context": ["x"], "reply": f"{s}!", "system": s} for s in ("S", "T", "U")))
    items = items_of(study_of(PAIRWISE, systems={"L": log}))
    assert [one.arm for one in items] == ["L: S | L: T", "L: S | L: U", "L: T | L: U"]
    items = items_of(study_of(PAIRWISE, systems={"L": log}, pairs=[["L: U", "L: S"]]))
    assert [(one.system, one.other, one.reply, one.other_reply) for one in items] == [("L: U", "L: S", "U!", "S!")]


def test_context_turns_limits_context_to_newest_turns(study_of: Make, tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", {"context": ["one", "two", "three"], "reply": "four"})
    shown = {n: items_of(study_of(LIKERT, systems={"A": a}, context_turns=n))[0].context for n in (0, 1, 5, "all")}
    assert shown == {0: (), 1: ("three",), 5: ("one", "two", "three"), "all": ("one", "two", "three")}


def test_whole_dialogues_are_paired_in_log_order(study_of: Make, tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", *({"context": [f"a{n}"], "reply": f"A{n}"} for n in (1, 2, 3)))
    b = write(tmp_path / "b.jsonl", *({"context": [f"b{n}", "c"], "reply": f"B{n}"} for n in (1, 2)))
    items = items_of(study_of(PAIRWISE, systems={"A": a, "B": b}, judge="dialogues"))
    assert [(one.context, one.reply, one.other_context, one.other_reply) for one in items] == [
        (("a1",), "A1", ("b1", "c"), "B1"),
        (("a2",), "A2", ("b2", "c"), "B2"),
    ]


def test_whole_dialogue_in_parlai_log_ends_with_last_reply(study_of: Make, tmp_path: Path) -> None:
    dialog = [[{"text": f"q{n}"}, {"text": f"a{n}"}] for n in (1, 2)]
    log = write(tmp_path / "a.jsonl", {"dialog": dialog}, {"dialog": dialog[:1]})
    items = items_of(study_of(LIKERT, systems={"A": log}, judge="dialogues"))
    assert [(one.context, one.reply) for one in items] == [(("q1", "a1", "q2"), "a2"), (("q1",), "a1")]


def test_checks_become_check_items(study_of: Make, write_log: Callable[..., str]) -> None:
    checks = [{"context": ["Hi."], "reply": "Bus.", "expected": {"liking": 1}}]
    *_, last = items_of(study_of(LIKERT, systems={"A": write_log("A", 1)}, checks=checks))
    assert last == Item(
        "check-1", last.subject, "check", "Bus.", ("Hi.",), other_context=("Hi.",), expected=(("liking", 1.0),)
    )


def test_chat_items_cover_items_per_rater(study_of: Make) -> None:
    study = study_of({**LIKERT, "kind": "chat"}, models={"M": "m", "N": "n"}, items_per_rater=3)
    # Three chats with two models: one model comes twice.
    assert [one.subject for one in items_of(study)] == ["M, chat 1", "N, chat 1", "M, chat 2", "N, chat 2"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"ratings_per_system": 5}, "ratings_per_system is 5, but A has 3 item(s) with 1 rating(s) each"),
        ({"ratings_per_system": 7, "ratings_per_item": 2}, "A has 3 item(s) with 2 rating(s) each"),
        ({"systems": {}}, "no systems are named: pass --logs NAME=FILE"),
    ],
)
def test_unreachable_rating_goal_or_no_systems_raises_option_error(
    study_of: Make, write_log: Callable[..., str], keys: dict, message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        items_of(study_of(LIKERT, **{"systems": {"A": write_log("A", 3), "B": write_log("B", 4)}, **keys}))
    assert message in str(caught.value)


def test_unreachable_number_of_chats_raises_option_error(study_of: Make) -> None:
    keys = {"models": {"M": "m", "N": "n"}, "items_per_rater": 4, "ratings_per_system": 7}
    with pytest.raises(OptionError, match=r"but M has 2 item\(s\) with 3 rating\(s\) each"):
        items_of(study_of({**LIKERT, "kind": "chat"}, **keys, ratings_per_item=3))
    assert items_of(study_of({**LIKERT, "kind": "chat"}, **keys))


def test_reachable_ratings_per_system_is_accepted(study_of: Make, write_log: Callable[..., str]) -> None:
    log = write_log("A", 3)
    assert items_of(study_of(LIKERT, systems={"A": log}, ratings_per_system=3))
    assert items_of(study_of(LIKERT, systems={"A": log}, ratings_per_system=50, ratings_per_item="any"))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"pairs": [["A", "C"]]}, "pairs: there is no system 'C'; the systems are A, B"),
        ({"systems": {"A": "a.jsonl"}}, "pairs need two, but there is only A"),
        ({"systems": {"A": "a.jsonl", "B": "c.jsonl"}}, "A and B have no context in common"),
        ({"systems": {"L": "many.jsonl", "L: S": "b.jsonl"}}, "there are two named L: S"),
        (
            {
                "systems": {"check": "a.jsonl", "B": "b.jsonl"},
                "checks": [{"reply": "a", "other_reply": "b", "expected": {"better": 1}}],
            },
            "check is the name of the gold checks: give the system another one",
        ),
    ],
)
def test_inconsistent_logs_raise_option_error(study_of: Make, tmp_path: Path, keys: dict, message: str) -> None:
    write(tmp_path / "a.jsonl", {"context": ["x"], "reply": "a"})
    write(tmp_path / "b.jsonl", {"context": ["x"], "reply": "b"})
    write(tmp_path / "c.jsonl", {"context": ["y"], "reply": "c"})
    write(tmp_path / "many.jsonl", {"context": ["x"], "reply": "a", "system": "S"})
    with pytest.raises(OptionError) as caught:
        items_of(study_of(PAIRWISE, **{"systems": {"A": "a.jsonl", "B": "b.jsonl"}, **keys}))
    assert message in str(caught.value)


def test_gold_without_references_raises_data_error(study_of: Make, write_log: Callable[..., str]) -> None:
    study = study_of(LIKERT, systems={"A": write_log("A", 2, references=False)}, gold=True)
    with pytest.raises(DataError, match=r"gold is true, but the log of A, line 1, has no reference") as caught:
        items_of(study)
    assert str(caught.value).endswith(f"set gold: false in a study file of your own (extends: {study.name})")
