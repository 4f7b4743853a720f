"""The speakers of turns, in a chat and in a task's messages."""

from __future__ import annotations

from parlai_empathy.agents.in_context.dialogue_history import DialogueHistory


def said(spoken: DialogueHistory) -> list[str]:
    """Return the turns, own ones marked with ``>``."""
    return [("> " if turn.is_own else "") + turn.text for turn in spoken.turns]


def test_a_chat_goes_turn_by_turn() -> None:
    spoken = DialogueHistory(in_chat=True)
    spoken.hear({"text": " I lost my key.\nIn the lake. ", "episode_done": False})
    assert said(spoken) == ["I lost my key.\nIn the lake."]
    spoken.say({"text": "Oh no!"})
    spoken.hear({"text": "Yes.", "episode_done": False})
    assert said(spoken) == ["I lost my key.\nIn the lake.", "> Oh no!", "Yes."]


def test_a_tasks_text_has_a_turn_a_line() -> None:
    spoken = DialogueHistory(in_chat=False)
    spoken.hear({"text": "We won!\nWow.\nBy three goals."})
    assert said(spoken) == ["We won!", "> Wow.", "By three goals."]


def test_an_empty_line_keeps_its_place_and_says_nothing() -> None:
    spoken = DialogueHistory(in_chat=False)
    spoken.hear({"text": "We won!\n\nBy three goals.\nWow.\nYes."})
    assert said(spoken) == ["We won!", "By three goals.", "> Wow.", "Yes."]


def test_empty_lines_at_the_ends_are_no_turns() -> None:
    for text in ("I lost my dog.\n", "\n I lost my dog.\n \n"):
        spoken = DialogueHistory(in_chat=False)
        spoken.hear({"text": text})
        assert said(spoken) == ["I lost my dog."]


def test_an_episode_of_several_messages_has_the_true_replies() -> None:
    """As in ParlAI's own agents: the next message follows the true reply."""
    spoken = DialogueHistory(in_chat=False)
    spoken.hear({"text": "a", "eval_labels": ["b"], "episode_done": False})
    spoken.say({"text": "something else"})
    spoken.hear({"text": "c", "eval_labels": ["d"], "episode_done": True})
    assert said(spoken) == ["a", "> b", "c"]


def test_after_the_end_a_new_one_begins() -> None:
    spoken = DialogueHistory(in_chat=False)
    spoken.hear({"text": "a", "episode_done": True})
    spoken.say({"text": "b"})
    spoken.hear({"text": "c", "episode_done": False})
    assert said(spoken) == ["c"]


def test_one_can_begin_oneself() -> None:
    """Like the first agent in self_chat, which gets the opening line as its own turn."""
    spoken = DialogueHistory(in_chat=True)
    spoken.hear({"episode_done": False})
    spoken.say({"text": "I lost my key."})
    spoken.hear({"text": "Oh no!", "episode_done": False})
    assert said(spoken) == ["> I lost my key.", "Oh no!"]


def test_a_reply_that_was_none_is_no_turn() -> None:
    spoken = DialogueHistory(in_chat=True)
    spoken.hear({"text": "a"})
    spoken.say({"no_answer": "an empty text"})
    spoken.hear({"text": "b"})
    assert said(spoken) == ["a", "b"]


def test_it_can_be_cleared() -> None:
    spoken = DialogueHistory(in_chat=True)
    spoken.hear({"text": "a"})
    spoken.clear()
    assert said(spoken) == []
