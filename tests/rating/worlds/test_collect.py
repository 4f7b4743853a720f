"""Two people collect dialogues in ParlAI's world."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scripted_rater import ScriptedRater, run

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.collecting.collected_file import write_collected
from parlai_empathy.rating.collecting.collection import Collection
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.rating.study.study_file import read_study
from parlai_empathy.rating.worlds.collect import CollectEmpatheticWorld
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS, SelfEvaluation, read_empathetic_dialogues


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return Collection(Desk(open_store(str(tmp_path / "ratings.db")), read_study("collect_ed")))


def collect(collection: Collection, *scripts: list[str]) -> list[ScriptedRater]:
    raters = [ScriptedRater(script) for script in scripts]
    run(CollectEmpatheticWorld({"raters": ["ann", "bob"]}, raters, collection))
    return raters


ANN = ["yes", "1", "A heron stood in my garden, quite still.", "You will not believe this.", "In my garden!", "done"]
BOB = ["yes", "2", "I fell into the pond. It was cold!", "What?", "A heron?", "5", "5", "4"]


def test_second_conversation_swaps_roles(collection: Collection, tmp_path: Path) -> None:
    # First talk: ann, bob, ann, bob, and ann ends it; ann judges, then bob. Second talk: bob begins, up to 8 turns.
    ann = [*ANN, "4", "4", "5", *(f"ann {n}" for n in range(4)), "3", "3", "3"]
    bob = [*BOB, *(f"bob {n}" for n in range(4)), "1", "2", "3"]
    raters = collect(collection, ann, bob)
    assert write_collected(collection.desk.store, collection.study, tmp_path / "x.csv") == 2
    first, second = read_empathetic_dialogues(tmp_path / "x.csv")
    assert [turn.text for turn in first.turns] == ["You will not believe this.", "What?", "In my garden!", "A heron?"]
    assert [turn.text for turn in second.turns][:3] == ["bob 0", "ann 0", "bob 1"]
    assert len(second.turns) == 8
    assert first.situation == "A heron stood in my garden, quite still."
    assert second.situation == "I fell into the pond. It was cold!"
    assert {first.emotion, second.emotion} <= set(EMOTIONS)
    # The Speaker's judgement of the Listener comes first.
    assert first.self_evaluations == (SelfEvaluation(4, 4, 5), SelfEvaluation(5, 5, 4))
    assert second.self_evaluations == (SelfEvaluation(1, 2, 3), SelfEvaluation(3, 3, 3))
    assert all(rater.seen[-1].startswith("study: That was all.") for rater in raters)


def test_situation_is_hidden_from_the_other_rater(collection: Collection) -> None:
    raters = collect(collection, ANN, BOB)
    for rater, others in zip(raters, (BOB, ANN), strict=True):
        assert not rater.saw(others[2])
    assert raters[0].saw("You are the Speaker. Talk about your situation, in which you felt")
    assert raters[1].saw("You are the Listener.")
    assert raters[1].saw("Speaker: You will not believe this.")
    assert raters[0].saw("Listener: What?")


def test_invalid_input_is_asked_for_again(collection: Collection) -> None:
    ann = [
        "no",
        "yes",
        "4",
        "furry",
        "3",
        "One. Two. Three. Four.",
        "I saw a heron.",
        "done",
        "x" * 1001,
        "back",
        "Hello",
        "quit",
    ]
    raters = collect(collection, ann, BOB)
    assert raters[0].saw("Please write it again: situation: it has 4 sentences: describe it in 1 to 3.")
    assert raters[0].saw("Please continue: 0 turns so far, of at least 4.")
    assert raters[0].saw("Please write it again: message: it has 1,001 characters")
    assert raters[0].saw("What was said cannot be taken back.")
    assert not raters[1].saw("Speaker: back")
    assert sum("Choose a feeling" in one for one in raters[0].seen) == 3


def test_quitting_ends_the_session_for_both(collection: Collection, tmp_path: Path) -> None:
    raters = collect(collection, [*ANN, "4", "4", "5", "quit"], [*BOB, "And now me."])
    assert all(rater.saw("Somebody has quit: the session ends here.") for rater in raters)
    assert write_collected(collection.desk.store, collection.study, tmp_path / "x.csv") == 1


def test_collection_requires_two_different_raters(collection: Collection) -> None:
    make: Callable[..., object] = CollectEmpatheticWorld
    for names in (["ann"], ["ann", "ann"], ["ann", " ann"]):
        with pytest.raises(OptionError, match="a collection needs two people with different names"):
            make({"raters": names}, [ScriptedRater([])] * len(names), collection)
