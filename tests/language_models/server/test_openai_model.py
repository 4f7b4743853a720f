"""The backend ``openai`` with the real client, against a real server on the loopback interface."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from model_server import (
    ModelServer,
    choices,
    cut,
    cut_after,
    drop,
    events,
    hang,
    hang_after,
    html,
    piece,
    raw,
    status,
    trickle,
)
from parrot import CHAT, KEY, fails, parrot
from tiny_llama2c import write_llama_folder

from parlai_empathy.errors import LanguageModelError, MissingDependencyError, OptionError
from parlai_empathy.language_models.cache import Cache
from parlai_empathy.language_models.cached_model import CachedModel
from parlai_empathy.language_models.completion import Completion, NoAnswer
from parlai_empathy.language_models.open_model import open_language_model
from parlai_empathy.language_models.prompt import Message, Sampling
from parlai_empathy.language_models.server.background import THREAD
from parlai_empathy.language_models.server.openai_model import OpenAIModel

# --- answers ---------------------------------------------------------------------------------------------------------


def test_remote_answers_match_the_local_model(real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(write_llama_folder(tmp_path, real_data))
    local = open_language_model("hf", folder, precision="float32")
    prompts: list[Any] = ["Once upon a time", "The dog was", CHAT]
    asked = Sampling(max_tokens=20, seed=5, stop=("zebra",))
    expected = local.complete(prompts, asked)
    with ModelServer(local) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        remote = open_language_model("openai", folder, prices=(10.0, 20.0))
        assert remote.complete(prompts, asked) == expected
    completions = [one for one in expected if isinstance(one, Completion)]
    assert len(completions) == 3
    assert completions[0].text.startswith(", there was a")
    read = sum(one.prompt_tokens for one in completions)
    written = sum(one.completion_tokens for one in completions)
    assert (remote.usage.prompt_tokens, remote.usage.completion_tokens, remote.usage.requests) == (read, written, 3)
    assert remote.usage.cost == pytest.approx((10 * read + 20 * written) / 1e6)


def test_texts_and_chats_use_their_own_endpoints(server: ModelServer) -> None:
    answers = parrot(concurrency=1).complete(["Human: I am sad\nEmpathy AI:", CHAT], Sampling())
    assert [one.text for one in answers if isinstance(one, Completion)] == ["I am sad", "My dog is ill."]
    assert [one.path for one in server.requests] == ["/v1/completions", "/v1/chat/completions"]
    assert server.requests[0].body["prompt"] == "Human: I am sad\nEmpathy AI:"
    assert server.requests[1].body["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "My dog is ill."},
    ]


def test_answer_cut_within_a_character_is_cached(server: ModelServer, tmp_path: Path) -> None:
    server.next(raw({"choices": [{"text": "hi \ud83d", "finish_reason": "length"}]}))
    model = open_language_model("openai", "parrot", cache=tmp_path / "cache")
    for _ in range(2):
        (answer,) = model.complete(["hello"], Sampling())
        assert isinstance(answer, Completion)
        assert answer.text == "hi ?"
    assert len(server.requests) == 1


def test_lone_surrogates_in_prompts_are_replaced(server: ModelServer) -> None:
    prompts: list[Any] = ["a\udce9", (Message("user", "b\udce9"),)]
    answers = parrot(concurrency=1).complete(prompts, Sampling())
    assert [one.text for one in answers if isinstance(one, Completion)] == ["a?", "b?"]


def test_neutral_sampling_values_are_not_sent(server: ModelServer) -> None:
    model = parrot()
    model.complete(["a"], Sampling(temperature=0, frequency_penalty=0, presence_penalty=0))
    sent = server.requests[0].body
    assert sent == {"model": "parrot", "prompt": "a", "temperature": 0, "max_tokens": 128}
    model.complete(["a"], Sampling(0.5, 0.9, 7, 0.1, 0.2, ("x",), 3))
    sent = server.requests[1].body
    assert sent == {
        **{"model": "parrot", "prompt": "a", "temperature": 0.5, "top_p": 0.9, "max_tokens": 7, "seed": 3},
        **{"frequency_penalty": 0.1, "presence_penalty": 0.2, "stop": ["x"]},
    }


def test_answers_keep_prompt_order_and_concurrency_is_limited(server: ModelServer) -> None:
    def slowly(handler: Any) -> None:
        time.sleep(0.05)
        handler.send(*handler.owner.answer(handler.asked))

    server.next(slowly)
    prompts = [f"word{number}" for number in range(30)]
    model = parrot(concurrency=3)
    answers = model.complete(prompts, Sampling())
    assert [one.text for one in answers if isinstance(one, Completion)] == prompts
    assert server.most_at_once <= 3
    assert len(server.requests) == 30
    assert model.usage.requests == 30


def test_requests_run_concurrently(server: ModelServer) -> None:
    together = threading.Barrier(4, timeout=20)

    def wait_for_the_others(handler: Any) -> None:
        together.wait()
        handler.send(200, {"choices": [{"text": "together", "finish_reason": "stop"}]})

    server.always = wait_for_the_others
    assert len(parrot(concurrency=4).complete(["a", "b", "c", "d"], Sampling())) == 4
    assert server.most_at_once == 4


def test_no_prompts_send_no_requests(server: ModelServer) -> None:
    assert parrot().complete([], Sampling()) == []
    assert server.requests == []


def test_stop_texts_are_cut_off_locally_and_at_most_four_are_sent(server: ModelServer) -> None:
    server.next(choices({"text": " I see. Human: and you", "finish_reason": "length"}))
    (answer,) = parrot().complete(["a"], Sampling(stop=("Human:",)))
    assert answer == Completion(" I see. ", "stop", 3, 2)
    parrot().complete(["a"], Sampling(stop=("1", "2", "3", "4", "5")))
    assert server.requests[-1].body["stop"] == ["1", "2", "3", "4"]  # OpenAI's API rejects a fifth


def test_stop_texts_do_not_end_thoughts_in_a_chat(server: ModelServer) -> None:
    thoughts, stop = "<think>\nShe is sad.\n</think>\n\n", Sampling(stop=("\n",))
    server.next(choices({"message": {"content": f"{thoughts}I am sorry.\nReally."}, "finish_reason": "stop"}))
    assert parrot().complete([CHAT], stop) == [Completion("I am sorry.", "stop", 3, 2)]
    assert "stop" not in server.requests[0].body, "a server would look for them in the thoughts as well"
    words = ("<th", "ink>\nShe", " is sad.\n</", "think>\n", "\nI am", " sorry.", "\nReally.")
    server.next(events(*(piece(one) for one in words), piece(finish="stop")))
    answer, reported = streamed(parrot(), sampling=stop)
    assert answer.text == "I am sorry."
    assert reported == ["I am", "I am sorry."]


def test_tokens_are_estimated_without_server_counts(server: ModelServer) -> None:
    server.next(raw({"choices": [{"text": "Oh dear", "finish_reason": "length"}], "usage": None}))
    # "four" has at most four letters, one token; "letters" has two tokens; "Oh" and "dear" one each.
    (answer,) = parrot().complete(["four letters"], Sampling())
    assert answer == Completion("Oh dear", "length", 3, 2)


def test_max_completion_tokens_is_used_when_max_tokens_is_rejected(server: ModelServer) -> None:
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    server.next(status(400, said, error_code="unsupported_parameter"))
    (answer,) = parrot(concurrency=1).complete([CHAT], Sampling(max_tokens=2))
    assert isinstance(answer, Completion)
    assert (answer.text, answer.finish) == ("My dog", "length")
    assert server.requests[1].body["max_completion_tokens"] == 2
    assert "max_tokens" not in server.requests[1].body


def test_concurrent_requests_switch_to_max_completion_tokens_for_good(server: ModelServer) -> None:
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    all_there = threading.Barrier(4, timeout=20)

    def refuse(handler: Any) -> None:
        all_there.wait()  # all are sent before any is answered
        status(400, said)(handler)

    server.next(*[refuse] * 4)
    model = parrot(concurrency=4)
    prompts = [(Message("user", f"hello {number}"),) for number in range(4)]
    answers = model.complete(prompts, Sampling())
    assert [one.text for one in answers if isinstance(one, Completion)] == [one[0].content for one in prompts]
    assert len(server.requests) == 8
    model.complete(prompts, Sampling())
    assert len(server.requests) == 12, "the next batch knows it from the start"
    assert all("max_completion_tokens" in one.body for one in server.requests[4:])


def test_prompt_that_is_too_long_is_an_error_and_leaves_the_limit_as_it_is(server: ModelServer) -> None:
    """vLLM's words mention a name of the limit that ``/completions`` does not have: it would write 16 tokens."""
    said = "'max_tokens' or 'max_completion_tokens' is too large: 128. This model's maximum context length is 400."
    server.next(status(400, said))
    model = parrot(concurrency=1)
    assert fails(model).endswith("set --lm-context-length")
    model.complete(["hello", CHAT], Sampling(max_tokens=30))
    assert [one.body.get("max_tokens") for one in server.requests] == [128, 30, 30]


