"""The backend ``echo``, which repeats its input."""

from __future__ import annotations

import pytest

from parlai_empathy.language_models.completion import Completion, NoAnswer
from parlai_empathy.language_models.echo import EchoModel
from parlai_empathy.language_models.prompt import Message, Prompt, Sampling


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ((Message("system", "Be kind."), Message("user", "I am sad")), "I am sad"),
        ((Message("user", "Hi"), Message("assistant", "Hello"), Message("user", "I won")), "I won"),
        ((Message("user", "Hi"), Message("assistant", "Hello")), "Hi"),
        ("Answer the human.\n\nHuman: I am sad\nEmpathy AI:", "I am sad"),
        ("Human: I am sad\nEmpathy AI: Oh\nHuman: Thanks: really\nEmpathy AI: ", "Thanks: really"),
        ("I only wrote: this\n", "I only wrote: this"),
    ],
)
def test_echo_repeats_the_last_user_message(prompt: Prompt, text: str) -> None:
    (answer,) = EchoModel().complete([prompt], Sampling())
    assert isinstance(answer, Completion)
    assert (answer.text, answer.finish) == (text, "stop")


def test_words_count_as_tokens() -> None:
    model = EchoModel("x", context_length=10)
    assert (model.name, model.context_length, EchoModel().name) == ("echo:x", 10, "echo")
    assert model.count_tokens("one two\nthree") == 3
    assert model.count_tokens((Message("system", "one two"), Message("user", "three"))) == 3
    assert model.complete(["one two three"], Sampling(max_tokens=2)) == [Completion("one two", "length", 3, 2)]
    assert model.complete(["one two three"], Sampling(stop=("three",))) == [Completion("one two ", "stop", 3, 3)]
    assert (model.usage.requests, model.usage.prompt_tokens, model.usage.completion_tokens) == (2, 6, 5)


def test_empty_prompt_gives_no_answer() -> None:
    model = EchoModel()
    assert model.complete(["", (Message("system", "Be kind."),)], Sampling()) == [NoAnswer("an empty text")] * 2
    assert model.usage.no_answers == 2


def test_stream_reports_word_by_word() -> None:
    reported: list[str] = []
    model = EchoModel()
    sampling = Sampling(max_tokens=3, stop=("d",))
    assert model.stream("a  b\nc d", sampling, reported.append) == model.complete(["a  b\nc d"], sampling)[0]
    assert model.stream("", sampling, reported.append) == NoAnswer("an empty text")
    assert model.stream((Message("user", "I am sad"),), Sampling(), reported.append) == Completion(
        "I am sad", "stop", 3, 3
    )
    assert reported == ["c", "I", "I am", "I am sad"]
