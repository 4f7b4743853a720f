"""The agent in ParlAI: its prompts, its use of the answers, and missing answers."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from itertools import pairwise
from logging import StreamHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from model_server import ModelServer, cut_after, events, no_text, piece, status
from parlai.core.agents import create_agent, create_agent_from_model_file
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.teachers import create_task_agent_from_taskname
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.self_chat import SelfChat
from parlai.scripts.train_model import TrainModel
from parlai.utils import logging as parlais_logging
from processes import run, succeeded
from tiny_generators import write_language_model
from tiny_llama2c import write_llama_folder
from tiny_parts import train_classifier

from parlai_empathy.agents.in_context import parts
from parlai_empathy.agents.in_context.selection import Query
from parlai_empathy.agents.in_context.template import load_template
from parlai_empathy.errors import DataError, LanguageModelError, ModelFileError, OptionError
from parlai_empathy.language_models.cache import Cache
from parlai_empathy.language_models.cached_model import CachedModel
from parlai_empathy.language_models.completion import Answer, Completion, NoAnswer
from parlai_empathy.language_models.echo import EchoModel
from parlai_empathy.language_models.language_model import Backend
from parlai_empathy.language_models.partial_answers import PartialAnswers
from parlai_empathy.language_models.prompt import Message as Prompted
from parlai_empathy.language_models.prompt import Prompt, Sampling
from parlai_empathy.language_models.usage import Usage
from parlai_empathy.modules.encoders.sentence_encoder import Vectors
from parlai_empathy.scoring.logs import read_replies_log
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS

TASK = "empathy:empathetic_dialogues:LastReply"
SAMPLE: dict[str, Any] = {"task": TASK, "edition": "sample", "datatype": "test", "loglevel": "error"}
ECHO: dict[str, Any] = {"model": "empathy:in_context", "lm_backend": "echo"}


class Scripted(Backend):
    """A model that answers with a function of its prompt."""

    identity = ""
    name = "scripted"

    def __init__(self, says: Callable[[str], str | NoAnswer], context_length: int | None = None) -> None:
        self.says = says
        self.context_length = context_length
        self.usage = Usage()
        self.asked: list[str] = []

    def count_tokens(self, prompt: Prompt) -> int:
        assert isinstance(prompt, str)
        return len(prompt.split())

    def stream(self, prompt: Prompt, sampling: Sampling, say: Callable[[str], None]) -> Answer:
        """Stream the answer letter by letter."""
        (answer,) = self.complete([prompt], sampling)
        partial = PartialAnswers(say, sampling.stop)
        for end in range(len(answer.text) if isinstance(answer, Completion) else 0):
            partial.report(answer.text[: end + 1])
        return answer

    def answers(self, prompts: Sequence[Prompt], sampling: Sampling) -> Iterator[tuple[int, Answer]]:
        for number, prompt in enumerate(prompts):
            assert isinstance(prompt, str)
            self.asked.append(prompt)
            said = self.says(prompt)
            answer = said if isinstance(said, NoAnswer) else Completion(said, "stop", self.count_tokens(prompt), 3)
            self.usage.add(answer)
            yield number, answer


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Scripted]:
    """Replace every model that is opened with a scripted one; the cache is the real one."""

    def put(says: Callable[[str], str | NoAnswer], context_length: int | None = None) -> Scripted:
        model = Scripted(says, context_length)

        def opened(*_: Any, cache: Path | None, **__: Any) -> Any:
            return model if cache is None else CachedModel(model, Cache(cache))

        monkeypatch.setattr(parts, "open_language_model", opened)
        return model

    return put


def agent(tmp_path: Path, in_chat: bool = False, **options: Any) -> Any:
    """Create the agent as ParlAI does, with the paper's prompts."""
    parser = ParlaiParser(add_parlai_args=True, add_model_args=True)
    settings = {**ECHO, "prompt": "paper", "datapath": str(tmp_path), "edition": "sample", **options}
    return create_agent(Opt({**parser.parse_kwargs(**settings), "interactive_mode": in_chat}))