def test_new_name_of_the_limit_is_for_chats_only(server: ModelServer) -> None:
    server.next(status(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."))
    parrot(concurrency=1).complete([CHAT, "hello"], Sampling(max_tokens=30))
    limits = [(one.body.get("max_tokens"), one.body.get("max_completion_tokens")) for one in server.requests]
    assert limits == [(30, None), (None, 30), (30, None)]


def test_seed_is_left_out_if_the_server_refuses_it(server: ModelServer) -> None:
    """As Mistral's does, which refuses all that it does not know."""
    detail = [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 5}]
    server.next(raw({"detail": detail}, 422))
    model = parrot(concurrency=1)
    answers = model.complete(["hello", "you"], Sampling(seed=5))
    assert [one.text for one in answers if isinstance(one, Completion)] == ["hello", "you"]
    assert [one.body.get("seed") for one in server.requests] == [5, None, None]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_system_text_goes_before_the_users_if_the_server_has_no_such_role(
    is_streamed: bool, server: ModelServer
) -> None:
    server.next(status(400, "System role not supported"))
    model = parrot(concurrency=1)
    for _ in range(2):
        answer = streamed(model)[0] if is_streamed else model.complete([CHAT], Sampling())[0]
        assert isinstance(answer, Completion)
        assert answer.text == "Be kind. My dog is ill.", "the echo of the user's message"
    assert len(server.requests) == 3, "the next request knows it from the start"
    assert server.requests[-1].body["messages"] == [{"role": "user", "content": "Be kind.\n\nMy dog is ill."}]


@pytest.mark.parametrize("first", [0, 1])
def test_chat_that_the_assistant_begins_does_not_change_how_others_are_sent(first: int, server: ModelServer) -> None:
    """Some chat templates want the user's turn after the system message, and refuse others in words about roles."""

    def alternate(handler: Any) -> None:
        roles = [message["role"] for message in handler.asked.body["messages"]]
        if roles[1:2] == ["assistant"] and roles[0] == "system":
            status(400, "Conversation roles must alternate user/assistant/user/assistant/...")(handler)
        else:
            choices({"message": {"content": "ok"}, "finish_reason": "stop"})(handler)

    server.always = alternate
    begun = (CHAT[0], Message("assistant", "Hello."), CHAT[1])
    chats = [CHAT, begun, begun] if first == 0 else [begun, begun, CHAT]
    model = parrot(concurrency=1)
    model.complete(chats, Sampling())
    sent = [[one["role"] for one in request.body["messages"]] for request in server.requests]
    refused, as_user = ["system", "assistant", "user"], ["user", "assistant", "user"]
    usual = ["system", "user"]
    assert sent == ([usual, refused, as_user, as_user] if first == 0 else [refused, as_user, as_user, usual])


# --- answers that are kept -------------------------------------------------------------------------------------------


def test_finished_answers_are_cached_when_another_fails(server: ModelServer, tmp_path: Path) -> None:
    prompts = [f"word{number}" for number in range(30)]
    server.next(*[None] * 6, status(400, "bad"))
    cached = CachedModel(parrot(concurrency=2), Cache(tmp_path / "cache"))
    with pytest.raises(LanguageModelError, match=r"\(400\): bad"):
        cached.complete(prompts, Sampling())
    before = len(server.requests)
    assert len(cached.cache) == before - 1, "the one beside the failed one is finished, too"
    answers = cached.complete(prompts, Sampling())
    assert [one.text for one in answers if isinstance(one, Completion)] == prompts
    assert len(server.requests) == 30 + 1


def test_no_request_starts_after_a_failure(server: ModelServer) -> None:
    server.next(None, None, status(400, "bad"))
    fails(parrot(concurrency=1), ["a", "b", "c", "d", "e"])
    assert len(server.requests) == 3


def test_failure_cancels_waiting_retries(server: ModelServer) -> None:
    def refuse_later(handler: Any) -> None:
        time.sleep(0.2)
        status(400, "bad")(handler)

    server.next(status(500), refuse_later)
    server.always = status(500)
    begin = time.monotonic()
    # The first retry would wait for at least half a minute.
    assert "(400): bad" in fails(parrot(concurrency=2, first_wait=60.0), ["a", "b"])
    assert time.monotonic() - begin < 25


def background_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == THREAD]


