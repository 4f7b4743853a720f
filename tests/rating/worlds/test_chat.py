"""Chatting with models and judging them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from parlai.core.agents import Agent
from scripted_rater import ScriptedRater, run
from tiny_studies import LIKERT

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.messages import LONGEST_REPLY
from parlai_empathy.rating.desk.outcomes import Assignment
from parlai_empathy.rating.export import rating_rows
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.rating.study.study import Study
from parlai_empathy.rating.worlds.chat import ChatThenRateWorld

GOOD = {"id": "good", "text": "Good?", "kind": "choice", "choices": ["yes", "no"], "per_turn": True, "required": False}


class Remembering(Agent):
    """Replies with its name and the number of messages it has been told since it was reset."""

    def __init__(self, name: str) -> None:
        super().__init__({})
        self.name = name
        self.told: list[str] = []

    def reset(self) -> None:
        self.told = []

    def observe(self, observation: Any) -> Any:
        self.told.append(observation["text"])
        return observation

    def self_observe(self, observation: Any) -> None:
        self.told.append(f"({observation['text']})")

    def act(self) -> dict[str, str]:
        return {"id": self.name, "text": f"{self.name} {len(self.told)}"}


@pytest.fixture
def desk(tmp_path: Path, study_of: Callable[..., Study]) -> Desk:
    study = study_of(
        {**LIKERT, "kind": "chat"},
        questions=[GOOD, *LIKERT["questions"]],
        models={"M": "m", "N": "n"},
        items_per_rater=2,
        turns={"least": 2, "most": 4},
    )
    return Desk(open_store(str(tmp_path / "ratings.db")), study)


def talk(desk: Desk, *lines: str | Callable[[str], str]) -> tuple[ScriptedRater, list[Remembering]]:
    rater, models = ScriptedRater(lines), [Remembering("M"), Remembering("N")]
    run(ChatThenRateWorld({"rater": "a"}, [rater, *models], desk))
    return rater, models


def test_rater_chats_with_each_model_and_judges_it(desk: Desk) -> None:
    # Each message is followed by a mark for the reply. The first talk ends by itself after four turns, the maximum.
    rater, _ = talk(desk, "Hello", "yes", "How are you?", "", "4", "Hi", "no", "done", "2")
    rows = list(rating_rows(desk.store, "herons"))
    assert [(row["question"], row["rating"], row["text"]) for row in rows] == [
        ("good", 1, "yes"),
        ("liking", 4, ""),
        ("good", 2, "no"),
        ("liking", 2, ""),
    ]
    assert {row["system"] for row in rows} == {"M", "N"}
    assert [row["turn"] for row in rows] == [2, None, 2, None]
    assert rater.saw("Thank you. Now judge this conversation as a whole.")
    assert not any(one.startswith(("M:", "N:")) for one in rater.seen)  # the model's name is never shown


def test_messages_are_stored_in_order(desk: Desk) -> None:
    talk(desk, "Hello", "", "How are you?", "", "4")
    [found] = desk.answered("a")
    name = found.item.system
    assert [(one.speaker, one.text) for one in desk.messages(found.id, "a")] == [
        ("rater", "Hello"),
        (name, f"{name} 1"),
        ("rater", "How are you?"),
        (name, f"{name} 2"),
    ]


def test_interrupted_chat_resumes_with_its_history(desk: Desk) -> None:
    talk(desk, "Hello", "yes", "quit")
    rater, models = talk(desk, "Again", "", "3", "quit")
    assert rater.saw("You: Hello")
    [found] = desk.answered("a")
    [model] = [one for one in models if one.name == found.item.system]
    assert model.told == ["Hello", f"({found.item.system} 1)", "Again"]
    assert len(desk.messages(found.id, "a")) == 4


def test_question_about_a_turn_is_asked_again_on_resume(desk: Desk) -> None:
    talk(desk, "Hello", "quit")
    talk(desk, "no", "quit")
    talk(desk, "done", "3", "quit")  # asked no more
    assert [(row["question"], row["turn"], row["text"]) for row in rating_rows(desk.store, "herons")] == [
        ("good", 2, "no"),
        ("liking", None, ""),
    ]


def test_chat_continued_in_another_terminal_is_reloaded(desk: Desk) -> None:
    """The rater has meanwhile continued in another terminal."""

    def elsewhere(shown: str) -> str:
        found = desk.next_item("a")
        assert isinstance(found, Assignment)
        desk.say(found.id, "a", 3, "rater", "From elsewhere")
        desk.say(found.id, "a", 4, found.item.system, "Heard")
        return "From here"

    rater, _ = talk(desk, "Hello", "", elsewhere, "", "4", "quit")  # at most four turns
    assert rater.saw("The last message was not kept. Another answer was stored before, and is kept.")
    assert rater.saw("You: From elsewhere")
    [found] = desk.answered("a")
    assert [one.text for one in desk.messages(found.id, "a")][2:] == ["From elsewhere", "Heard"]


def test_rater_excluded_during_chat_is_notified(desk: Desk) -> None:
    def excluded(shown: str) -> str:
        desk.exclude("a", "rude")
        return "Again"

    rater, [first, second] = talk(desk, "Hello", "", excluded, "This is not asked for any more")
    assert rater.saw("The last message was not kept. The rater is excluded.")
    assert rater.saw("There is nothing for you to do now. The rater is excluded.")
    assert "Again" not in first.told + second.told


def test_missing_model_reply_is_given_on_resume(desk: Desk) -> None:
    desk.enrol("a")
    found = desk.next_item("a")
    assert isinstance(found, Assignment)
    desk.say(found.id, "a", 1, "rater", "Are you there?")  # then the program stops
    talk(desk, "", "quit")
    assert [one.text for one in desk.messages(found.id, "a")] == ["Are you there?", f"{found.item.system} 1"]


def test_chat_cannot_end_before_the_minimum_turns(desk: Desk) -> None:
    rater, _ = talk(desk, "done", "Hello", "", "done", "back", "5", "quit")
    assert rater.saw("Please continue: 0 turns so far, of at least 2.")
    assert rater.saw("This is the first question.")
    assert len(desk.answered("a")) == 1


def test_too_long_message_is_asked_for_again(desk: Desk) -> None:
    rater, _ = talk(desk, "x" * 10_001, "back", "", "Hello", "", "quit")
    assert rater.saw("Please write it again: message: it has 10,001 characters")
    assert rater.saw("A message cannot be taken back.")
    found = desk.next_item("a")
    assert isinstance(found, Assignment)
    assert len(desk.messages(found.id, "a")) == 2


def test_long_reply_is_truncated_as_on_the_chat_page(desk: Desk) -> None:
    class Endless(Remembering):
        def act(self) -> dict[str, str]:
            return {"id": self.name, "text": "\0 " + "y" * 20_000}

    rater = ScriptedRater(["Hello", "", "quit"])
    run(ChatThenRateWorld({"rater": "a"}, [rater, Endless("M"), Endless("N")], desk))
    found = desk.next_item("a")
    assert isinstance(found, Assignment)
    assert [one.text for one in desk.messages(found.id, "a")] == ["Hello", "y" * LONGEST_REPLY]
    assert rater.saw(f"Listener: {'y' * LONGEST_REPLY}")


def test_missing_agent_for_a_model_raises_option_error(desk: Desk) -> None:
    with pytest.raises(OptionError, match="models are M, N: expected an agent for each"):
        ChatThenRateWorld({"rater": "a"}, [ScriptedRater([]), Remembering("M")], desk)
