"""Collecting dialogues: which emotions are offered, who may say what, and the exported file."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from full_disk import full_disk
from hypothesis import given
from hypothesis import strategies as st
from tiny_studies import Clock

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.rating.collecting.collected_file import write_collected
from parlai_empathy.rating.collecting.collection import Collection, Conversation, finished
from parlai_empathy.rating.collecting.judgements_file import judgements, judgements_path
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.outcomes import Outcome
from parlai_empathy.rating.export import write_rows
from parlai_empathy.rating.ratings_file import read_ratings
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.study_file import read_study
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS, SelfEvaluation, read_empathetic_dialogues

JUDGED = {"empathy": 5, "relevance": 4, "understandability": 3}


@pytest.fixture
def collection(store: Store, clock: Clock) -> Collection:
    return Collection(Desk(store, read_study("collect_ed"), clock))


def prompt(collection: Collection, rater: str, place: int = 0, situation: str = "I saw a heron.") -> str:
    """Let a person choose one of the offered emotions and return the prompt's id."""
    found = collection.offer(rater)
    assert collection.choose(found.id, rater, found.offered[place], situation) is Outcome.STORED
    return found.id


def talk(collection: Collection, speaker: str, listener: str, turns: int = 4) -> Conversation:
    found = collection.begin(prompt(collection, speaker), listener)
    for turn in range(1, turns + 1):
        rater = speaker if turn % 2 else listener
        assert collection.say(found.id, rater, turn, f"{rater} in turn {turn}, well.") is Outcome.STORED
    return found


# --- emotions: section 3 of the paper --------------------------------------------------------------------------------


def test_offer_has_three_distinct_emotions_and_is_stable(collection: Collection) -> None:
    found = collection.offer("a")
    assert len(set(found.offered)) == 3
    assert set(found.offered) <= set(EMOTIONS)
    assert collection.offer("a") == collection.offer(" a ") == found


def test_new_people_are_offered_least_chosen_emotions(collection: Collection) -> None:
    """New people are offered only emotions that nobody has chosen, until fewer than three of these are left."""
    for number in range(30):
        chosen = Counter(row for row in used(collection))
        offered = collection.offer(f"r{number}").offered
        assert all(chosen[emotion] == 0 for emotion in offered)
        prompt(collection, f"r{number}", place=number % 3)
    assert max(used(collection).values()) == 1
    # Two emotions were never chosen, so the third one offered was chosen once.
    offered = collection.offer("last").offered
    assert sorted(used(collection)[emotion] for emotion in offered) == [0, 0, 1]


def test_emotions_of_excluded_people_are_freed(collection: Collection) -> None:
    """Each of the 32 emotions is chosen once; an exclusion frees two: one told by that person, one told to them."""
    told = {}
    for number in range(32):
        found = collection.offer(f"r{number}")
        told[f"r{number}"] = next(one for one in found.offered if one not in used(collection))
        collection.choose(found.id, f"r{number}", told[f"r{number}"], "I saw a heron.")
        if number == 1:
            collection.begin(found.id, "r0")
    assert set(used(collection).values()) == {1}
    collection.desk.exclude("r0", "rude")
    assert set(collection.offer("new").offered) > {told["r0"], told["r1"]}
    collection.desk.include("r0")
    assert [len({told["r0"], told["r1"]} & set(collection.offer(f"n{n}").offered)) for n in range(9)] != [2] * 9


def test_returning_person_is_offered_emotions_they_chose_least(collection: Collection) -> None:
    mine = Counter()
    for _ in range(32):
        found = collection.offer("a")
        assert [mine[emotion] for emotion in found.offered[:1]] == [0]
        collection.choose(found.id, "a", found.offered[0], "I saw a heron.")
        mine[found.offered[0]] += 1
    assert mine == dict.fromkeys(EMOTIONS, 1)


def test_offer_ties_are_broken_by_least_chosen_overall(collection: Collection) -> None:
    first = collection.offer("a").offered
    prompt(collection, "a")
    for number in range(28):  # 28 others: 28 other emotions
        prompt(collection, f"r{number}")
    # 29 are used once; a has never chosen 31, of which 3 were chosen by nobody.
    never = set(EMOTIONS) - set(used(collection))
    assert len(never) == 3
    assert set(collection.offer("a").offered) == never
    assert first[0] not in never