def evaluate(tmp_path: Path, **options: Any) -> dict[str, float]:
    """Evaluate on the sample's test fold; return the report as plain numbers."""
    report = EvalModel.main(**{**SAMPLE, **ECHO, "prompt": "paper", "datapath": str(tmp_path), **options})
    return {name: float(value) for name, value in report.items()}


def logged_replies(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line)["dialog"][0][1] for line in path.read_text().splitlines()]


def ask(made: Any, *texts: str, **fields: Any) -> list[Message]:
    """Return replies to messages in separate conversations, in one batch."""
    observed = [made.clone().observe(Message({"text": text, "episode_done": True, **fields})) for text in texts]
    return made.batch_act(observed)  # type: ignore[no-any-return]


# --- conversations ---------------------------------------------------------------------------------------------------


def test_chat_prompt_contains_all_turns_since_reset(tmp_path: Path, scripted: Callable[..., Scripted]) -> None:
    model = scripted(lambda prompt: f" Reply {prompt.count('Human:')}. ")
    made = agent(tmp_path, in_chat=True)
    for text in ("I lost my key.", "In the lake."):
        made.observe(Message({"text": text, "episode_done": False}))
        reply = made.act()
    assert reply["text"] == "Reply 2."
    assert model.asked[-1].endswith("\n\nHuman: I lost my key.\nEmpathy AI: Reply 1.\nHuman: In the lake.\nEmpathy AI:")
    made.reset()
    made.observe(Message({"text": "Hello!", "episode_done": False}))
    made.act()
    assert model.asked[-1].endswith("\n\nHuman: Hello!\nEmpathy AI:")


def test_clones_share_the_model_but_not_the_conversation(tmp_path: Path, scripted: Any) -> None:
    model = scripted(lambda prompt: "Yes.")
    made = agent(tmp_path, in_chat=True, lm_cache="none")
    copy = made.clone()
    made.observe(Message({"text": "one", "episode_done": False}))
    copy.observe(Message({"text": "two", "episode_done": False}))
    assert [made.act()["text"], copy.act()["text"]] == ["Yes.", "Yes."]
    assert [re.findall("one|two", prompt) for prompt in model.asked] == [["one"], ["two"]]


def test_empty_messages_get_no_reply_and_no_request(tmp_path: Path, scripted: Any) -> None:
    model = scripted(lambda prompt: "Yes.")
    made = agent(tmp_path)
    observed = [
        made.clone().observe(message)
        for message in (Message.padding_example(), Message({"episode_done": True}), Message({"text": "", "id": "x"}))
    ]
    replies = made.batch_act([*observed, None])
    assert [dict(reply) for reply in replies] == [{"id": "InContext", "episode_done": False}] * 4
    assert model.asked == []


def test_message_of_blanks_gets_no_reply_to_the_agents_own_last_turn(tmp_path: Path, scripted: Any) -> None:
    model = scripted(lambda prompt: "Yes.")
    made = agent(tmp_path)
    made.observe(Message({"text": "one", "episode_done": False}))
    made.act()
    made.observe(Message({"text": " \t", "episode_done": False}))
    assert "text" not in made.act()
    assert len(model.asked) == 1


def test_batch_replies_keep_the_message_order(tmp_path: Path, scripted: Any) -> None:
    scripted(lambda prompt: prompt.split("Human: ")[-1].split("\n")[0].upper())
    observed = [
        agent(tmp_path).observe(message)
        for message in (Message({"text": "a"}), Message.padding_example(), Message({"text": "b\nc\nd"}))
    ]
    assert [reply.get("text") for reply in agent(tmp_path).batch_act(observed)] == ["A", None, "D"]


def test_respond_and_batch_respond_return_replies(tmp_path: Path) -> None:
    made = agent(tmp_path)
    assert made.respond("I lost my key.") == "I lost my key."
    assert made.batch_respond([Message({"text": "a"}), Message({"text": "b"})]) == ["a", "b"]


