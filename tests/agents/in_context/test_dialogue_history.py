"""The speakers of turns, in a chat and in a task's messages."""

from __future__ import annotations

from parlai_empathy.agents.in_context.dialogue_history import DialogueHistory


def said(history: DialogueHistory) -> list[str]:
    """Return the turns, own ones marked with ``>``."""
    return [("> " if turn.is_own else "") + turn.text for turn in history.turns]


def test_each_chat_message_is_one_turn() -> None:
    history = DialogueHistory(in_chat=True)
    history.hear({"text": " I lost my key.\nIn the lake. ", "episode_done": False})
    assert said(history) == ["I lost my key.\nIn the lake."]
    history.say({"text": "Oh no!"})
    history.hear({"text": "Yes.", "episode_done": False})
    assert said(history) == ["I lost my key.\nIn the lake.", "> Oh no!", "Yes."]


def test_task_text_has_one_turn_per_line() -> None:
    history = DialogueHistory(in_chat=False)
    history.hear({"text": "We won!\nWow.\nBy three goals."})
    assert said(history) == ["We won!", "> Wow.", "By three goals."]


def test_empty_line_is_dropped_but_keeps_the_alternation() -> None:
    history = DialogueHistory(in_chat=False)
    history.hear({"text": "We won!\n\nBy three goals.\nWow.\nYes."})
    assert said(history) == ["We won!", "By three goals.", "> Wow.", "Yes."]


def test_leading_and_trailing_empty_lines_are_ignored() -> None:
    for text in ("I lost my dog.\n", "\n I lost my dog.\n \n"):
        history = DialogueHistory(in_chat=False)
        history.hear({"text": text})
        assert said(history) == ["I lost my dog."]


def test_history_uses_true_replies_within_an_episode() -> None:
    """As in ParlAI's own agents: the next message follows the true reply."""
    history = DialogueHistory(in_chat=False)
    history.hear({"text": "a", "eval_labels": ["b"], "episode_done": False})
    history.say({"text": "something else"})
    history.hear({"text": "c", "eval_labels": ["d"], "episode_done": True})
    assert said(history) == ["a", "> b", "c"]


def test_history_restarts_after_episode_done() -> None:
    history = DialogueHistory(in_chat=False)
    history.hear({"text": "a", "episode_done": True})
    history.say({"text": "b"})
    history.hear({"text": "c", "episode_done": False})
    assert said(history) == ["c"]


def test_agent_may_speak_first() -> None:
    """Like the first agent in self_chat, which gets the opening line as its own turn."""
    history = DialogueHistory(in_chat=True)
    history.hear({"episode_done": False})
    history.say({"text": "I lost my key."})
    history.hear({"text": "Oh no!", "episode_done": False})
    assert said(history) == ["> I lost my key.", "Oh no!"]


def test_missing_answer_adds_no_turn() -> None:
    history = DialogueHistory(in_chat=True)
    history.hear({"text": "a"})
    history.say({"no_answer": "an empty text"})
    history.hear({"text": "b"})
    assert said(history) == ["a", "b"]


def test_clear_empties_the_history() -> None:
    history = DialogueHistory(in_chat=True)
    history.hear({"text": "a"})
    history.clear()
    assert said(history) == []
