"""What a conversation has said, and replies that do not repeat it."""

from __future__ import annotations

from parlai.core.dict import DictionaryAgent
from parlai.core.message import Message
from parlai.core.opt import Opt

from parlai_empathy.agents.retrieval.conversation import Conversation, without_repeats


def test_everything_said_is_known_until_the_conversation_ends() -> None:
    history = Conversation(Opt(), size=2, dict_agent=DictionaryAgent(Opt(dict_maxexs=0)))
    for number in range(4):
        history.update_history(Message({"text": f"message {number}\nsecond line {number}"}))
        history.add_reply(f"reply {number}")
    assert len(history.history_raw_strings) == 2
    assert history.said == {f"{what} {n}" for what in ("message", "second line", "reply") for n in range(4)}
    history.reset()
    assert history.said == set()


def test_repeats_are_left_out_unless_nothing_else_is_left() -> None:
    messages = [{"said": {"a", "x"}}, {"said": {"b"}}, {"said": {"a", "b"}}]
    assert without_repeats([["a", "b"], ["a", "b"], ["a", "b"]], messages) == [["b"], ["a"], ["a", "b"]]
