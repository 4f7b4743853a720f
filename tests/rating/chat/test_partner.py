"""One model, many conversations: each has its own clone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from parlai.core.agents import create_agent, create_agent_from_model_file
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from remembering_agent import RememberingAgent
from tiny_parts import train_base

from parlai_empathy.rating.chat.partner import Partner
from parlai_empathy.rating.desk.messages import LONGEST_REPLY, Said


def said(*texts: str) -> list[Said]:
    """Return messages, alternately by the person and by the model."""
    return [
        Said(number, "rater" if number % 2 else "heron", text, {}, 0.0) for number, text in enumerate(texts, start=1)
    ]


def talk(partner: Partner, name: str, messages: Sequence[str]) -> list[str]:
    texts: list[str] = []
    for message in messages:
        texts.append(message)
        texts.append(partner.reply(name, said(*texts)))
    return texts


def test_conversations_are_independent() -> None:
    partner = Partner(RememberingAgent())
    assert partner.reply("a", said("one")) == "one"
    assert partner.reply("b", said("two")) == "two"
    assert partner.reply("a", said("one", "one", "three")) == "one / (one) / three"


def test_evicted_conversation_is_replayed() -> None:
    partner = Partner(RememberingAgent(), most=1)
    partner.reply("a", said("one"))
    partner.reply("b", said("two"))  # evicts a's clone
    assert partner.reply("a", said("one", "one", "three")) == "one / (one) / three"


def test_clone_with_outdated_history_is_replaced() -> None:
    partner = Partner(RememberingAgent())
    partner.reply("a", said("one"))
    assert partner.reply("a", said("one", "ONE", "two", "TWO", "three")) == "one / (ONE) / two / (TWO) / three"


def test_forgotten_conversation_is_replayed() -> None:
    partner = Partner(RememberingAgent())
    assert partner.reply("a", said("Hello")) == "Hello"
    partner.forget("a")
    partner.forget("a")
    assert partner.reply("a", said("Hello", "Other", "Again")) == "Hello / (Oth) / Again"


def test_failed_clone_is_replaced() -> None:
    agent = RememberingAgent()
    partner = Partner(agent)
    partner.reply("a", said("one"))
    with pytest.raises(ValueError, match="cannot answer"):
        partner.reply("a", said("one", "one", "FAIL"))
    agent.go_on.set()
    assert partner.reply("a", said("one", "one", "FAIL")) == "one / (one) / FAIL"


def test_reply_is_cleaned_and_truncated() -> None:
    partner = Partner(RememberingAgent())
    assert partner.reply("a", said("SAY a\0b ")) == "ab"
    assert len(partner.reply("b", said("SAY " + "x" * 20_000))) == LONGEST_REPLY


def test_partial_replies_are_cleaned_and_truncated() -> None:
    class Slowly(RememberingAgent):
        def act_streaming(self, say: Callable[[str], None]) -> dict[str, Any]:
            say(" a\0b ")
            say("x" * 20_000)
            return {"text": " a\0b c"}

    shown: list[str] = []
    assert Partner(Slowly()).reply("a", said("one"), shown.append) == "ab c"
    assert shown == ["ab", "x" * LONGEST_REPLY]


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_base(tmp_path_factory.mktemp("retriever") / "model")


@pytest.fixture(scope="module")
def generator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_base(tmp_path_factory.mktemp("generator") / "model", "empathy:generative")


def history(agent: Any) -> str:
    return str(agent.history.get_history_str())


@pytest.mark.parametrize("kind", ["retriever", "generator"])
def test_trained_agents_keep_conversations_apart_and_replay_them(kind: str, request: pytest.FixtureRequest) -> None:
    file = request.getfixturevalue(kind)
    agent = create_agent_from_model_file(str(file), Opt(interactive_mode=True))
    messages = (["I saw a heron.", "It was tall."], ["My dog died.", "I miss her."])
    apart = [talk(Partner(agent), "alone", one) for one in messages]  # each with its own partner
    mixed, texts = Partner(agent), ([], [])  # type: tuple[Partner, tuple[list[str], list[str]]]
    for turn in range(2):
        for number in range(2):
            texts[number].append(messages[number][turn])
            texts[number].append(mixed.reply(str(number), said(*texts[number])))
    assert [list(one) for one in texts] == apart
    assert history(agent) in ("", "None")  # the agent itself took part in no conversation
    # A new partner, as after a restart, replays the first turns and gives the same last reply.
    assert Partner(agent).reply("again", said(*apart[0][:3])) == apart[0][3]
    clone = Partner(agent)._clone("again", said(*apart[0][:3]))
    assert messages[0][0] in history(clone)
    assert apart[0][1] in history(clone)


@pytest.fixture
def echo(tmp_path: Path) -> Partner:
    """A partner with a language model that repeats the last message."""
    parser = ParlaiParser(True, True)
    arguments = ["-m", "empathy:in_context", "--lm-backend", "echo", "--prompt", "chat", "--examples", "0"]
    opt = parser.parse_args([*arguments, "-dp", str(tmp_path), "--loglevel", "error"])
    return Partner(create_agent(Opt({**opt, "interactive_mode": True})))


def test_language_model_reply_is_shown_while_generated(echo: Partner) -> None:
    shown: list[str] = []
    assert echo.reply("a", said("I saw a heron."), shown.append) == "I saw a heron."
    assert shown == ["I", "I saw", "I saw a", "I saw a heron."]


def test_language_model_keeps_conversations_apart(echo: Partner) -> None:
    partner = echo
    first = talk(partner, "a", ["I saw a heron."])
    talk(partner, "b", ["My dog died."])
    assert "dog" not in " ".join(talk(partner, "c", ["Hello."]))
    assert "dog" not in partner.reply("a", said(*first, "It was tall."))
