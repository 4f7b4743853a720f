"""A streaming language model behind a real server: what the page receives, and what is stored of a broken answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, cut_after, events, piece
from parlai.core.agents import create_agent
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from tiny_llama2c import write_llama_folder

Serve = Callable[..., Any]


def parts(found: list[tuple[str, Any]]) -> list[str]:
    """Return the distinct partial answers."""
    return list(dict.fromkeys(value for name, value in found if name == "part" and value))


def test_page_receives_partial_answers(serve_chat: Serve, writing_agent: Any, model_server: ModelServer) -> None:
    visitor = serve_chat(agent=writing_agent).visitor()
    found = visitor.events(**visitor.form(text="My dog is ill"))
    assert found[-1] == ("end", False)
    # The page skips pieces that arrive faster than it reads them.
    assert all("My dog is ill".startswith(one) for one in parts(found))
    assert visitor.wait() == ["My dog is ill", "My dog is ill"]
    assert model_server.requests[0].body["stream"] is True


def test_streaming_does_not_change_conversation_history(
    serve_chat: Serve, writing_agent: Any, model_server: ModelServer
) -> None:
    visitor = serve_chat(agent=writing_agent).visitor()
    visitor.say("My dog is ill.")
    visitor.say("He is old.")
    said = [(one["role"], one["content"]) for one in model_server.requests[-1].body["messages"][1:]]
    assert said == [("user", "My dog is ill."), ("assistant", "My dog is ill."), ("user", "He is old.")]


def test_concurrent_streamed_answers_are_kept_apart(
    serve_chat: Serve, writing_agent: Any, model_server: ModelServer
) -> None:
    together = threading.Barrier(2, timeout=20)

    def at_once(handler: Any) -> None:
        word = handler.asked.body["messages"][-1]["content"]
        together.wait()
        events(piece(word), piece(f" {word}"), piece(finish="stop"))(handler)

    model_server.always = at_once
    served = serve_chat(agent=writing_agent, workers=2)
    visitors = {name: served.visitor() for name in ("ann", "bob")}
    for name, visitor in visitors.items():
        visitor.post("/say", **visitor.form(text=name))
    for name, visitor in visitors.items():
        assert visitor.wait() == [name, f"{name} {name}"]


@pytest.mark.parametrize(
    "misbehaviour",
    [
        cut_after(piece("I am"), piece(" so")),
        cut_after(piece("I am"), piece(" so"), connection=False),
        events(piece("I am so"), {"error": {"message": "overloaded"}}),
    ],
    ids=["cut connection", "cut body", "error"],
)
def test_interrupted_answer_is_not_stored_and_can_be_retried(
    serve_chat: Serve, writing_agent: Any, model_server: ModelServer, logged: list[str], misbehaviour: Any
) -> None:
    model_server.next(misbehaviour)
    served = serve_chat(agent=writing_agent)
    visitor = served.visitor()
    found = visitor.events(**visitor.form(text="My dog is ill"))
    assert found[-1] == ("end", True)
    assert "I am" not in found[-2][1]  # the current turns
    assert [name for name, _ in found].count("end") == 1
    assert visitor.wait() == ["My dog is ill"]
    assert visitor.page.count("There is no answer yet") == 1
    [line] = [line for line in logged if "no reply" in line]
    assert "broke off in the middle of an answer" in line
    assert not any(secret in "".join(logged) for secret in ("sk-very-secret", "I am so", "dog"))
    assert visitor.events("/events")[-1] == ("end", False)
    assert visitor.wait() == ["My dog is ill", "My dog is ill"]
    assert len(model_server.requests) == 2


def test_answer_stopped_by_content_filter_is_shown_as_silence(
    serve_chat: Serve, writing_agent: Any, model_server: ModelServer
) -> None:
    model_server.next(events(piece("I am so"), piece(finish="content_filter")))
    visitor = serve_chat(agent=writing_agent).visitor()
    assert visitor.say("My dog is ill") == ["My dog is ill", "<em>(says nothing)</em>"]


def test_local_model_answers_are_streamed(serve_chat: Serve, tmp_path: Path, real_data: Path) -> None:
    folder = write_llama_folder(tmp_path / "llama", real_data)
    options = {"model": "empathy:in_context", "lm_model": str(folder), "max_tokens": 24, "no_cuda": True}
    opt = ParlaiParser(True, True).parse_kwargs(**options, datapath=str(tmp_path), loglevel="error")
    visitor = serve_chat(agent=create_agent(Opt({**opt, "interactive_mode": True}))).visitor()
    found = visitor.events(**visitor.form(text="Once upon a time"))
    reply = visitor.wait()[1]
    assert len(parts(found)) > 1
    assert all(reply.startswith(one) for one in parts(found))
