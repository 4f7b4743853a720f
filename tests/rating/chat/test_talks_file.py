"""Conversations exported to a file beside their ratings."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from full_disk import full_disk
from tiny_studies import LIKERT, Clock

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.chat.talks_file import talks_path, write_talks
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.outcomes import Assignment
from parlai_empathy.rating.export import rating_rows, write_export
from parlai_empathy.rating.ratings_file import by_question, read_ratings
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.study import Study
from parlai_empathy.scoring.logs import read_replies_log

Make = Callable[..., Study]


def talk(desk: Desk, rater: str, *texts: str) -> str:
    found = desk.next_item(rater)
    assert isinstance(found, Assignment)
    for turn, text in enumerate(texts, start=1):
        desk.say(found.id, rater, turn, "rater" if turn % 2 else "M", text, {"distress": True} if turn == 1 else {})
    return found.id


@pytest.fixture
def desk(store: Store, study_of: Make, clock: Clock) -> Desk:
    clock.now = 0.0
    return Desk(store, study_of({**LIKERT, "kind": "chat"}, models={"M": "m"}), clock)


def test_exported_talks_match_item_names_of_ratings(desk: Desk, tmp_path: Path) -> None:
    id = talk(desk, "ann", "Oh, a heron ☘!", "Where?")
    desk.answer(id, "ann", {"liking": 4})
    [row] = rating_rows(desk.store, "herons")
    assert write_talks(desk.store, "herons", tmp_path / "x.jsonl") == 1
    record = json.loads((tmp_path / "x.jsonl").read_text(encoding="utf-8"))
    when = "1970-01-01T00:00:00.000+00:00"
    assert record == {
        **{key: row[key] for key in ("item", "system", "rater", "study", "version", "excluded")},
        "dialog": [
            [
                {"id": "rater", "text": "Oh, a heron ☘!", "turn": 1, "when": when, "distress": True},
                {"id": "M", "text": "Where?", "turn": 2, "when": when},
            ]
        ],
    }


def test_rated_turns_have_the_names_of_the_logged_replies(store: Store, study_of: Make, tmp_path: Path) -> None:
    apt = {"id": "apt", "text": "Apt?", "kind": "likert", "per_turn": True}
    study = study_of({**LIKERT, "kind": "chat"}, questions=[apt, *LIKERT["questions"]], models={"M": "m"})
    desk = Desk(store, study)
    id = talk(desk, "ann", "Hi.", "Hello.", "A heron!", "Where?")
    for turn, points in ((2, 5), (4, 1)):
        desk.mark(id, "ann", turn, {"apt": points})
    write_export(store, "herons", tmp_path / "x.csv")
    write_talks(store, "herons", tmp_path / "x.jsonl")
    rated = by_question(read_ratings(tmp_path / "x.csv"))["apt"]
    assert {one.reply: rated[one.item] for one in read_replies_log(tmp_path / "x.jsonl")} == {
        "Hello.": [5.0],
        "Where?": [1.0],
    }


def test_exported_talks_are_readable_as_a_log(desk: Desk, clock: Clock, tmp_path: Path) -> None:
    talk(desk, "ann", "Hi.", "Hello.", "A heron!", "Where?")
    clock.now += 1
    talk(desk, "bob", "Well.")  # not answered yet
    talk(desk, "cid", "Rude.", "Well!")
    desk.exclude("cid", "rude")
    desk.enrol("dan")
    assert write_talks(desk.store, "herons", tmp_path / "x.jsonl") == 2
    assert [(one.context, one.reply, bool(one.no_answer)) for one in read_replies_log(tmp_path / "x.jsonl")] == [
        (("Hi.",), "Hello.", False),
        (("Hi.", "Hello.", "A heron!"), "Where?", False),
        (("Well.",), "", True),
    ]


def test_talks_of_excluded_people_are_exported_on_request_and_not_scored(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.info", told.append)
    for rater in ("ann", "bob"):
        talk(desk, rater, "Hi.", f"Hello, {rater}.")
    desk.exclude("bob", "rude")
    path = tmp_path / "x.jsonl"
    for excluded, reasons in ((False, [""]), (True, ["", "rude"])):
        assert write_talks(desk.store, "herons", path, excluded) == len(reasons)
        assert sorted(json.loads(line)["excluded"] for line in path.read_text().splitlines()) == reasons
        assert [one.reply for one in read_replies_log(path)] == ["Hello, ann."]
    assert told == [f"{path}: left out 1 conversation(s) with people who were excluded"]


def test_full_disk_keeps_previous_file(desk: Desk, tmp_path: Path) -> None:
    talk(desk, "ann", "Hi.", "Hello.")
    (path := tmp_path / "x.jsonl").write_text("former")
    with full_disk(), pytest.raises(OptionError, match="cannot be written"):
        write_talks(desk.store, "herons", path)
    assert path.read_text() == "former"
    assert [one for one in tmp_path.iterdir() if one.name.startswith("x.")] == [path]


def test_talks_path_is_beside_ratings_file(store: Store, tmp_path: Path) -> None:
    assert talks_path("some/marks.csv") == Path("some/marks_talks.jsonl")
    with pytest.raises(OptionError, match="cannot be written"):
        write_talks(store, "herons", tmp_path / "nowhere" / "x.jsonl")
