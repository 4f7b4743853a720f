"""Shared fixtures of the chat page's tests: a language model's server, a running site and its visitors."""

from __future__ import annotations

import html
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from model_server import ModelServer
from parlai.core.agents import create_agent
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from remembering_agent import RememberingAgent

from parlai_empathy.language_models.echo import EchoModel
from parlai_empathy.rating.chat.partner import Partner
from parlai_empathy.rating.chat.replies import Emotions, Replies
from parlai_empathy.rating.chat.settings import ChatSettings
from parlai_empathy.rating.chat.site import chat_site
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.rating.study.study import Study
from parlai_empathy.rating.study.study_file import read_study
from parlai_empathy.rating.talking.help_lines import notice_for
from parlai_empathy.rating.web.limits import Limits, Rate

FREE = Path(__file__).parents[3] / "parlai_empathy" / "rating" / "chat" / "free.yaml"
OFTEN = Rate(100_000, 100_000)
ADMIN_TOKEN = "a token for the tests"


def free_study() -> Study:
    return read_study(FREE, models={"heron": "heron"})


@dataclass
class Served:
    """A running site."""

    url: str
    desk: Desk
    replies: Replies
    agent: Any
    settings: ChatSettings
    stop: Callable[[], None]
    token: str = ADMIN_TOKEN
    visitors: list[Visitor] = field(default_factory=list)

    def visitor(self, agrees: bool = True) -> Visitor:
        """Return a new visitor."""
        visitor = Visitor(self.url)
        self.visitors.append(visitor)
        if agrees:
            visitor.post("/consent", agree="yes")
        return visitor

    def admin(self) -> Visitor:
        """Return a visitor who is logged in as administrator."""
        boss = self.visitor(agrees=False)
        boss.load("/admin")
        boss.post("/admin/login", admin_token=self.token)
        return boss


class Visitor:
    """A browser without scripts, with its current page."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, follow_redirects=True, timeout=20)
        self.page = self.http.get("/").text

    def load(self, path: str = "/") -> str:
        self.page = self.http.get(path).text
        return self.page

    def hidden(self, name: str) -> str:
        """Return the value of a hidden field of the page."""
        found = re.search(rf'name="{name}"[^>]* value="([^"]*)"', self.page)
        assert found, f"the page has no {name}"
        return html.unescape(found[1])

    def post(self, path: str, headers: dict[str, str] | None = None, **fields: str) -> httpx.Response:
        """Submit a form of the page."""
        response = self.http.post(path, data={"token": self.hidden("token"), **fields}, headers=headers)
        if "<main" in response.text:
            self.page = response.text
        return response

    def form(self, **fields: str) -> dict[str, str]:
        """Return the fields of the message form."""
        found = re.findall(r'name="turn" id="turn" value="(\d+)"', self.page)
        return {"talk": self.hidden("talk"), "turn": found[0], **fields}

    def say(self, text: str) -> list[str]:
        """Send a message, wait for the answer and return the whole conversation."""
        self.load()
        response = self.post("/say", **self.form(text=text))
        assert response.status_code == 200, response.text
        return self.wait()

    def wait(self) -> list[str]:
        """Wait until no answer is pending and return the conversation."""
        until = time.monotonic() + 20
        while 'data-waiting="yes"' in self.load():
            assert time.monotonic() < until
            time.sleep(0.01)
        return self.said()

    def said(self) -> list[str]:
        """Return the texts of the page's message bubbles."""
        bubbles = re.findall(
            r'<p class="words-said" dir="auto"><span class="hidden">[^<]*</span>(.*?)</p>', self.page, re.S
        )
        assert bubbles or 'id="turns"' in self.page, f"no conversation: {self.page}"
        return [html.unescape(one) for one in bubbles]

    def events(self, path: str = "/say", **fields: str) -> list[tuple[str, Any]]:
        """Send a request as the page's script does and return the server-sent events."""
        headers = {"Accept": "text/event-stream"}
        response = self.post(path, headers, **fields) if fields else self.http.get(path, headers=headers)
        assert response.headers["content-type"].startswith("text/event-stream"), response.text
        found = re.findall(r"event: (\w+)\ndata: (.*)\n\n", response.text)
        return [(name, json.loads(data)) for name, data in found]


KEY = "sk-very-secret"


@pytest.fixture
def model_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A real server with a language model that streams back each message word by word."""
    with ModelServer(EchoModel("parrot"), key=KEY) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield server


@pytest.fixture
def writing_agent(model_server: ModelServer, tmp_path: Path) -> Any:
    """An agent that uses this server, created as by ``parlai chat_site``."""
    options = {"model": "empathy:in_context", "lm_backend": "openai", "lm_model": "parrot", "lm_retries": 0}
    opt = ParlaiParser(True, True).parse_kwargs(**options, datapath=str(tmp_path), loglevel="error")
    return create_agent(Opt({**opt, "interactive_mode": True}))


@pytest.fixture
def serve_chat(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Serves a chat; all chats of a test share one store."""
    served: list[Served] = []

    def serve(
        agent: Any = None,
        study: Study | None = None,
        emotions: Emotions | None = None,
        workers: int = 1,
        limits: Limits | None = None,
        **settings: Any,
    ) -> Served:
        agent = agent or RememberingAgent()
        store = open_store(str(tmp_path / "ratings.db"))
        desk = Desk(store, study or free_study())
        replies = Replies(desk, {model.name: Partner(agent) for model in desk.study.models}, emotions, workers)
        chosen = ChatSettings(**{"notice": notice_for("US"), "messages": OFTEN, **settings})
        site = chat_site(
            desk, replies, b"0123456789abcdef0123456789abcdef", chosen, limits or Limits(OFTEN, OFTEN), ADMIN_TOKEN
        )
        server = uvicorn.Server(uvicorn.Config(site.app(), port=0, log_level="warning", access_log=False))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        port = server.servers[0].sockets[0].getsockname()[1]

        def stop() -> None:
            server.should_exit = True
            thread.join(10)
            replies.close()
            store.close()

        one = Served(f"http://127.0.0.1:{port}", desk, replies, agent, chosen, stop)
        served.append(one)
        return one

    yield serve
    for one in served:
        for visitor in one.visitors:
            visitor.http.close()
        one.stop()
