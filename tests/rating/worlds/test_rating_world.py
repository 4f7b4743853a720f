"""Raters in ParlAI's worlds: one question after another, forwards and backwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scripted_rater import ScriptedRater, run
from tiny_studies import LIKERT, PAIRWISE, Clock

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.export import rating_rows
from parlai_empathy.rating.storage.store import Store, open_store
from parlai_empathy.rating.study.study import Study
from parlai_empathy.rating.study.study_file import STUDIES, read_study
from parlai_empathy.rating.worlds import rating_world
from parlai_empathy.rating.worlds.likert import LikertRatingWorld
from parlai_empathy.rating.worlds.pairwise import PairwiseWorld
from parlai_empathy.rating.worlds.rating_world import RatingWorld

Make = Callable[..., Study]
Log = Callable[..., str]
QUESTIONS = [
    {"id": "liking", "text": "Do you like it?", "kind": "likert", "labels": {1: "no", 5: "yes"}},
    {"id": "why", "text": "Why?", "kind": "text", "required": False},
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "ratings.db"))


@pytest.fixture
def desk(store: Store, study_of: Make, write_log: Log) -> Desk:
    """Three items, two questions each, in the log's order."""
    keys = {"instructions": "Look at birds.", "order": "listed", "completion": {"text": "Bye!", "code": "C0DE"}}
    return Desk(store, study_of(LIKERT, questions=QUESTIONS, systems={"A": write_log("A", 3)}, **keys))


def rate(desk: Desk, *lines: Any, world: type[RatingWorld] = LikertRatingWorld, name: str = "a") -> ScriptedRater:
    rater = ScriptedRater(lines)
    run(world({"rater": name}, [rater], desk))
    return rater


def stored(desk: Desk) -> list[tuple[str, str, float | None, str]]:
    return [(r["item"], r["question"], r["rating"], r["text"]) for r in rating_rows(desk.store, desk.study.name)]


def test_rater_answers_all_questions(desk: Desk) -> None:
    rater = rate(desk, "4", "soft", "1", "", "5", "loud")
    assert stored(desk) == [
        ("1", "liking", 4, ""),
        ("1", "why", None, "soft"),
        ("2", "liking", 1, ""),
        ("3", "liking", 5, ""),
        ("3", "why", None, "loud"),
    ]
    assert rater.seen[0].startswith("study: Herons\n======\n\nLook at birds.")
    assert rater.seen[1] == "study:    A: I saw a heron today, number 1.\n > B: A says 1."
    assert rater.seen[2] == "study: [1 of 3]\nDo you like it?\n   1 to 5: 1 = no, 5 = yes"
    assert rater.seen[3] == "study: [1 of 3]\nWhy? (You may leave this open.)"
    assert rater.seen[-1] == "study: Bye!\nYour code: C0DE"
    assert sum("Look at birds" in one for one in rater.seen) == 1


def test_invalid_answers_are_asked_again_with_a_reason(desk: Desk) -> None:
    rater = rate(desk, "6", "good", "3", "x" * 2001, "because", "quit")
    assert stored(desk) == [("1", "liking", 3, ""), ("1", "why", None, "because")]
    again = [one for one in rater.seen if "Please answer again" in one]
    assert again == [
        "study: Please answer again: '6' is not a valid answer: expected a number from 1 to 5 (1 = no, 5 = yes).",
        "study: Please answer again: 'good' is not a valid answer: expected a number from 1 to 5 (1 = no, 5 = yes).",
        "study: Please answer again: the text has 2,001 characters: expected a text of 1 to 2,000 characters.",
    ]


def test_number_typed_is_the_position_of_a_choice(store: Store, study_of: Make, write_log: Log) -> None:
    """Even if another choice is called by that number."""
    questions = [{"id": "birds", "text": "How many birds?", "kind": "choice", "choices": ["0", "1", "many"]}]
    rater = rate(Desk(store, study_of(LIKERT, questions=questions, systems={"A": write_log("A", 3)})), "1", "2", "many")
    assert "   1  0\n   2  1\n   3  many" in rater.seen[2]
    assert [(row["rating"], row["text"]) for row in rating_rows(store, "herons")] == [(1, "0"), (2, "1"), (3, "many")]