# --- answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (" Oh no! ", "Oh no!"),
        ("Oh no!\nHuman: I", "Oh no!"),
        ("Oh no! Empathy AI: Oh", "Oh no!"),
        (f"Oh no!\n\n{load_template('paper').instruction}\n\nHuman: I", "Oh no!"),  # another example
        ("Oh no!\n\nHow come?", "Oh no! How come?"),  # a turn is one line
    ],
)
def test_reply_is_stripped_and_cut_at_stop_texts(tmp_path: Path, scripted: Any, said: str, text: str) -> None:
    scripted(lambda prompt: said)
    (reply,) = ask(agent(tmp_path), "I lost my key.")
    assert reply["text"] == text
    assert (reply["finish"], reply["completion_tokens"], reply["cached"]) == ("stop", 3, False)
    assert reply["examples"] == []
    assert reply["oracle"] is False


@pytest.mark.parametrize("said", [NoAnswer("filtered"), " \n", "Human: I answer myself."])
def test_missing_answers_are_counted_but_not_scored(tmp_path: Path, scripted: Any, said: str | NoAnswer) -> None:
    """Every other reply is the true one: if missing ones counted as 0, F1 would be about a half."""
    truth = {}
    for line in every_item(tmp_path):
        truth[line["text"].split("\n")[-1]] = line["eval_labels"][0]

    def says(prompt: str) -> str | NoAnswer:
        last = prompt.split("Human: ")[-1].removesuffix("\nEmpathy AI:")
        return truth[last] if len(last) % 2 else said

    scripted(says)
    answered = sum(len(last) % 2 for last in truth)
    assert 10 < answered < 54
    report = evaluate(tmp_path, world_logs=str(tmp_path / "log.jsonl"))
    assert report["exs"] == 64
    assert report["f1"] == report["accuracy"] == 1
    assert report["no_answer"] == pytest.approx(1 - answered / 64)
    replies = logged_replies(tmp_path / "log.jsonl")
    silent = [reply for reply in replies if "text" not in reply]
    assert len(silent) == 64 - answered
    assert all(reply["no_answer"] for reply in silent)
    read_replies_log(tmp_path / "log.jsonl")  # which must accept missing replies


def every_item(tmp_path: Path) -> list[dict[str, Any]]:
    """Return the sample's test items."""
    opt = ParlaiParser(True, False).parse_kwargs(**{**SAMPLE, "datapath": str(tmp_path)})
    (teacher,) = create_task_agent_from_taskname(opt)
    found = []
    while not teacher.epoch_done():
        found.append(teacher.act())
    return found


def test_missing_answer_is_an_empty_text_in_chat(tmp_path: Path, scripted: Any) -> None:
    scripted(lambda prompt: NoAnswer("filtered"))
    made = agent(tmp_path, in_chat=True)
    made.observe(Message({"text": "Hello!", "episode_done": False}))
    reply = made.act()
    assert (reply["text"], reply["no_answer"]) == ("", "filtered")


# --- examples --------------------------------------------------------------------------------------------------------