def test_closing_the_answers_ends_the_background_thread(server: ModelServer) -> None:
    server.next(None)
    server.always = hang
    answers = parrot(concurrency=1, timeout=60.0).answers(["a", "b"], Sampling())
    number, answer = next(answers)
    assert (number, isinstance(answer, Completion)) == (0, True)
    answers.close()  # type: ignore[attr-defined]
    deadline = time.monotonic() + 20
    while background_threads() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not background_threads(), "still waits for the server, which hangs"


def test_complete_works_inside_a_running_event_loop(server: ModelServer) -> None:
    async def in_a_notebook() -> list[Any]:
        return parrot().complete(["hello"], Sampling())

    # In a separate thread: the browser of other tests keeps an event loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        (answer,) = thread.submit(asyncio.run, in_a_notebook()).result(60)
    assert isinstance(answer, Completion)


# --- streaming -------------------------------------------------------------------------------------------------------


def streamed(model: OpenAIModel, prompt: Any = CHAT, sampling: Sampling | None = None) -> tuple[Any, list[str]]:
    """Return the answer and the partial answers reported before it."""
    reported: list[str] = []
    return model.stream(prompt, sampling or Sampling(), reported.append), reported


def breaks_off(model: OpenAIModel) -> tuple[str, list[str]]:
    """Return the error of a stream that breaks off, and the partial answers before it."""
    reported: list[str] = []
    with pytest.raises(LanguageModelError) as caught:
        model.stream(CHAT, Sampling(), reported.append)
    assert "\n" not in str(caught.value)
    return str(caught.value), reported