def test_rating_resumes_at_first_unfinished_item(desk: Desk) -> None:
    rate(desk, "4", "soft", "2", "quit")
    assert len(stored(desk)) == 2  # unfinished items are not stored
    rater = rate(desk, "1", "thin", "5", "loud")
    assert rater.saw("[2 of 3]")
    assert [row[:3] for row in stored(desk) if row[1] == "liking"] == [
        ("1", "liking", 4),
        ("2", "liking", 1),
        ("3", "liking", 5),
    ]


def test_end_of_input_quits(desk: Desk) -> None:
    rater = rate(desk, "4")
    assert rater.seen[-1].startswith("study: Goodbye.")
    assert stored(desk) == []


def test_stop_iteration_quits(desk: Desk) -> None:
    def stop(seen: str) -> str:
        raise StopIteration

    rater = rate(desk, "4", stop)
    assert rater.seen[-1].startswith("study: Goodbye.")


def test_back_returns_to_previous_question(desk: Desk) -> None:
    rate(desk, "4", "back", "2", "soft", "quit")
    assert stored(desk) == [("1", "liking", 2, ""), ("1", "why", None, "soft")]


def test_back_returns_to_previous_item(desk: Desk) -> None:
    # From the second item's first question back to the first item, which is answered again; then the second item.
    rater = rate(desk, "4", "soft", "back", "5", "softer", "1", "thin", "quit")
    assert {row[:2]: row[2:] for row in stored(desk)} == {
        ("1", "liking"): (5, ""),
        ("1", "why"): (None, "softer"),
        ("2", "liking"): (1, ""),
        ("2", "why"): (None, "thin"),
    }
    assert sum("A says 1." in one for one in rater.seen) == 2