def used(collection: Collection) -> Counter[str]:
    with collection.desk.store.reading() as t:
        return Counter(row["emotion"] for row in t.rows("SELECT emotion FROM rating_prompts WHERE emotion <> ''"))


def test_concurrent_choices_stay_balanced(collection: Collection) -> None:
    def work(first: int) -> None:
        for number in range(first, 32, 2):
            prompt(collection, f"r{number}", place=random.Random(number).randrange(3))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # An offered emotion was chosen at most once: with fewer than 32 choices there are always three such emotions. The
    # other thread can then bring one to two, and whoever was offered it before that to three.
    assert sum(used(collection).values()) == 32
    assert max(used(collection).values()) <= 3


# --- prompts ---------------------------------------------------------------------------------------------------------


def test_choosing_emotion_not_offered_raises_option_error(collection: Collection) -> None:
    found = collection.offer("a")
    other = next(emotion for emotion in EMOTIONS if emotion not in found.offered)
    with pytest.raises(OptionError, match=f"emotion '{other}' was not offered: choose one of {found.offered[0]}"):
        collection.choose(found.id, "a", other, "I saw a heron.")
    assert collection.choose(found.id, "b", found.offered[0], "I saw a heron.") is Outcome.UNKNOWN
    assert collection.choose(found.id, "a", found.offered[0], "I saw a heron.") is Outcome.STORED
    assert collection.choose(found.id, "a", found.offered[0], "I saw a heron.") is Outcome.REPEATED
    assert collection.choose(found.id, "a", found.offered[1], "I saw a heron.") is Outcome.ALREADY
    assert collection.offer("a").id != found.id


# --- conversations ---------------------------------------------------------------------------------------------------


def test_speaker_and_listener_alternate_turns(collection: Collection) -> None:
    found = collection.begin(prompt(collection, "a"), "b")
    assert (found.speaker, found.listener, found.next_to_speak) == ("a", "b", "a")
    assert collection.say(found.id, "b", 1, "Not yet") is Outcome.UNKNOWN
    assert collection.say(found.id, "c", 1, "Who?") is Outcome.UNKNOWN
    assert collection.say(found.id, "a", 2, "Too far") is Outcome.UNKNOWN
    assert collection.say(found.id, "a", 1, "Hello\nthere") is Outcome.STORED
    assert collection.say(found.id, "a", 1, "Hello there") is Outcome.REPEATED
    assert collection.say(found.id, "a", 1, "Goodbye") is Outcome.ALREADY
    now = collection.conversation(found.id, "b")
    assert now is not None
    assert now.next_to_speak == "b"
    assert [one.text for one in now.messages] == ["Hello there"]
    assert collection.conversation(found.id, "c") is None


def test_conversation_length_limits_are_enforced(collection: Collection) -> None:
    found = talk(collection, "a", "b", turns=3)
    assert collection.end(found.id, "a") is False
    collection.say(found.id, "b", 4, "Four.")
    assert collection.end(found.id, "c") is False
    for turn in range(5, 9):
        collection.say(found.id, "ab"[1 - turn % 2], turn, "More.")
    assert collection.say(found.id, "a", 9, "Too much.") is Outcome.TOO_LATE
    assert collection.end(found.id, "b") is True
    other = talk(collection, "b", "a", turns=4)
    assert collection.end(other.id, "a") is True
    assert collection.say(other.id, "b", 5, "It is over.") is Outcome.TOO_LATE


def test_conversation_ends_at_maximum_turns(collection: Collection) -> None:
    found = talk(collection, "a", "b", turns=7)
    assert finished(collection.desk.store, collection.study) == []
    assert collection.say(found.id, "b", 8, "Eight.", {"distress": True}) is Outcome.STORED
    [(one, _)] = finished(collection.desk.store, collection.study)
    assert one.is_over
    assert [message.details for message in one.messages[-2:]] == [{}, {"distress": True}]
    assert collection.say(found.id, "b", 8, "Eight.") is Outcome.REPEATED


