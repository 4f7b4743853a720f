"""A real OpenAI-compatible server on the loopback: it answers with a language model, and misbehaves when it is told to.

::

    with ModelServer(model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        server.next(status(429, retry_after="1"), html())  # the first two requests; then it answers again

Who asks for it (``"stream": true``) gets the answer in pieces, as the model writes it, in events as OpenAI sends them.
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
    :param pause: is called after each piece of an answer that is sent in pieces.
    """

    model: LanguageModel
    key: str | None = None
    requests: list[Request] = field(default_factory=list)
    most_at_once: int = 0
    always: Misbehaviour | None = None
    pause: Callable[[], object] = bool
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

    def refusal(self, request: Request) -> tuple[int, dict[str, Any]] | None:
        """Status and body for who has no key, wants another model, or goes astray."""
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            return 401, error_body(f"Incorrect API key provided: {request.headers.get('authorization')}.")
        if request.body.get("model") != self.model.name.partition(":")[2]:
            return 404, error_body(f"The model `{request.body.get('model')}` does not exist", "model_not_found")
        return (404, error_body("Not found")) if _prompt(request) is None else None

    def answer(self, request: Request) -> tuple[int, dict[str, Any]]:
        """Status and body of a request."""
        if refusal := self.refusal(request):
            return refusal
        try:
            with self._model_lock:
                (answer,) = self.model.complete([_prompt(request)], _sampling(request.body))
        except EmpathyError as error:
            return 400, error_body(str(error), "context_length_exceeded")
        assert isinstance(answer, Completion), answer
        return 200, _body(request, answer)

    def stream(self, request: Request, send: Callable[[dict[str, Any]], None]) -> None:
        """Send a request's answer in pieces, with the counts of tokens at the end if they are wanted."""
        sent = ""

        def say(text: str) -> None:
            nonlocal sent
            send(_piece(request, text[len(sent) :]))
            sent = text
            self.pause()

        with self._model_lock:
            answer = self.model.stream(_prompt(request), _sampling(request.body), say)
        assert isinstance(answer, Completion), answer
        if answer.text != sent:
            say(answer.text)
        send(_piece(request, "", answer.finish))
        if request.body.get("stream_options", {}).get("include_usage"):
            send({**_body(request, answer), "choices": []})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: ModelServer
    asked: Request

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        request = self.asked = Request(self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(raw))
        misbehave = self.owner.begin(request)
        try:
            if misbehave:
                misbehave(self)
            elif request.body.get("stream") and not self.owner.refusal(request):
                self.send_events(lambda send: self.owner.stream(request, send))
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

    def send_events(self, work: Callable[[Callable[[Any], None]], None], end: bytes = b"data: [DONE]\n\n") -> None:
        """Send what the work gives, an event each, and the end; an error of the model before the first is a status.

        :param work: is given a function that sends an event's data, or bytes as they are.
        :param end: what follows the last event.
        """
        self._has_begun = False

        def send(event: Any) -> None:
            self._begin_chunks()
            self._chunk(event if isinstance(event, bytes) else b"data: " + json.dumps(event).encode() + b"\n\n")

        try:
            work(send)
        except EmpathyError as error:
            assert not self._has_begun
            return self.send(400, error_body(str(error), "context_length_exceeded"))
        self._begin_chunks()
        self._chunk(end)
        self.wfile.write(b"0\r\n\r\n")

    def _begin_chunks(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()

    def _chunk(self, content: bytes) -> None:
        if content:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
            self.wfile.flush()

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


def _piece(request: Request, text: str, finish: str | None = None) -> dict[str, Any]:
    """A part of an answer, as OpenAI sends it."""
    is_text = request.path == "/v1/completions"
    choice: dict[str, Any] = {"index": 0, "finish_reason": finish, "logprobs": None}
    if is_text:
        choice["text"] = text
    else:
        choice["delta"] = {} if finish else {"content": text}
    kind = "text_completion" if is_text else "chat.completion.chunk"
    return {"id": "cmpl-1", "object": kind, "created": 0, "model": request.body["model"], "choices": [choice]}


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


# --- ways to misbehave with an answer in pieces ----------------------------------------------------------------------


def piece(content: str | None = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """An event of a chat."""
    return {"choices": [{"index": 0, "finish_reason": finish, "delta": {"content": content, **delta}}]}


def events(*found: Any, end: bytes = b"data: [DONE]\n\n") -> Misbehaviour:
    """These events, and the end; bytes are sent as they are."""
    return lambda handler: handler.send_events(lambda send: [send(one) for one in found] and None, end)


def cut_after(*found: Any, connection: bool = True) -> Misbehaviour:
    """These events, and then nothing: the connection breaks, or the server says that this was all."""

    def misbehave(handler: _Handler) -> None:
        if connection:
            handler.send_events(lambda send: [send(one) for one in found] and handler.connection.shutdown(2), b"")
        else:
            events(*found, end=b"")(handler)
        handler.close_connection = True

    return misbehave


def hang_after(*found: Any) -> Misbehaviour:
    """These events, and then silence until the server is closed."""

    def work(handler: _Handler, send: Callable[[Any], None]) -> None:
        for one in found:
            send(one)
        handler.owner.closing.wait()

    def misbehave(handler: _Handler) -> None:
        handler.send_events(lambda send: work(handler, send), b"")
        handler.close_connection = True

    return misbehave