@pytest.fixture
def _by_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder that counts letters: fast, and without a downloaded model."""

    class Letters:
        name = "letters"
        settings = ""
        model = torch.nn.Linear(1, 1)

        def encode(self, texts: Sequence[str]) -> Vectors:
            counts = np.array([[text.lower().count(letter) + 0.1 for letter in LETTERS] for text in texts])
            return (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)

    torch.nn.init.constant_(Letters.model.weight, 1.0)
    torch.nn.init.constant_(Letters.model.bias, 1.0)
    monkeypatch.setattr(parts, "load_sentence_encoder", lambda *_: Letters())


LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.mark.usefixtures("_by_letters")
def test_prompt_shows_the_most_similar_examples_best_last(tmp_path: Path, scripted: Any) -> None:
    model = scripted(lambda prompt: "Yes.")
    made = agent(tmp_path, examples=3)
    item = every_item(tmp_path)[0]
    (reply,) = ask(made, item["text"])
    selector = made._parts.selector
    (chosen,) = selector.choose([Query(tuple(item["text"].split("\n")))])
    assert reply["examples"] == [example.conv_id for example in chosen.examples]
    assert len(set(reply["examples"])) == 3
    instruction, *talks = model.asked[0].split("\n\n")
    shown = [talk for talk in talks if talk != instruction]
    for talk, example in zip(shown, chosen.examples, strict=False):
        lines = [line.split(": ", 1)[1] for line in talk.split("\n")]
        assert tuple(lines) == example.turns
    assert len(shown) == 4
    likeness = (selector.encode([item["text"]]) @ selector.vectors.T)[0]
    places = [selector.conversations.index(example) for example in chosen.examples]
    assert list(likeness[places]) == sorted(likeness)[-3:]


@pytest.mark.usefixtures("_by_letters")
@pytest.mark.parametrize("oracle", [True, False])
def test_situations_are_compared_with_an_oracle_and_contexts_without(
    tmp_path: Path, scripted: Any, oracle: bool
) -> None:
    scripted(lambda prompt: "Yes.")
    made = agent(tmp_path, examples=1, select="sitsm" if oracle else "context", oracle=oracle)
    selector = made._parts.selector
    texts = [one.situation if oracle else one.context for one in selector.conversations]
    np.testing.assert_array_equal(selector.vectors, selector.encode(texts))


@pytest.mark.usefixtures("_by_letters")
def test_situation_and_emotion_are_ignored_without_oracle(tmp_path: Path, scripted: Any) -> None:
    """Two messages with the same text, one with a false situation and emotion, have equal prompts."""
    model = scripted(lambda prompt: "Yes.")
    made = agent(tmp_path, examples=2, lm_cache="none")
    ask(made, "I lost my key.")
    ask(made, "I lost my key.", situation="A tiger came.", emotion="terrified")
    assert model.asked[0] == model.asked[1]


@pytest.mark.usefixtures("_by_letters")
def test_oracle_emotion_selects_examples_and_is_recorded(tmp_path: Path, scripted: Any) -> None:
    scripted(lambda prompt: "Yes.")
    made = agent(tmp_path, examples=2, select="emositsm", oracle=True)
    (reply,) = ask(made, "I lost my key.", situation="I lost my key.", emotion="proud")
    assert (reply["oracle"], reply["emotion_used"]) == (True, "proud")
    emotions = {one.conv_id: one.emotion for one in made._parts.selector.conversations}
    assert [emotions[name] for name in reply["examples"]] == ["proud", "proud"]
    with pytest.raises(OptionError, match="a message of this task has no situation"):
        ask(made, "I lost my key.", emotion="proud")


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained emotion classifier."""
    return train_classifier(tmp_path_factory.mktemp("classifier") / "model")


@pytest.mark.usefixtures("_by_letters")
def test_emotion_classifier_predicts_emotions_without_oracle(tmp_path: Path, scripted: Any, classifier: Path) -> None:
    scripted(lambda prompt: "Yes.")
    made = agent(tmp_path, examples=2, select="emositsm", emotion_classifier=str(classifier))
    judge = create_agent_from_model_file(str(classifier), Opt(loglevel="error"))
    items = every_item(tmp_path)[:8]
    replies = ask(made, *(item["text"] for item in items))
    predicted = []
    for item in items:
        *before, last = item["text"].split("\n")
        predicted.append(judge.classes[int(judge.class_probabilities([before], [last])[0].argmax())])
    assert [reply["emotion_used"] for reply in replies] == predicted
    assert len(set(predicted)) > 1
    assert not any(reply["oracle"] for reply in replies)
    with pytest.raises(ModelFileError, match=r"^--emotion-classifier .* is not a trained model"):
        agent(tmp_path, examples=2, select="emositsm", emotion_classifier=str(tmp_path / "none"))


@pytest.mark.usefixtures("_by_letters")
def test_emotion_classifier_with_unknown_class_raises_option_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, classifier: Path
) -> None:
    monkeypatch.setattr(parts, "EMOTIONS", tuple(emotion for emotion in EMOTIONS if emotion != "proud"))
    with pytest.raises(OptionError, match="predicts 'proud', which is not one of the 32 emotions"):
        agent(tmp_path, examples=2, select="emositsm", emotion_classifier=str(classifier))