def test_skipped_optional_questions_are_recorded_as_asked(store: Store, clock: Clock, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "title: Herons\nkind: collect\nquestions: [{id: why, kind: text, text: Why, required: false}]\n"
    )
    collection = Collection(Desk(store, read_study(tmp_path / "own.yaml"), clock))
    found = talk(collection, "a", "b")
    assert collection.evaluate(found.id, "a", {}) is Outcome.STORED
    with store.reading() as t:
        assert [(row["rater"], row["text"]) for row in t.rows("SELECT * FROM rating_evaluations")] == [("a", None)]


def test_prompt_has_one_conversation_with_one_listener(collection: Collection) -> None:
    about = prompt(collection, "a")
    found = collection.begin(about, "b")
    assert collection.begin(about, "b") == found
    with pytest.raises(OptionError, match="it already has another listener"):
        collection.begin(about, "c")
    with pytest.raises(OptionError, match="by somebody other than a"):
        collection.begin(about, "a")
    with pytest.raises(OptionError, match="expected one with a situation"):
        collection.begin(collection.offer("c").id, "d")  # nothing was chosen yet


def test_collection_rejects_studies_of_other_kinds(store: Store, clock: Clock, write_log: Callable[..., str]) -> None:
    desk = Desk(store, read_study("humod", systems={"A": write_log("A", 1)}), clock)
    with pytest.raises(OptionError, match="kind is likert: a collection needs kind collect"):
        Collection(desk)


# --- the file --------------------------------------------------------------------------------------------------------


def test_collected_file_is_readable_by_dataset_reader(collection: Collection, tmp_path: Path) -> None:
    first, second = talk(collection, "ann", "bob", turns=4), talk(collection, "bob", "ann", turns=6)
    for one in (first, second):
        collection.end(one.id, "ann")
        collection.evaluate(one.id, "ann", {**JUDGED, "empathy": 1})
        collection.evaluate(one.id, "ann", JUDGED)
    collection.evaluate(first.id, "bob", dict.fromkeys(JUDGED, 2))
    talk(collection, "ann", "bob")  # not ended
    path = tmp_path / "collected.csv"
    assert write_collected(collection.desk.store, collection.study, path) == 2
    one, two = read_empathetic_dialogues(path)
    assert (one.emotion, one.situation) == (first.prompt.emotion, first.prompt.situation)
    assert [(turn.text, turn.worker, turn.is_listener) for turn in one.turns] == [
        ("ann in turn 1, well.", "0", False),
        ("bob in turn 2, well.", "1", True),
        ("ann in turn 3, well.", "0", False),
        ("bob in turn 4, well.", "1", True),
    ]
    assert one.self_evaluations == (SelfEvaluation(5, 4, 3), SelfEvaluation(2, 2, 2))
    assert len(two.turns) == 6
    assert two.turns[0].worker == "1"
    assert two.self_evaluations == ()  # bob has not evaluated it
    assert one.conv_id != two.conv_id
    assert "ann" not in path.read_text().replace("ann in turn", "")  # no name leaves the store


