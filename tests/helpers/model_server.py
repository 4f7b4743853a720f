"""A real OpenAI-compatible server on the loopback: answers with a language model, and misbehaves on demand.

::

    with ModelServer(model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        server.next(status(429, retry_after="1"), html())  # for the first two requests; then it answers again

Requests with ``"stream": true`` get the answer in server-sent events, as OpenAI sends them, while the model writes it.
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
    """A client's request."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class ModelServer:
    """The server, in threads of this process.

    :param model: the language model; it gets one prompt at a time.
    :param key: the API key that requests must have, if any.
    :param pause: called after each event of a streamed answer.
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
        """The value for OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def next(self, *misbehaviours: Misbehaviour | None) -> None:
        """Misbehave in these ways on the next requests, one each; None answers normally."""
        self._next.extend(misbehaviours)

    def begin(self, request: Request) -> Misbehaviour | None:
        """Record a request; return how to misbehave, if at all."""
        with self._lock:
            self.requests.append(request)
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
            return self._next.popleft() if self._next else self.always

    def end(self) -> None:
        """Record that a request has been answered."""
        with self._lock:
            self._running -= 1

    def refusal(self, request: Request) -> tuple[int, dict[str, Any]] | None:
        """Return the status and body for a request with a wrong key, model or path; None for a valid one."""
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            return 401, error_body(f"Incorrect API key provided: {request.headers.get('authorization')}.")
        if request.body.get("model") != self.model.name.partition(":")[2]:
            return 404, error_body(f"The model `{request.body.get('model')}` does not exist", "model_not_found")
        return (404, error_body("Not found")) if _prompt(request) is None else None

    def answer(self, request: Request) -> tuple[int, dict[str, Any]]:
        """Return the status and body of the response."""
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
        """Stream the answer to a request, with the token counts at the end if it asks for them."""
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
            self.close_connection = True  # the client has disconnected
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
        """Send events and then the end; if the model fails before the first event, send an error status.

        :param work: called with a function that sends the data of an event, or raw bytes.
        :param end: bytes after the last event.
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
    """Return an error body in OpenAI's format."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def _prompt(request: Request) -> Prompt | None:
    if request.path == "/v1/completions":
        return str(request.body["prompt"])
    if request.path == "/v1/chat/completions":
        return tuple(Message(one["role"], one["content"]) for one in request.body["messages"])
    return None


def _sampling(body: dict[str, Any]) -> Sampling:
    """Return the sampling options of a request; missing ones have OpenAI's defaults."""
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
    """Return a streamed part of an answer, in OpenAI's format."""
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
    """Send an error with this status."""
    headers = {"Retry-After": retry_after} if retry_after is not None else {}
    return lambda handler: handler.send(code, error_body(message, error_code), headers)


def html(code: int = 200) -> Misbehaviour:
    """Send an HTML page, as gateways do."""
    page = b"<!DOCTYPE html>\n<html><body><h1>Bad gateway</h1></body></html>"
    return lambda handler: handler.send(code, page, {"Content-Type": "text/html"})


def raw(body: Any, code: int = 200) -> Misbehaviour:
    """Send any other body, as JSON."""
    return lambda handler: handler.send(code, body)


def cut(code: int = 200, connection: bool = True) -> Misbehaviour:
    """Send a truncated answer: the connection breaks, or the declared length is that of the truncated body."""

    def misbehave(handler: _Handler) -> None:
        body = b'{"id": "cmpl-1", "choices": [{"text": " hel'
        handler.send(code, body, length=1000 if connection else None)
        handler.close_connection = True

    return misbehave


def drop(handler: _Handler) -> None:
    """Close the connection without a response."""
    handler.close_connection = True


def hang(handler: _Handler) -> None:
    """Send nothing until the server is closed."""
    handler.owner.closing.wait()
    handler.close_connection = True


def trickle(handler: _Handler) -> None:
    """Send a byte now and then, for ever: no single read times out."""
    handler.send(200, b" ", length=1_000_000)
    while not handler.owner.closing.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()
    handler.close_connection = True


def choices(*found: dict[str, Any]) -> Misbehaviour:
    """Send these choices."""
    return raw({"id": "cmpl-1", "choices": list(found), "usage": {"prompt_tokens": 3, "completion_tokens": 2}})


def no_text(finish: str = "stop", **more: Any) -> Misbehaviour:
    """Send a chat choice whose content is null."""
    return choices({"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **more}})


# --- ways to misbehave while streaming -------------------------------------------------------------------------------


def piece(content: str | None = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """Return the data of a chat event."""
    return {"choices": [{"index": 0, "finish_reason": finish, "delta": {"content": content, **delta}}]}


def events(*found: Any, end: bytes = b"data: [DONE]\n\n") -> Misbehaviour:
    """Send these events and the end; bytes are sent as they are."""
    return lambda handler: handler.send_events(lambda send: [send(one) for one in found] and None, end)


def cut_after(*found: Any, connection: bool = True) -> Misbehaviour:
    """Send these events without the end: the connection breaks, or the response ends regularly."""

    def misbehave(handler: _Handler) -> None:
        if connection:
            handler.send_events(lambda send: [send(one) for one in found] and handler.connection.shutdown(2), b"")
        else:
            events(*found, end=b"")(handler)
        handler.close_connection = True

    return misbehave


def hang_after(*found: Any) -> Misbehaviour:
    """Send these events, and then nothing until the server is closed."""

    def work(handler: _Handler, send: Callable[[Any], None]) -> None:
        for one in found:
            send(one)
        handler.owner.closing.wait()

    def misbehave(handler: _Handler) -> None:
        handler.send_events(lambda send: work(handler, send), b"")
        handler.close_connection = True

    return misbehave
