"""Errors between the real client and a server on the loopback interface: retried, or reported in one line."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from email.utils import formatdate
from typing import Any

import pytest
from model_server import (
    ModelServer,
    choices,
    cut,
    drop,
    events,
    hang,
    html,
    no_text,
    raw,
    status,
    trickle,
)
from parrot import CHAT, KEY, fails, parrot

from parlai_empathy.errors import LanguageModelError
from parlai_empathy.language_models.completion import Completion, NoAnswer
from parlai_empathy.language_models.echo import EchoModel
from parlai_empathy.language_models.prompt import Sampling
from parlai_empathy.language_models.server import openai_model
from parlai_empathy.language_models.server.backoff import wait_before
from parlai_empathy.language_models.server.openai_model import OpenAIModel

# What OpenRouter, and vLLM and SGLang, send if an answer fails while it is written.
FAILED = [
    choices(
        {"message": {"content": "I am"}, "finish_reason": "error", "error": {"code": 502, "message": f"gone: {KEY}"}}
    ),
    choices({"message": {"content": "I am"}, "finish_reason": "abort"}),
]

# --- temporary errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "misbehaviour",
    [
        *(status(429), status(500), status(503), status(408), html(), html(502)),
        *(cut(), cut(connection=False), drop, raw([]), raw({"error": {"message": "overloaded"}}), choices()),
        *(raw({"choices": ["?"]}), *FAILED),
    ],
    ids=[
        *("429", "500", "503", "408", "HTML", "HTML with 502", "cut connection", "cut body", "dropped", "a list"),
        *("an error with 200", "no choices", "an invalid choice", "an error in the choice", "an aborted choice"),
    ],
)
def test_temporary_errors_are_retried(misbehaviour: Any, server: ModelServer) -> None:
    server.next(misbehaviour, misbehaviour)
    model = parrot(retries=2)
    (answer,) = model.complete(["hello you"], Sampling())
    assert isinstance(answer, Completion)
    assert answer.text == "hello you"
    assert len(server.requests) == 3
    assert (model.usage.requests, model.usage.retries) == (1, 2)


@pytest.mark.parametrize("misbehaviour", [hang, trickle], ids=["hang", "trickle"])
def test_hanging_request_is_retried(misbehaviour: Any, server: ModelServer) -> None:
    server.next(misbehaviour)
    model = parrot(timeout=0.5, retries=3)
    (answer,) = model.complete(["hello"], Sampling())
    assert isinstance(answer, Completion)
    assert model.usage.retries >= 1


@pytest.mark.parametrize(
    ("misbehaviour", "reason"),
    [
        (status(429, "Slow\ndown."), "status 429: Slow down"),
        (status(500, "boom"), "status 500: boom"),
        (html(), "it sent invalid or truncated JSON: '<!DOCTYPE html> <html>"),
        (html(502), "status 502: Bad Gateway"),
        (cut(), "the connection failed ("),
        (cut(connection=False), 'it sent invalid or truncated JSON: \'{"id": "cmpl-1"'),
        (drop, "the connection failed ("),
        (raw({"error": "overloaded"}), "it sent an error: overloaded"),
        (raw({}), "it sent JSON without choices"),
        (FAILED[0], "it sent an error: gone: "),
        (FAILED[1], "it sent a part of an answer, finish 'abort'"),
    ],
    ids=[
        "429",
        "500",
        "HTML",
        "HTML with 502",
        "cut connection",
        "cut body",
        "dropped",
        "error with 200",
        "no choices",
        "an error in the choice",
        "an aborted choice",
    ],
)
def test_persistent_errors_are_one_line(misbehaviour: Any, reason: str, server: ModelServer) -> None:
    server.always = misbehaviour
    message = fails(parrot(retries=1))
    assert f"{server.url} failed 2 time(s), last with {reason}" in message
    assert "OPENAI_BASE_URL" in message
    assert len(server.requests) == 2


@pytest.mark.parametrize("misbehaviour", [hang, trickle], ids=["hang", "trickle"])
def test_permanently_hanging_server_times_out(misbehaviour: Any, server: ModelServer) -> None:
    server.always = misbehaviour
    assert "failed 1 time(s), last with no complete answer within 0.2 seconds (--lm-timeout)" in fails(
        parrot(timeout=0.2, retries=0)
    )


def test_unreachable_server_reports_connection_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(EchoModel("parrot")) as gone:
        monkeypatch.setenv("OPENAI_BASE_URL", gone.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert "failed 1 time(s), last with the connection failed (" in fails(parrot(retries=0))


def waits(monkeypatch: pytest.MonkeyPatch, model: OpenAIModel) -> list[float]:
    """Record the waiting times instead of sleeping."""
    found: list[float] = []

    async def note(_: Any, seconds: float) -> None:
        if seconds > 0:
            found.append(seconds)

    monkeypatch.setattr(openai_model._Run, "_sleep", note)
    monkeypatch.setattr(model, "remaining_pause", lambda: 0.0)
    return found


def test_waits_between_retries_double(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.always = status(500)
    model = parrot(retries=10, first_wait=0.5)
    found = waits(monkeypatch, model)
    fails(model)
    assert len(found) == 10
    for number, seconds in enumerate(found):
        whole = min(60, 0.5 * 2**number)
        assert whole / 2 <= seconds <= whole


def test_retry_after_header_sets_the_wait(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    in_20_seconds = formatdate(time.time() + 20, usegmt=True)
    server.next(status(429, retry_after="7"), status(503, retry_after=in_20_seconds), status(429, retry_after="soon"))
    model = parrot(retries=3, first_wait=0.5)
    found = waits(monkeypatch, model)
    model.complete(["hello"], Sampling())
    assert 7 <= found[0] <= 7.5
    assert 15 <= found[1] <= 20.5  # HTTP dates have whole seconds
    assert 1 <= found[2] <= 2, "what cannot be read counts as nothing said"


def test_retry_after_and_pause_delay_later_requests(server: ModelServer) -> None:
    times: list[float] = []

    def note(handler: Any) -> None:
        times.append(time.monotonic())
        handler.send(200, {"choices": [{"text": "there", "finish_reason": "stop"}]})

    def refuse(handler: Any) -> None:
        times.append(time.monotonic())
        status(429, retry_after="1")(handler)

    server.next(refuse)
    server.always = note
    model = parrot(concurrency=1)
    model.pause_requests(0.0)
    model.complete(["a"], Sampling())
    assert times[1] - times[0] >= 1
    model.pause_requests(0.3)
    begin = time.monotonic()
    model.complete(["b"], Sampling())
    assert times[2] - begin >= 0.3


def test_hours_long_retry_after_raises_at_once(server: ModelServer) -> None:
    server.always = status(429, "daily limit", retry_after="7200")
    assert "accepts no requests for 7200 seconds (status 429: daily limit)" in fails(parrot())
    assert len(server.requests) == 1


def test_waits_are_jittered() -> None:
    assert len({wait_before(3, {}, 0.5) for _ in range(20)}) > 10


# --- permanent errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("misbehaviour", "reason"),
    [
        (status(400, "too\nlong"), "refused a request to parrot (400): too long: change the prompt or its options"),
        (status(400, "no messages", error_code="invalid_prompt"), "(400): no messages: change the prompt"),
        (status(403, "no."), "(403): no: check the permissions of OPENAI_API_KEY"),
        (status(404, "unknown model"), "(404): unknown model: check the model's name and OPENAI_BASE_URL"),
        (html(404), "(404): Not Found: check the model's name"),
        (status(405, "no such method"), "(405): no such method: check OPENAI_BASE_URL: a redirect, such as from http"),
        (status(429, "You are out of money", error_code="insufficient_quota"), "(429): You are out of money: check"),
        (raw({"detail": [{"msg": "bad"}]}, 422), "(422): [{'msg': 'bad'}]: change"),
    ],
    ids=["400", "invalid prompt", "403", "404", "HTML with 404", "405", "no money", "422"],
)
def test_permanent_errors_are_not_retried(misbehaviour: Any, reason: str, server: ModelServer) -> None:
    server.always = misbehaviour
    model = parrot()
    assert reason in fails(model)
    assert (len(server.requests), model.usage.retries) == (1, 0)


@pytest.mark.parametrize(
    ("code", "said", "remedy"),
    [
        (404, "This is a chat model and not supported in the v1/completions endpoint.", "choose --prompt chat"),
        (
            404,
            "This is not a chat model and not supported in the v1/chat/completions endpoint",
            "choose --prompt paper",
        ),
        (400, "Default chat template is no longer allowed, so you must provide one", "choose --prompt paper"),
        (400, "There is no chat template: this may not be a chat model", "choose --prompt paper"),
        (400, "This model's maximum context length is 4096 tokens.", "set --lm-context-length"),
    ],
)
def test_refusals_that_an_option_resolves_name_it(code: int, said: str, remedy: str, server: ModelServer) -> None:
    server.always = status(code, said)
    assert fails(parrot()).endswith(f"({code}): {said.rstrip('.')}: {remedy}")


def test_unknown_model_error_names_the_model(server: ModelServer) -> None:
    assert "The model `crow` does not exist: check the model's name" in fails(OpenAIModel("crow"))


def test_wrong_key_is_hidden_in_error(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.key = "the right one"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    message = fails(parrot())
    assert "(401): Incorrect API key provided: Bearer ***: check OPENAI_API_KEY" in message
    assert KEY not in message


def whole_and_streamed() -> Iterator[LanguageModelError]:
    """Yield the errors of a request for a whole answer, and for a streamed one."""
    model = parrot(retries=0)
    for ask in (lambda: model.complete([CHAT], Sampling()), lambda: model.stream(CHAT, Sampling(), print)):
        with pytest.raises(LanguageModelError) as caught:
            ask()
        yield caught.value


@pytest.mark.parametrize(
    "misbehaviour",
    [
        *(status(401, f"wrong: {KEY}"), status(500, f"wrong: {KEY}"), raw({"error": f"wrong: {KEY}"})),
        *(raw({"choices": [{"error": f"wrong: {KEY}"}]}), events({"choices": [{"error": f"wrong: {KEY}"}]})),
    ],
    ids=["401", "500", "error with 200", "error in a choice", "error in a streamed choice"],
)
def test_key_is_hidden_in_tracebacks(misbehaviour: Any, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """``--loglevel debug`` prints the error with all errors that led to it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.always = misbehaviour
    for error in whole_and_streamed():
        printed = "".join(traceback.format_exception(error))
        assert "wrong: ***" in printed
        assert KEY not in printed