def test_streamed_answer_equals_completed_answer(
    real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real model behind a real server; both ways use the server's token counts."""
    folder = str(write_llama_folder(tmp_path, real_data))
    local = open_language_model("hf", folder, precision="float32")
    asked = Sampling(max_tokens=20, seed=5, stop=("zebra",))
    with ModelServer(local) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        remote = OpenAIModel(folder)
        for prompt in ("Once upon a time", CHAT):
            (whole,) = remote.complete([prompt], asked)
            answer, reported = streamed(remote, prompt, asked)
            assert answer == whole
            assert len(reported) > 5
            assert reported[-1] == answer.text
            assert all(later.startswith(one) for one, later in pairwise(reported))
    assert remote.usage.completion_tokens == 4 * 20
    first, second = server.requests[:2]
    assert second.body == {**first.body, "stream": True, "stream_options": {"include_usage": True}}


def test_each_chunk_is_reported_before_the_next_is_sent(server: ModelServer) -> None:
    reported: list[str] = []
    may_go_on = threading.Semaphore(0)
    server.pause = lambda: may_go_on.acquire(timeout=20)

    def say(text: str) -> None:
        reported.append(text)
        may_go_on.release()

    answer = parrot(timeout=15.0).stream(CHAT, Sampling(), say)
    assert reported == ["My", "My dog", "My dog is", "My dog is ill."]
    assert isinstance(answer, Completion)
    assert (answer.text, answer.prompt_tokens) == ("My dog is ill.", 6)


def test_stop_text_split_across_chunks_is_never_reported(server: ModelServer) -> None:
    server.next(events(*map(piece, ("I s", "ee. ", "Hu", "man", ": and", " you")), piece(finish="length")))
    answer, reported = streamed(parrot(), sampling=Sampling(stop=("Human:",)))
    assert (answer.text, answer.finish) == ("I see. ", "stop")
    assert reported == ["I s", "I see. "]


def test_tokens_are_estimated_without_stream_counts(server: ModelServer) -> None:
    server.next(events({"choices": [{"text": "Oh "}]}, {"choices": [{"text": "dear", "finish_reason": "length"}]}))
    assert streamed(parrot(), "four letters") == (Completion("Oh dear", "length", 3, 2), ["Oh ", "Oh dear"])


@pytest.mark.parametrize("code", [400, 422])
def test_stream_is_retried_without_rejected_stream_options(code: int, server: ModelServer) -> None:
    server.next(status(code, "Unrecognized request argument supplied: stream_options"))
    model = parrot()
    answer, reported = streamed(model)
    assert answer.text == reported[-1] == "My dog is ill."
    assert [("stream_options" in one.body) for one in server.requests] == [True, False]
    assert model.usage.retries == 0


def test_stream_accepts_a_non_streaming_response(server: ModelServer) -> None:
    server.next(choices({"message": {"content": "Oh no!"}, "finish_reason": "stop"}))
    assert streamed(parrot()) == (Completion("Oh no!", "stop", 3, 2), ["Oh no!"])


@pytest.mark.parametrize(
    "misbehaviour",
    [
        *(status(429), status(500), html(), html(502), cut(), cut(503), cut(connection=False), drop),
        *(cut_after(), cut_after(piece("")), cut_after(piece(""), connection=False), cut_after(piece(" "))),
        events({"error": {"message": "overloaded"}}),
        events(b"data: <html>\n\n"),
        events(end=b""),
        events(),
    ],
)
def test_stream_is_retried_if_nothing_was_reported(misbehaviour: Any, server: ModelServer) -> None:
    server.next(misbehaviour, misbehaviour)
    model = parrot(retries=2)
    answer, reported = streamed(model)
    assert answer.text == reported[-1] == "My dog is ill."
    assert reported[0] == "My"
    assert (len(server.requests), model.usage.retries, model.usage.requests) == (3, 2, 1)


@pytest.mark.parametrize("misbehaviour", [hang, trickle, hang_after(piece(""))], ids=["hang", "trickle", "no piece"])
def test_stream_that_does_not_start_is_retried(misbehaviour: Any, server: ModelServer) -> None:
    server.next(misbehaviour)
    answer, _ = streamed(parrot(timeout=0.5, retries=3))
    assert answer.text == "My dog is ill."


@pytest.mark.parametrize(
    ("misbehaviour", "reason"),
    [
        (cut_after(piece("Oh"), piece(" no")), "the connection failed ("),
        (cut_after(piece("Oh"), piece(" no"), connection=False), "it sent a part of an answer"),
        (events(piece("Oh"), piece(" no"), {"error": {"message": f"over\nload of {KEY}"}}), "error: over load of ***"),
        (
            events(piece("Oh"), piece(" no"), {"message": "out of memory", "code": 500}),
            "(it sent an error: out of memory)",
        ),
        (events(piece("Oh"), piece(" no"), b"data: {nonsense\n\n"), "(it sent an event that is not JSON)"),
        (hang_after(piece("Oh"), piece(" no")), "no complete answer within 0.5 seconds"),
        (events(piece("Oh"), piece(" no"), piece(finish="abort")), "(it sent a part of an answer, finish 'abort')"),
    ],
    ids=["cut connection", "cut body", "error", "plain error", "nonsense", "hangs", "abort"],
)
def test_stream_is_not_retried_after_text_was_reported(
    misbehaviour: Any, reason: str, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.always = misbehaviour
    model = parrot(timeout=0.5 if "0.5" in reason else 20.0)
    message, reported = breaks_off(model)
    assert message.startswith(f"{server.url} broke off in the middle of an answer (")
    assert reason in message
    assert message.endswith("): try again")
    assert KEY not in message
    assert reported == ["Oh", "Oh no"]
    assert (len(server.requests), model.usage.requests, model.usage.retries) == (1, 0, 0)


def test_failures_after_the_finish_event_are_ignored(server: ModelServer) -> None:
    whole = (piece("Oh no!"), piece(finish="stop"))
    for misbehaviour in (cut_after(*whole), cut_after(*whole, connection=False), hang_after(*whole)):
        server.next(misbehaviour)
        answer, _ = streamed(parrot(timeout=1.0), "one two")
        assert answer == Completion("Oh no!", "stop", 2, 3)  # estimated: "!" is one token


def test_stream_ends_at_done_event_without_waiting_for_close(server: ModelServer) -> None:
    done, in_time = threading.Event(), []

    def keep_open(send: Any) -> None:
        for one in (piece("Oh no!"), piece(finish="stop"), b"data: [DONE]\n\n"):
            send(one)
        in_time.append(done.wait(10))

    server.next(lambda handler: handler.send_events(keep_open, b""))
    answer, _ = streamed(parrot(timeout=30.0))
    done.set()
    assert answer.text == "Oh no!"
    deadline = time.monotonic() + 20
    while not in_time and time.monotonic() < deadline:
        time.sleep(0.01)
    assert in_time == [True]


@pytest.mark.parametrize(
    ("misbehaviour", "reason"),
    [
        (events(piece(refusal="I will"), piece(refusal=" not.", finish="stop")), "the model refused: I will not."),
        (events(piece("Half of"), piece(finish="content_filter")), "the server's content filter blocked it"),
        (events(piece(" "), piece(finish="stop")), "an empty text"),
        (events(piece(finish="length")), "no text within --max-tokens"),
    ],
)
def test_stream_without_usable_text_is_no_answer(misbehaviour: Any, reason: str, server: ModelServer) -> None:
    server.always = misbehaviour
    assert streamed(parrot())[0] == NoAnswer(reason)
    assert len(server.requests) == 1


def test_rejected_stream_raises_without_retry(server: ModelServer) -> None:
    server.always = status(403, "no.")
    message, reported = breaks_off(parrot())
    assert "(403): no: check the permissions of OPENAI_API_KEY" in message
    assert (reported, len(server.requests)) == ([], 1)


def test_exception_in_stream_callback_ends_the_request(server: ModelServer) -> None:
    class NobodyThereError(Exception):
        pass

    def say(text: str) -> None:
        raise NobodyThereError

    server.next(hang_after(piece("Oh")))
    with pytest.raises(NobodyThereError):
        parrot(timeout=60.0).stream(CHAT, Sampling(), say)
    deadline = time.monotonic() + 20
    while background_threads() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not background_threads(), "still waits for the server, which hangs"


# --- the environment -------------------------------------------------------------------------------------------------


def test_missing_openai_library_names_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "parlai-empathy\[openai\]"'):
        OpenAIModel("parrot")


def test_missing_key_raises_option_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(OptionError, match="OPENAI_API_KEY is not set: export a key, or OPENAI_BASE_URL"):
        OpenAIModel("parrot")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("HTTP_PROXY", "ftp://me:hidden@proxy.invalid:21", "Unknown scheme for proxy URL"),
        ("SSL_CERT_FILE", "/nowhere/own.pem", "No such file or directory"),
    ],
)
def test_unusable_proxies_and_certificates_raise_option_error(
    name: str, value: str, reason: str, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(OptionError, match=f"no connection to {server.url} can be set up .*{reason}.*: check") as caught:
        parrot().complete(["hello"], Sampling())
    assert name in str(caught.value)
    assert "hidden" not in str(caught.value)