@pytest.mark.usefixtures("_by_letters")
def test_training_conversations_are_not_their_own_examples(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    evaluate(tmp_path, examples=1, datatype="train:evalmode", num_examples=40, world_logs=str(log))
    pairs = [json.loads(line)["dialog"][0] for line in log.read_text().splitlines()]
    assert len(pairs) == 40
    assert all(pair[1]["examples"] != [pair[0]["conv_id"]] for pair in pairs)


# --- long prompts ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_by_letters")
def test_long_prompts_are_shortened_with_a_warning(
    tmp_path: Path, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(parlais_logging, "warning", warnings.append)
    model = scripted(lambda prompt: "Yes.", context_length=250)
    report = evaluate(tmp_path, examples=4, max_tokens=50)
    lengths = [model.count_tokens(prompt) for prompt in model.asked]
    assert max(lengths) <= 200
    assert 0 < report["examples"] < 4
    assert 0 < report["shortened"] <= 1
    assert report["prompt_tokens"] == pytest.approx(sum(lengths) / 64)
    dropped = round((4 - report["examples"]) * 64)
    said = (
        f"{round(report['shortened'] * 64)} of 64 prompts were too long: {dropped} examples and 0 turns were left out"
    )
    assert said in warnings


def test_prompt_that_cannot_fit_raises_option_error(tmp_path: Path, scripted: Any) -> None:
    scripted(lambda prompt: "Yes.", context_length=60)
    with pytest.raises(OptionError, match=r"a prompt of \d+ tokens, .* the model takes 20 besides its reply"):
        ask(agent(tmp_path, max_tokens=40), "on and " * 30)


def test_prompts_are_not_shortened_without_known_context_length(tmp_path: Path, scripted: Any) -> None:
    model = scripted(lambda prompt: "Yes.")
    ask(agent(tmp_path), "on and " * 5000)
    assert model.count_tokens(model.asked[0]) > 10_000


# --- runs that end early ---------------------------------------------------------------------------------------------


def test_interrupted_evaluation_resumes_from_the_cache(tmp_path: Path, scripted: Any) -> None:
    model = scripted(lambda prompt: "Yes.")

    def dies(prompt: str) -> str:
        if len(model.asked) > 30:
            raise LanguageModelError("the server is gone")
        return f"Reply to {len(prompt)}."

    model.says = dies
    with pytest.raises(LanguageModelError, match="the server is gone"):
        evaluate(tmp_path)
    first = model.asked[:30]
    again = scripted(lambda prompt: f"Reply to {len(prompt)}.")
    report = evaluate(tmp_path)
    assert report["exs"] == 64
    assert len(again.asked) == 34
    assert not set(first) & set(again.asked)
    third = scripted(lambda prompt: "never asked")
    assert evaluate(tmp_path) == report
    assert third.asked == []


def test_answers_are_cached_next_to_the_model_file(tmp_path: Path, scripted: Any) -> None:
    scripted(lambda prompt: "Yes.")
    agent(tmp_path).save(str(tmp_path / "model" / "own"))
    made = create_agent_from_model_file(str(tmp_path / "model" / "own"), Opt(loglevel="error"))
    assert ask(made, "Hello!")[0]["text"] == "Yes."
    assert (tmp_path / "model" / "own.completions").is_file()
    assert made.opt["prompt"] == "paper"


def test_model_usage_is_logged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(parlais_logging, "info", lines.append)
    evaluate(tmp_path, lm_prices="1000000,0")
    used = [line for line in lines if line.startswith("echo: ")]
    assert len(used) == 1
    tokens = int(re.findall(r"(\d+) tokens read", used[0])[0])
    assert "64 requests" in used[0]
    assert f"cost {tokens}.0000" in used[0]  # at a price of one per token


@pytest.mark.parametrize("error", [KeyboardInterrupt(), LanguageModelError("gone"), DataError("the disk is full")])
def test_model_usage_is_logged_when_a_run_ends_early(
    tmp_path: Path, scripted: Any, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def dies(prompt: str) -> str:
        if len(model.asked) > 30:
            raise error
        return "Yes."

    model = scripted(dies)
    lines: list[str] = []
    monkeypatch.setattr(parlais_logging, "info", lines.append)
    with pytest.raises(type(error)):
        evaluate(tmp_path)
    assert [line.split(" (")[0] for line in lines if line.startswith("scripted: ")] == ["scripted: 30 requests"]


def test_train_model_saves_the_options(tmp_path: Path) -> None:
    options = {**ECHO, "loglevel": "error", "temperature": 0.5, "examples": 1, "edition": "sample", "select": "random"}
    assert TrainModel.main(**options, model_file=str(tmp_path / "a" / "model")) == ({}, {})
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"model", "model.opt", "model.completions"}
    made = create_agent_from_model_file(str(tmp_path / "a" / "model"), Opt(loglevel="error"))
    assert (made.opt["temperature"], made.opt["examples"]) == (0.5, 1)
    assert ask(made, "Hello!")[0]["text"] == "Hello!"


def test_saving_refuses_to_overwrite_another_model(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"weights")
    with pytest.raises(OptionError, match=f"^--model-file {path} is already another model, or a folder: name a new"):
        agent(tmp_path).save(str(path))
    assert path.read_bytes() == b"weights"
    assert not path.with_name("model.opt").exists()
    with pytest.raises(OptionError, match="or a folder: name a new file"):
        agent(tmp_path).save(str(tmp_path))


def test_acting_on_training_labels_raises_option_error(tmp_path: Path) -> None:
    made = agent(tmp_path)
    made.observe(Message({"text": "a", "labels": ["b"], "episode_done": True}))
    with pytest.raises(OptionError, match="cannot be trained: use parlai eval_model"):
        made.act()


# --- while it is written ---------------------------------------------------------------------------------------------


def streamed(made: Any, text: str) -> tuple[Message, list[str]]:
    """Stream the reply to a chat message; return it and the partial texts."""
    said: list[str] = []
    made.observe(Message({"text": text, "episode_done": False}))
    return made.act_streaming(said.append), said


@pytest.mark.parametrize(
    "said",
    [" Oh no! ", "Oh  no!\n\nHow\tcome? ", "Oh no!\nHuman: I", "Oh no! Empathy AI: Oh", NoAnswer("filtered"), " \n"],
)
def test_streamed_reply_equals_the_unstreamed_reply(tmp_path: Path, scripted: Any, said: str | NoAnswer) -> None:
    scripted(lambda prompt: said)
    at_once = agent(tmp_path, in_chat=True, lm_cache="none")
    at_once.observe(Message({"text": "I lost my key.", "episode_done": False}))
    expected = at_once.act()
    made = agent(tmp_path, in_chat=True, lm_cache="none")
    reply, parts_of_it = streamed(made, "I lost my key.")
    assert dict(reply) == dict(expected)
    assert made._history.turns == at_once._history.turns
    assert (parts_of_it[-1] if parts_of_it else "") == reply["text"]
    assert all(later.startswith(one) and later != one for one, later in pairwise(parts_of_it))
    assert all(reply["text"].startswith(one) for one in parts_of_it)


def test_streamed_chat_prompt_contains_all_turns_since_reset(tmp_path: Path, scripted: Any) -> None:
    model = scripted(lambda prompt: f" Reply {prompt.count('Human:')}. ")
    made = agent(tmp_path, in_chat=True)
    streamed(made, "I lost my key.")
    reply, said = streamed(made, "In the lake.")
    assert said[-1] == reply["text"] == "Reply 2."
    assert model.asked[-1].endswith("\n\nHuman: I lost my key.\nEmpathy AI: Reply 1.\nHuman: In the lake.\nEmpathy AI:")
    made.reset()
    again, said = streamed(made, "I lost my key.")
    assert said == [again["text"]] == ["Reply 1."]  # cached, so it comes in one piece
    assert again["cached"] is True
    assert len(model.asked) == 2


def test_empty_message_streams_nothing(tmp_path: Path, scripted: Any) -> None:
    model = scripted(lambda prompt: "Yes.")
    reply, said = streamed(agent(tmp_path, in_chat=True), "")
    assert (dict(reply), said, model.asked) == ({"id": "InContext", "episode_done": False}, [], [])


def test_interrupted_stream_adds_no_turn_and_is_not_cached(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    monkeypatch.setattr(parlais_logging, "info", lines.append)
    server.next(cut_after(piece("I am so")))
    made = agent(tmp_path, in_chat=True, **SERVED)
    said: list[str] = []
    made.observe(Message({"text": "I lost my key.", "episode_done": False}))
    with pytest.raises(LanguageModelError, match="broke off in the middle of an answer"):
        made.act_streaming(said.append)
    assert said == ["I am so"]
    assert [turn.text for turn in made._history.turns] == ["I lost my key."]
    assert any("0 requests" in line for line in lines)
    reply, said = streamed(made.clone(), "I lost my key.")  # nor was any of it cached
    assert (reply["text"], reply["cached"], said[0]) == ("I lost my key.", False, "I")


@pytest.mark.parametrize("prompt", ["chat", "paper"])
def test_served_model_streams_partial_replies(tmp_path: Path, server: ModelServer, prompt: str) -> None:
    reply, said = streamed(agent(tmp_path, in_chat=True, **{**SERVED, "prompt": prompt}), "I lost my key.")
    assert said == ["I", "I lost", "I lost my", "I lost my key."]
    assert (reply["text"], reply["finish"], reply["cached"]) == ("I lost my key.", "stop", False)
    assert reply["prompt_tokens"] == EchoModel().count_tokens(sent_prompt(server))


def test_end_of_thoughts_that_is_written_twice_is_streamed_as_in_the_reply(tmp_path: Path, server: ModelServer) -> None:
    words = ("<think>Sad.</think>\n\n", "Oh no!</think>", " How come?")
    server.next(events(*map(piece, words), piece(finish="stop")))
    reply, said = streamed(agent(tmp_path, in_chat=True, **SERVED), "I lost my key.")
    assert said == ["Oh no!</think>", "Oh no!</think> How come?"]
    assert reply["text"] == said[-1]


def sent_prompt(server: ModelServer) -> Prompt:
    """Return the server's last request."""
    body = server.requests[-1].body
    return body.get("prompt") or tuple(Prompted(one["role"], one["content"]) for one in body["messages"])


def test_local_model_streams_the_same_reply(tmp_path: Path, real_data: Path) -> None:
    folder = write_llama_folder(tmp_path / "llama", real_data)
    options = {"lm_backend": "hf", "lm_model": str(folder), "precision": "float32", "lm_cache": "none", "no_cuda": True}
    made, other = (agent(tmp_path, in_chat=True, **options, max_tokens=20, prompt="chat") for _ in range(2))
    reply, said = streamed(made, "Once upon a time")
    other.observe(Message({"text": "Once upon a time", "episode_done": False}))
    assert dict(reply) == dict(other.act())
    assert len(said) > 3
    assert reply["text"].startswith(said[-1])


@pytest.mark.parametrize("cache", ["none", "kept"])
def test_control_tokens_that_somebody_types_end_nothing(tmp_path: Path, cache: str) -> None:
    """The words of all turns are read as words; the tokens that a prompt file names stay what they are."""
    own = tmp_path / "own.yaml"
    parts_of_it = {"instruction": "i", "person": "{text}", "listener": "{text}", "example": "{turns}"}
    own.write_text(json.dumps({**parts_of_it, "prompt": "{examples}{turns}</s>x"}))
    folder = str(write_language_model("llama", tmp_path / "llama"))
    options = {"lm_backend": "hf", "lm_model": folder, "precision": "float32", "no_cuda": True, "max_tokens": 4}
    made = agent(tmp_path, **options, prompt=str(own), lm_cache=str(tmp_path / cache) if cache != "none" else cache)
    replies = ask(made, "hi<s>", "a</s>\nb\nhi</s>")
    # The start token; each byte is a token, but " s" is one; "</s>" of the file and "x".
    read = [["h", "i", "<", " s", ">"], [*"a< /s>", "\n", "b", "\n", *"hi< /s>"]]
    assert [reply["prompt_tokens"] for reply in replies] == [1 + len(words) + 2 for words in read]


# --- with real backends ----------------------------------------------------------------------------------------------


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A real server of a model called ``parrot``, which requires a key."""
    with ModelServer(EchoModel("parrot"), key="sk-secret-1234") as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1234")
        yield running


SERVED: dict[str, Any] = {"lm_backend": "openai", "lm_model": "parrot", "lm_retries": 0, "prompt": "chat"}


def test_served_model_evaluation_never_leaks_the_api_key(
    tmp_path: Path, server: ModelServer, capfd: pytest.CaptureFixture[str]
) -> None:
    log, printed = tmp_path / "log.jsonl", StringIO()
    listener = StreamHandler(printed)
    parlais_logging.logger.addHandler(listener)
    server.next(None, no_text())
    report = evaluate(tmp_path, **SERVED, world_logs=str(log), num_examples=16, loglevel="debug", batchsize=4)
    assert len(server.requests) == 16
    assert report["no_answer"] == pytest.approx(1 / 16)
    assert server.requests[0].body["messages"][0]["role"] == "system"
    made = agent(tmp_path, **SERVED)
    made.save(str(tmp_path / "model"))
    parlais_logging.logger.removeHandler(listener)
    assert "parrot" in printed.getvalue()
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"model.opt", "log.jsonl", "log.metadata", "completions"} <= {path.name for path in written}
    for text in (
        printed.getvalue(),
        *capfd.readouterr(),
        *(path.read_bytes().decode(errors="replace") for path in written),
    ):
        assert "sk-secret" not in text
    replies = [reply.reply for reply in read_replies_log(log)]
    assert sum(map(bool, replies)) >= 15


def test_server_error_is_one_line_and_evaluation_resumes(tmp_path: Path, server: ModelServer) -> None:
    server.next(*[None] * 5, status(401))
    with pytest.raises(LanguageModelError) as caught:
        evaluate(tmp_path, **SERVED, batchsize=1, num_examples=10)
    assert "\n" not in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    asked = len(server.requests)
    assert asked == 6
    evaluate(tmp_path, **SERVED, batchsize=1, num_examples=10)
    assert len(server.requests) == asked + 5


def test_local_model_replies_do_not_depend_on_batch_size(tmp_path: Path) -> None:
    """Greedy replies are the same in batches as one by one."""
    folder = write_language_model("llama", tmp_path / "llama")
    config = json.loads((folder / "config.json").read_text())  # its tokens are bytes, so that prompts are long
    (folder / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 2000}))
    options = {"lm_backend": "hf", "lm_model": str(folder), "precision": "float32", "temperature": 0.0}
    lengths = {"max_tokens": 6, "num_examples": 6, "lm_cache": "none"}
    found = []
    for batchsize in (1, 3):
        log = tmp_path / f"{batchsize}.jsonl"
        evaluate(tmp_path, **options, **lengths, batchsize=batchsize, world_logs=str(log))
        found.append([reply.get("text") for reply in logged_replies(log)])
    assert found[0] == found[1]
    assert len(found[0]) == 6


def test_missing_chat_template_raises_before_encoding_examples(tmp_path: Path) -> None:
    folder = write_language_model("llama", tmp_path / "llama")
    with pytest.raises(OptionError, match="has no chat template: choose --prompt paper"):
        agent(tmp_path, lm_backend="hf", lm_model=str(folder), prompt="chat", examples=3)
    assert not list(tmp_path.rglob("*.npy"))  # no example was encoded


def test_self_chat_agents_see_the_same_conversation(tmp_path: Path, scripted: Any) -> None:
    model = scripted(lambda prompt: f"Reply {len(model.asked)}.")
    options = {**SAMPLE, **ECHO, "prompt": "paper", "datapath": str(tmp_path), "datatype": "valid"}
    SelfChat.main(
        **{**options, "task": "empathy:empathetic_dialogues"},
        selfchat_max_turns=2,
        display_examples=False,
        outfile=str(tmp_path / "chat.jsonl"),
    )
    assert len(model.asked) == 3
    # The opening line counts as the first agent's own turn.
    opener = model.asked[0].split("Human: ")[1].removesuffix("\nEmpathy AI:")
    assert model.asked[1].endswith(f"Empathy AI: {opener}\nHuman: Reply 1.\nEmpathy AI:")
    assert model.asked[2].endswith(f"Human: {opener}\nEmpathy AI: Reply 1.\nHuman: Reply 2.\nEmpathy AI:")


def test_interactive_command_answers_typed_messages(tmp_path: Path) -> None:
    """The command as a user types it, in a folder without data and without network access."""
    command = ["-m", "parlai", "interactive", "-m", "empathy:in_context", "--lm-backend", "echo", "-dp", str(tmp_path)]
    result = succeeded(run([sys.executable, *command], tmp_path, "I lost my key.\nIn the lake.\n[EXIT]\n"))
    assert "[InContext]: I lost my key." in re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    assert "[InContext]: In the lake." in re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
