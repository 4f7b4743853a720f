"""A real OpenAI-compatible server on the loopback: it answers with a language model, and misbehaves when it is told to.

::

    with ModelServer(model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        server.next(status(429, retry_after="1"), html())  # the first two requests; then it answers again
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from parlai_empathy.errors import EmpathyError
from parlai_empathy.language_models.completion import Completion
from parlai_empathy.language_models.language_model import LanguageModel
from parlai_empathy.language_models.prompt import Message, Prompt, Sampling

Misbehaviour = Callable[["_Handler"], None]


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class ModelServer:
    """The server, in threads of this process.

    :param model: answers; it is asked one prompt at a time.
    :param key: which requests must carry, if any.
    """

    model: LanguageModel
    key: str | None = None
    requests: list[Request] = field(default_factory=list)
    most_at_once: int = 0
    always: Misbehaviour | None = None
    closing: threading.Event = field(default_factory=threading.Event)
    _next: deque[Misbehaviour | None] = field(default_factory=deque)
    _running: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _model_lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> ModelServer:
        server = self

        class Handler(_Handler):
            owner = server

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """What goes into OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def next(self, *misbehaviours: Misbehaviour | None) -> None:
        """Misbehave in these ways at the next requests, one after the other; None answers."""
        self._next.extend(misbehaviours)

    def begin(self, request: Request) -> Misbehaviour | None:
        """Note a request; say how to misbehave."""
        with self._lock:
            self.requests.append(request)
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
            return self._next.popleft() if self._next else self.always

    def end(self) -> None:
        """A request has been answered."""
        with self._lock:
            self._running -= 1

    def answer(self, request: Request) -> tuple[int, dict[str, Any]]:
        """Status and body of a request."""
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            return 401, error_body(f"Incorrect API key provided: {request.headers.get('authorization')}.")
        if request.body.get("model") != self.model.name.partition(":")[2]:
            return 404, error_body(f"The model `{request.body.get('model')}` does not exist", "model_not_found")
        prompt = _prompt(request)
        if prompt is None:
            return 404, error_body("Not found")
        try:
            with self._model_lock:
                (answer,) = self.model.complete([prompt], _sampling(request.body))
        except EmpathyError as error:
            return 400, error_body(str(error), "context_length_exceeded")
        assert isinstance(answer, Completion), answer
        return 200, _body(request, answer)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: ModelServer

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        request = Request(self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(raw))
        misbehave = self.owner.begin(request)
        try:
            if misbehave:
                misbehave(self)
            else:
                self.send(*self.owner.answer(request))
        except OSError:
            self.close_connection = True  # the client has gone
        finally:
            self.owner.end()

    def send(self, status: int, body: Any, headers: dict[str, str] | None = None, length: int | None = None) -> None:
        coded = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        headers = {"Content-Type": "application/json", "Content-Length": str(length or len(coded)), **(headers or {})}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(coded)

    def log_message(self, *_: Any) -> None:
        pass


def error_body(message: str, code: str | None = None) -> dict[str, Any]:
    """An error as OpenAI writes it."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def _prompt(request: Request) -> Prompt | None:
    if request.path == "/v1/completions":
        return str(request.body["prompt"])
    if request.path == "/v1/chat/completions":
        return tuple(Message(one["role"], one["content"]) for one in request.body["messages"])
    return None


def _sampling(body: dict[str, Any]) -> Sampling:
    """OpenAI's own defaults hold for what is not said."""
    return Sampling(
        temperature=body.get("temperature", 1.0),
        top_p=body.get("top_p", 1.0),
        max_tokens=body.get("max_tokens") or body.get("max_completion_tokens") or 16,
        frequency_penalty=body.get("frequency_penalty", 0.0),
        presence_penalty=body.get("presence_penalty", 0.0),
        stop=tuple(body.get("stop", ())),
        seed=body.get("seed"),
    )


def _body(request: Request, answer: Completion) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": 0, "finish_reason": answer.finish, "logprobs": None}
    if request.path == "/v1/completions":
        choice["text"] = answer.text
    else:
        choice["message"] = {"role": "assistant", "content": answer.text}
    read, written = answer.prompt_tokens, answer.completion_tokens
    return {
        "id": "cmpl-1",
        "object": "text_completion" if request.path == "/v1/completions" else "chat.completion",
        "created": 0,
        "model": request.body["model"],
        "choices": [choice],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }


# --- ways to misbehave -----------------------------------------------------------------------------------------------


def status(
    code: int, message: str = "no", retry_after: str | None = None, error_code: str | None = None
) -> Misbehaviour:
    """An error with this status."""
    headers = {"Retry-After": retry_after} if retry_after is not None else {}
    return lambda handler: handler.send(code, error_body(message, error_code), headers)


def html(code: int = 200) -> Misbehaviour:
    """A page for people, as gateways send it."""
    page = b"<!DOCTYPE html>\n<html><body><h1>Bad gateway</h1></body></html>"
    return lambda handler: handler.send(code, page, {"Content-Type": "text/html"})


def raw(body: Any, code: int = 200) -> Misbehaviour:
    """Anything else, as JSON."""
    return lambda handler: handler.send(code, body)


def cut(connection: bool = True) -> Misbehaviour:
    """An answer that ends in its middle: the connection breaks, or the server says that this was all."""

    def misbehave(handler: _Handler) -> None:
        body = b'{"id": "cmpl-1", "choices": [{"text": " hel'
        handler.send(200, body, length=1000 if connection else None)
        handler.close_connection = True

    return misbehave


def drop(handler: _Handler) -> None:
    """End the connection without a word."""
    handler.close_connection = True


def hang(handler: _Handler) -> None:
    """Say nothing, until the server is closed."""
    handler.owner.closing.wait()
    handler.close_connection = True


def trickle(handler: _Handler) -> None:
    """Send a byte now and then, for ever: no single wait is long."""
    handler.send(200, b" ", length=1_000_000)
    while not handler.owner.closing.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()
    handler.close_connection = True


def choices(*found: dict[str, Any]) -> Misbehaviour:
    """These choices."""
    return raw({"id": "cmpl-1", "choices": list(found), "usage": {"prompt_tokens": 3, "completion_tokens": 2}})


def no_text(finish: str = "stop", **more: Any) -> Misbehaviour:
    """A chat's choice whose content is null."""
    return choices({"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **more}})