@pytest.mark.parametrize(
    "misbehaviour",
    [
        *(status(code, f"{'x' * 190} {KEY}") for code in (400, 500)),
        *(raw({"error": f"{'x' * 190} {KEY}"}), events({"error": f"{'x' * 190} {KEY}"})),
        lambda handler: handler.send(200, f"<html>{'x' * 44} {KEY}".encode()),
    ],
    ids=["400", "500", "error with 200", "an event", "HTML"],
)
def test_key_is_hidden_where_a_long_message_is_cut(
    misbehaviour: Any, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the server sends is shortened to 200 characters, HTML to 60: both end within the key."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.always = misbehaviour
    for error in whole_and_streamed():
        assert "xxx" in str(error)
        assert KEY[:4] not in str(error)


def test_key_is_sent_but_hidden_in_errors_and_repr(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.key = KEY
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = parrot(retries=0)
    assert isinstance(model.complete(["hello"], Sampling())[0], Completion)
    server.always = status(500, f"you sent {KEY}")
    assert "you sent ***" in fails(model)
    assert KEY not in repr(vars(model))


def test_password_in_url_is_sent_but_hidden_in_errors_and_repr(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url.replace("http://", "http://me:hid%21den@"))
    model = parrot(retries=0)
    assert isinstance(model.complete(["hello"], Sampling())[0], Completion)
    sent = server.requests[0].headers["authorization"]
    assert sent == "Basic bWU6aGlkIWRlbg=="  # base64 of me:hid!den
    server.always = status(500, f"you sent {sent} (hid%21den, hid!den)")
    assert "you sent Basic *** (***, ***)" in fails(model)
    assert model.identity == server.url
    assert "hid" not in repr(vars(model))


# --- unusable answers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("misbehaviour", "reason", "requests"),
    [
        (choices(), "an empty list of choices", 3),  # a retry may succeed
        (no_text(), "no text, finish 'stop'", 1),
        (no_text("length"), "no text within --max-tokens", 1),
        (no_text("max_tokens"), "no text within --max-tokens", 1),
        (no_text("length", reasoning_content="She is sad."), "no text within --max-tokens", 1),
        (
            choices({"message": {"content": "<think>She is"}, "finish_reason": "length"}),
            "only thoughts within --max-tokens",
            1,
        ),
        (no_text(refusal="I will not."), "the model refused: I will not.", 1),
        (no_text("content_filter"), "the server's content filter blocked it", 1),
        (
            choices({"message": {"content": "half of"}, "finish_reason": "content_filter"}),
            "the server's content filter blocked it",
            1,
        ),
        (choices({"message": {"content": " \n"}, "finish_reason": "stop"}), "an empty text", 1),
        (choices({"message": None, "finish_reason": "stop"}), "no text, finish 'stop'", 1),
        (choices({"message": {"content": ["?"]}, "finish_reason": None}), "no text, finish 'stop'", 1),
    ],
)
def test_unusable_answers_are_no_answer(misbehaviour: Any, reason: str, requests: int, server: ModelServer) -> None:
    server.always = misbehaviour
    model = parrot(retries=2)
    assert model.complete([CHAT], Sampling()) == [NoAnswer(reason)]
    assert len(server.requests) == requests
    assert (model.usage.requests, model.usage.no_answers) == (1, 1)
    paid = (3 * requests, 2 * requests)
    assert (model.usage.prompt_tokens, model.usage.completion_tokens) == paid, "each of its tokens is paid for"


NO_CHOICES = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


@pytest.mark.parametrize("end", [b"data: [DONE]\n\n", b""])
def test_tokens_of_streams_without_choices_are_counted(end: bytes, server: ModelServer) -> None:
    server.next(events(NO_CHOICES, end=end), events(NO_CHOICES, end=end))
    model = parrot()
    answer = model.stream(CHAT, Sampling(), lambda text: None)
    assert isinstance(answer, Completion)
    counted = (model.usage.prompt_tokens, model.usage.completion_tokens)
    assert counted == (2 * 7 + answer.prompt_tokens, 2 * 2 + answer.completion_tokens)


def test_counts_that_are_no_numbers_are_ignored_without_choices(server: ModelServer) -> None:
    server.always = raw({"choices": [], "usage": {"prompt_tokens": "7", "completion_tokens": -1}})
    model = parrot(retries=0)
    assert model.complete([CHAT], Sampling()) == [NoAnswer("an empty list of choices")]
    assert (model.usage.prompt_tokens, model.usage.completion_tokens) == (0, 0)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("The response was filtered due to the prompt", "content_filter"),  # Azure
        ("Your request was rejected by our safety system.", "content_policy_violation"),
        (
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with "
            "a different prompt: https://platform.openai.com/docs/guides/reasoning#advice-on-prompting",
            "invalid_prompt",
        ),
        ("Input data may contain inappropriate content.", "data_inspection_failed"),  # DashScope
        ("Content Exists Risk", "invalid_request_error"),  # DeepSeek
    ],
)
def test_prompt_that_the_content_filter_refuses_has_no_answer(said: str, code: str, server: ModelServer) -> None:
    """Some filters refuse the request, where others end the answer; the other prompts are answered."""
    filtered = status(400, said, error_code=code)
    server.next(filtered)
    model = parrot(concurrency=1)
    refused, answered = model.complete(["hello", "you"], Sampling())
    assert refused == NoAnswer("the server's content filter blocked it")
    assert isinstance(answered, Completion)
    assert (model.usage.requests, model.usage.no_answers, model.usage.retries) == (2, 1, 0)
    server.next(filtered)
    assert model.stream("hello", Sampling(), pytest.fail) == refused
