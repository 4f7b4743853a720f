"""The speakers of turns, in a chat and in a task's messages."""

from __future__ import annotations

from parlai_empathy.agents.in_context.dialogue_history import DialogueHistory


def said(spoken: DialogueHistory) -> list[str]:
    """Return the turns, own ones marked with ``>``."""
    return [("> " if turn.is_own else "") + turn.text for turn in spoken.turns]


def test_each_chat_message_is_one_turn() -> None:
    spoken = DialogueHistory(in_chat=True)
    spoken.hear({"text": " I lost my key.\nIn the lake. ", "episode_done": False})
    assert said(spoken) == ["I lost my key.\nIn the lake."]
    spoken.say({"text": "Oh no!"})
    spoken.hear({"text": "Yes.", "episode_done": False})
    assert said(spoken) == ["I lost my key.\nIn the lake.", "> Oh no!", "Yes."]


def test_task_text_has_one_turn_per_line() -> None:
    spoken = DialogueHistory(in_chat=False)
    spoken.hear({"text": "We won!\nWow.\nBy three goals."})
    assert said(spoken) == ["We won!", "> Wow.", "By three goals."]


def test_empty_line_is_dropped_but_keeps_the_alternation() -> None:
    spoken = DialogueHistory(in_chat=False)
    spoken.hear({"text": "We won!\n\nBy three goals.\nWow.\nYes."})
    assert said(spoken) == ["We won!", "By three goals.", "> Wow.", "Yes."]


def test_leading_and_trailing_empty_lines_are_ignored() -> None:
    for text in ("I lost my dog.\n", "\n I lost my dog.\n \n"):
        spoken = DialogueHistory(in_chat=False)
        spoken.hear({"text": text})
        assert said(spoken) == ["I lost my dog."]


def test_history_uses_true_replies_within_an_episode() -> None:
    """As in ParlAI's own agents: the next message follows the true reply."""
    spoken = DialogueHistory(in_chat=False)
    spoken.hear({"text": "a", "eval_labels": ["b"], "episode_done": False})
    spoken.say({"text": "something else"})
    spoken.hear({"text": "c", "eval_labels": ["d"], "episode_done": True})
    assert said(spoken) == ["a", "> b", "c"]


def test_history_restarts_after_episode_done() -> None:
    spoken = DialogueHistory(in_chat=False)
    spoken.hear({"text": "a", "episode_done": True})
    spoken.say({"text": "b"})
    spoken.hear({"text": "c", "episode_done": False})
    assert said(spoken) == ["c"]


def test_agent_may_speak_first() -> None:
    """Like the first agent in self_chat, which gets the opening line as its own turn."""
    spoken = DialogueHistory(in_chat=True)
    spoken.hear({"episode_done": False})
    spoken.say({"text": "I lost my key."})
    spoken.hear({"text": "Oh no!", "episode_done": False})
    assert said(spoken) == ["> I lost my key.", "Oh no!"]


def test_missing_answer_adds_no_turn() -> None:
    spoken = DialogueHistory(in_chat=True)
    spoken.hear({"text": "a"})
    spoken.say({"no_answer": "an empty text"})
    spoken.hear({"text": "b"})
    assert said(spoken) == ["a", "b"]


def test_clear_empties_the_history() -> None:
    spoken = DialogueHistory(in_chat=True)
    spoken.hear({"text": "a"})
    spoken.clear()
    assert said(spoken) == []