def test_rating_time_is_summed_over_all_visits_to_an_item(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(rating_world, "time", SimpleNamespace(monotonic=clock))

    def after(seconds: float, says: str) -> Callable[[str], str]:
        def act(seen: str) -> str:
            clock.now += seconds
            return says

        return act

    def seconds() -> dict[str, float]:
        return {row["item"]: row["seconds"] for row in rating_rows(desk.store, desk.study.name)}

    first = [after(2, "4"), after(1, "soft")]
    rate(desk, *first, after(5, "back"), after(10, "5"), after(0, "softer"), after(20, "1"), after(0, "thin"), "quit")
    assert seconds() == {"1": 13, "2": 25}
    rate(desk, after(100, "back"), after(1000, "5"), after(0, "thick"), "quit")  # another day
    assert seconds() == {"1": 13, "2": 1025}


def test_back_crosses_several_items_and_stops_at_the_first(desk: Desk) -> None:
    rater = rate(desk, "4", "a", "3", "b", "back", "back", "back", "1", "c", "2", "d", "quit")
    assert rater.saw("This is the first question.")
    assert {row[:2]: row[2:] for row in stored(desk)} == {
        ("1", "liking"): (1, ""),
        ("1", "why"): (None, "c"),
        ("2", "liking"): (3, ""),
        ("2", "why"): (None, "b"),
        ("3", "liking"): (2, ""),
        ("3", "why"): (None, "d"),
    }


def test_consent_is_asked_first_and_only_once(store: Store, study_of: Make, write_log: Log) -> None:
    desk = Desk(store, study_of(LIKERT, systems={"A": write_log("A", 2)}, consent="Do you agree?"))
    refused = rate(desk, "no", "hm", "quit")
    assert sum("Do you agree?" in one for one in refused.seen) == 3
    assert not refused.saw("heron")
    agreed = rate(desk, "yes", "4", "quit")
    assert agreed.seen[0].startswith("study: Do you agree?")
    assert len(stored(desk)) == 1
    assert not rate(desk, "quit").saw("Do you agree?")


def test_excluded_rater_is_notified(desk: Desk) -> None:
    rate(desk, "4", "a", "quit")
    desk.exclude("a", "test")
    assert rate(desk).seen[-1] == "study: There is nothing for you to do now. The rater is excluded."


def test_late_answer_is_rejected_with_a_message(desk: Desk) -> None:
    def dawdle(seen: str) -> str:
        desk.clock = lambda: 4e9
        for name in "bc":  # until somebody else has a's item
            desk.next_item(name)
        return "soft"

    rater = rate(desk, "4", dawdle, "quit")
    reason = "The item went to somebody else or was given back, or the study has changed."
    assert rater.saw(f"This answer is not kept. {reason}")


def test_pairwise_answers_map_from_positions_to_systems(store: Store, study_of: Make, write_log: Log) -> None:
    desk = Desk(store, study_of(PAIRWISE, systems={"A": write_log("A", 4), "B": write_log("B", 4)}))

    def prefer_a(seen: str) -> str:
        item = seen.rsplit("I saw a heron", 1)[1]
        return "1" if item.index("A says") < item.index("B says") else "2"

    rater = rate(desk, prefer_a, prefer_a, prefer_a, "0", world=PairwiseWorld)
    assert sorted(row[2] or 0 for row in stored(desk)) == [0, 1, 1, 1]
    assert rater.saw(" 1 B: ")
    assert rater.seen[2] == "study: [1 of 4]\nWhich is better?\n   1  the first\n   2  the second\n   0  no difference"


def test_whole_dialogues_are_shown_one_below_the_other(store: Store, study_of: Make, write_log: Log) -> None:
    study = study_of(PAIRWISE, systems={"A": write_log("A", 1), "B": write_log("B", 1)}, judge="dialogues")
    rater = rate(Desk(store, study), "1", world=PairwiseWorld)
    assert rater.seen[1].startswith("study: The first:\n   A: I saw a heron today, number 1.\n   B: ")
    assert "\n\nThe second:\n   A: I saw" in rater.seen[1]


def test_roles_alternate_backwards_from_the_reply(store: Store, study_of: Make, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"context": ["one", "two", "three"], "reply": ""}\n')
    rater = rate(Desk(store, study_of(LIKERT, systems={"A": "a.jsonl"})), "quit")
    assert rater.seen[1] == "study:    A: one\n   B: two\n   A: three\n > B: (says nothing)"


@pytest.mark.parametrize("name", [name for name in STUDIES if read_study(name).kind in ("likert", "pairwise")])
def test_built_in_studies_can_be_rated(name: str, store: Store, write_log: Log) -> None:
    study = read_study(name, systems={"A": write_log("A", 100), "B": write_log("B", 100)})
    world = {"likert": LikertRatingWorld, "pairwise": PairwiseWorld}[study.kind]
    desk = Desk(store, study)
    a_page = ["I would say so" if question.kind == "text" else "1" for question in study.page_questions]
    rater = rate(desk, "yes", *a_page * study.items_per_rater, world=world)
    assert rater.saw("Thank you very much!")
    assert len(stored(desk)) == len(study.page_questions) * study.items_per_rater


def test_blanks_around_rater_name_are_ignored(desk: Desk) -> None:
    rate(desk, "4", "soft", name=" a ")
    assert [one.id for one in desk.raters()] == ["a"]
    assert len(stored(desk)) == 2
    with pytest.raises(OptionError, match="expected a name of 1 to 200 characters"):
        rate(desk, name=" ")


def test_world_rejects_studies_of_another_kind(desk: Desk) -> None:
    with pytest.raises(OptionError, match="kind is likert: PairwiseWorld is for pairwise"):
        PairwiseWorld({"rater": "a"}, [ScriptedRater([])], desk)