def test_judgements_are_written_whatever_the_questions(store: Store, clock: Clock, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("""extends: collect_ed
questions:
  - {id: empathy, kind: likert, text: 'Did they understand you?'}
  - {id: why, kind: text, text: 'Why?', required: false}
  - {id: fit, kind: choice, text: 'Did it fit?', choices: ["no", "yes"]}
""")
    collection = Collection(Desk(store, read_study(tmp_path / "own.yaml"), clock))
    first = talk(collection, "ann", "bob", turns=4)
    collection.end(first.id, "ann")
    collection.evaluate(first.id, "ann", {"empathy": 4, "why": "She asked.", "fit": "yes"})
    collection.evaluate(first.id, "bob", {"empathy": 2, "fit": "no"})
    collection.evaluate(talk(collection, "bob", "ann").id, "ann", {"empathy": 1, "fit": "no"})  # not ended
    path = judgements_path(tmp_path / "collected.csv")
    assert path == tmp_path / "collected_judgements.csv"
    assert write_rows(path, judgements(collection.desk.store, collection.study)) == 5
    ratings = list(read_ratings(path))
    assert {(one.item, one.rater, one.system, one.question, one.rating, one.text, one.kind) for one in ratings} == {
        ("hit:1_conv:1", "0", "listener", "empathy", 4.0, "", "likert"),
        ("hit:1_conv:1", "0", "listener", "why", None, "She asked.", "text"),
        ("hit:1_conv:1", "0", "listener", "fit", 2.0, "yes", "choice"),
        ("hit:1_conv:1", "1", "speaker", "empathy", 2.0, "", "likert"),
        ("hit:1_conv:1", "1", "speaker", "fit", 1.0, "no", "choice"),
    }
    write_collected(collection.desk.store, collection.study, tmp_path / "collected.csv")
    assert [one.conv_id for one in read_empathetic_dialogues(tmp_path / "collected.csv")] == ["hit:1_conv:1"]


def test_choices_of_an_earlier_version_are_no_self_evaluation(store: Store, clock: Clock, tmp_path: Path) -> None:
    """The study first asked for choices, and asks for points under the same ids by now."""
    choices = "".join(f"  - {{id: {name}, kind: choice, text: Was it, choices: [good, bad]}}\n" for name in JUDGED)
    (tmp_path / "own.yaml").write_text(f"extends: collect_ed\nname: collect_ed\nquestions:\n{choices}")
    former = Collection(Desk(store, read_study(tmp_path / "own.yaml"), clock))
    found = talk(former, "ann", "bob")
    former.end(found.id, "ann")
    for rater in ("ann", "bob"):
        former.evaluate(found.id, rater, dict.fromkeys(JUDGED, "bad"))
    study = Desk(store, read_study("collect_ed"), clock, new_version=True).study
    write_collected(store, study, tmp_path / "x.csv")
    [dialogue] = read_empathetic_dialogues(tmp_path / "x.csv")
    assert dialogue.self_evaluations == ()


def test_conversations_of_excluded_people_are_not_exported(collection: Collection, tmp_path: Path) -> None:
    collection.end(talk(collection, "a", "b").id, "a")
    collection.desk.exclude("b", "not English")
    with pytest.raises(NotComputableError, match="the study collect_ed has no finished conversation"):
        write_collected(collection.desk.store, collection.study, tmp_path / "x.csv")
    collection.desk.include("b")
    assert write_collected(collection.desk.store, collection.study, tmp_path / "x.csv") == 1
    with pytest.raises(OptionError, match="cannot be written"):
        write_collected(collection.desk.store, collection.study, tmp_path / "nowhere" / "x.csv")


def test_full_disk_keeps_previous_file(collection: Collection, tmp_path: Path) -> None:
    collection.end(talk(collection, "a", "b").id, "a")
    (path := tmp_path / "x.csv").write_text("former")
    with full_disk(), pytest.raises(OptionError, match="cannot be written"):
        write_collected(collection.desk.store, collection.study, path)
    assert path.read_text() == "former"
    assert [one for one in tmp_path.iterdir() if one.name.startswith("x.")] == [path]


@given(text=st.text(min_size=1, max_size=60))
def test_collected_text_round_trips_through_file(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    from parlai_empathy.rating.collecting.collected_file import conversation_lines
    from parlai_empathy.rating.collecting.prompts import Prompt
    from parlai_empathy.rating.collecting.text_rules import one_line
    from parlai_empathy.rating.desk.messages import Said
    from parlai_empathy.tasks.empathetic_dialogues.reader import COLUMNS

    try:
        said = one_line(text, "message")
    except OptionError:
        return
    if "_comma_" in said:
        return  # the file format cannot represent it
    one = Conversation(
        "x", 1, Prompt("p", "a", (), "proud", said), "a", "b", True, (Said(1, "speaker", said, {}, 0.0),)
    )
    path = tmp_path_factory.mktemp("said") / "x.csv"
    lines = conversation_lines(one, {}, [], {"a": 0, "b": 1})
    path.write_text("\n".join([",".join(COLUMNS), *lines, ""]), encoding="utf-8", newline="\n")
    [dialogue] = read_empathetic_dialogues(path)
    assert [turn.text for turn in dialogue.turns] == [said]
    assert dialogue.situation == said
