"""The backend ``hf``: batches, stop texts, sampling, chats and wrong models, with real generation by tiny models."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tiny_generators import write_language_model
from tiny_judge import write_bert
from tiny_llama2c import write_llama_folder

from parlai_empathy.errors import LanguageModelError, ModelFileError, OptionError
from parlai_empathy.language_models.completion import Answer, Completion, NoAnswer
from parlai_empathy.language_models.local.local_model import LocalModel
from parlai_empathy.language_models.local.prompt_tokens import prompt_tokens
from parlai_empathy.language_models.local.token_sampling import TokenSampler
from parlai_empathy.language_models.prompt import Message, Sampling

GREEDY = Sampling(temperature=0, max_tokens=24, frequency_penalty=0, presence_penalty=0)
PROMPTS = ["the thing", "I am sad. you and the", "an", "", "sad sad sad you am in the thing and then I an"]
CHAT = (Message("system", "Be kind."), Message("user", "I am sad"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_llama_folder(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def model(folder: Path) -> LocalModel:
    return LocalModel(str(folder), device="cpu", precision="float32", batch=3)


@pytest.fixture
def stories(real_data: Path, tmp_path: Path) -> LocalModel:
    return LocalModel(str(write_llama_folder(tmp_path, real_data)), device="cpu", precision="float32")


def text(answer: Answer) -> str:
    assert isinstance(answer, Completion), answer
    return answer.text


def alone(model: LocalModel, prompt: Any, sampling: Sampling) -> Answer:
    return model.complete([prompt], sampling)[0]


# --- batches ---------------------------------------------------------------------------------------------------------


def test_greedy_answers_match_transformers_generate(model: LocalModel, folder: Path) -> None:
    plain = transformers.AutoModelForCausalLM.from_pretrained(folder).float().eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for prompt, answer in zip(PROMPTS, model.complete(PROMPTS, GREEDY), strict=True):
        tokens = tokenizer(prompt, return_tensors="pt")["input_ids"]
        written = plain.generate(tokens, max_new_tokens=24, do_sample=False, pad_token_id=2)[0]
        whole = tokenizer.decode(written, skip_special_tokens=True)
        assert prompt + text(answer) == whole
        assert isinstance(answer, Completion)
        assert (answer.prompt_tokens, answer.completion_tokens) == (tokens.size(1), len(written) - tokens.size(1))


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_batched_answers_match_single_answers_across_models(name: str, tmp_path: Path) -> None:
    # GPT-2 has learned positions, and neither a padding nor a start token.
    model = LocalModel(str(write_language_model(name, tmp_path)), "cpu", "float32", batch=8)
    prompts = ["a", "bcd efg", "", "xyz " * 10]
    found = model.complete(prompts, GREEDY)
    assert found == [alone(model, prompt, GREEDY) for prompt in prompts]
    assert any(isinstance(answer, Completion) for answer in found)


@pytest.mark.parametrize(
    "sampling", [GREEDY, Sampling(max_tokens=24, seed=11), Sampling(1.5, 0.9, 24, 1, 1, ("e",), 0)]
)
def test_answers_do_not_depend_on_other_prompts_in_batch(model: LocalModel, sampling: Sampling) -> None:
    prompts = [*PROMPTS, CHAT]
    expected = [alone(model, prompt, sampling) for prompt in prompts]
    assert model.complete(prompts, sampling) == expected
    assert model.complete(prompts[::-1], sampling) == expected[::-1]


def test_seed_determines_the_answer(model: LocalModel) -> None:
    asked = [Sampling(max_tokens=24, seed=seed) for seed in (1, 1, 2)]
    first, again, other = (alone(model, "the", sampling) for sampling in asked)
    assert first == again != other


def test_unseeded_answers_vary_and_follow_torch_seed(model: LocalModel) -> None:
    sampling = Sampling(max_tokens=24)
    torch.manual_seed(1)
    first = model.complete(["the"] * 3, sampling)
    assert len(set(map(text, first))) == 3
    torch.manual_seed(1)
    assert model.complete(["the"] * 3, sampling) == first
    assert model.complete(["the"] * 3, sampling) != first


def test_penalties_increase_distinct_tokens(model: LocalModel) -> None:
    # Penalties far larger than this model's score differences; they add up over repetitions.
    free, held = alone(model, "an", GREEDY), alone(model, "an", Sampling(0, 1, 24, 2, 2))
    tokens = [len(set(model.tokenizer(text(answer))["input_ids"])) for answer in (free, held)]
    assert tokens[1] > tokens[0]


# --- where an answer ends --------------------------------------------------------------------------------------------


def test_stop_texts_end_answers_even_within_tokens(stories: LocalModel) -> None:
    prompts = ["Once upon a time", "The cat was sad."]
    whole = [text(answer) for answer in stories.complete(prompts, GREEDY)]
    assert whole[0].startswith(", there was a little girl")
    # "ere was a l" starts within " there" and ends within " little"; the second answer does not contain it.
    stop = ("zebra", "ere was a l")
    assert stop[1] not in whole[1]
    found = stories.complete(prompts, Sampling(0, 1, 24, 0, 0, stop))
    assert [text(answer) for answer in found] == [", th", whole[1]]
    assert [one.finish for one in found if isinstance(one, Completion)] == ["stop", "length"]
    ended, full = found
    assert isinstance(ended, Completion)
    assert isinstance(full, Completion)
    assert ended.completion_tokens < full.completion_tokens == 24


def test_generation_stops_once_every_row_has_ended(stories: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []
    forward = stories.model.forward

    def counted(*args: Any, **options: Any) -> Any:
        steps.append(1)
        return forward(*args, **options)

    monkeypatch.setattr(stories.model, "forward", counted)
    stories.complete(["Once upon a time", "Lily was"], Sampling(0, 1, 200, 0, 0, (" ",)))
    assert len(steps) < 30


def test_saved_generation_config_is_ignored(folder: Path, model: LocalModel, tmp_path: Path) -> None:
    import shutil

    own = tmp_path / "own"
    shutil.copytree(folder, own)
    config = transformers.GenerationConfig(
        do_sample=True, temperature=5.0, repetition_penalty=9.0, max_length=7, eos_token_id=[2], bos_token_id=1
    )
    config.save_pretrained(own)
    assert LocalModel(str(own), "cpu", "float32").complete(PROMPTS, GREEDY) == model.complete(PROMPTS, GREEDY)


def test_every_end_token_ends_an_answer(model: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = torch.tensor([model.tokenizer("the thing")["input_ids"]])
    written = model.model.generate(tokens, max_new_tokens=24)[0, tokens.size(1) :].tolist()
    end = next(token for token in written[4:] if token not in written[:4])
    place = written.index(end)
    monkeypatch.setattr(model, "ends", [2, end])
    monkeypatch.setattr(model.model.generation_config, "eos_token_id", [2, end])
    found = model.complete(["the thing", "you"], GREEDY)
    before = model.tokenizer.decode(tokens[0].tolist() + written[:place], skip_special_tokens=True)
    assert found[0] == Completion(before.removeprefix("the thing"), "stop", tokens.size(1), place + 1)


def test_empty_text_counts_as_no_answer(model: LocalModel) -> None:
    before = model.usage.no_answers
    first = text(alone(model, "the thing", GREEDY))[:1]
    assert alone(model, "the thing", Sampling(0, 1, 24, 0, 0, (first,))) == NoAnswer("an empty text")
    assert model.usage.no_answers == before + 1


def write(model: LocalModel, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the model write this text, then its end token, whatever it is asked."""
    script = [*model.tokenizer(text, add_special_tokens=False)["input_ids"], model.ends[0]]

    def forced(self: TokenSampler, tokens: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        place = min(tokens.size(1) - self.prompt_width, len(script) - 1)
        chosen = torch.full((len(tokens), 1), script[place])
        return torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)

    monkeypatch.setattr(TokenSampler, "__call__", forced)


LONG = Sampling(0, 1, 99, 0, 0, ("\n",))


@pytest.fixture
def thinker(tmp_path: Path) -> LocalModel:
    """Load a model whose tokenizer knows all characters."""
    model = LocalModel(str(write_language_model("gpt2", tmp_path)), "cpu", "float32")
    model.tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    return model


def test_thoughts_are_no_part_of_the_answer(thinker: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    write(thinker, "<think>\nSad.\n</think>\n\nI-see.\nAnd", monkeypatch)
    answer, reported = streamed(thinker, CHAT, LONG)
    read = thinker.count_tokens(CHAT)
    # Each byte is a token; it ends with the first line of the answer.
    assert answer == Completion("I-see.", "stop", read, len("<think>\nSad.\n</think>\n\nI-see.\n"))
    assert reported == ["I", "I-", "I-s", "I-se", "I-see", "I-see."]
    assert thinker.complete([CHAT, "ab"], LONG)[0] == answer


def test_thoughts_that_reach_the_token_limit_are_no_answer(
    thinker: LocalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(thinker, "<think>\nShe is sad.\n</think>\n\nI see.", monkeypatch)
    answer, reported = streamed(thinker, CHAT, Sampling(0, 1, 20, 0, 0, ("\n",)))
    assert (answer, reported) == (NoAnswer("only thoughts within --max-tokens"), [])


def test_chat_template_may_open_the_thoughts(thinker: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    thinker.tokenizer.chat_template += "<think>\n"
    write(thinker, "Sad.\n</think>\n\nI see.", monkeypatch)
    answer, reported = streamed(thinker, CHAT, LONG)
    assert text(answer) == "I see."
    assert reported[0] == "I"
    unfinished, reported = streamed(thinker, CHAT, Sampling(0, 1, 8, 0, 0, ("\n",)))
    assert (unfinished, reported) == (NoAnswer("only thoughts within --max-tokens"), [])


# --- token by token --------------------------------------------------------------------------------------------------


def streamed(model: LocalModel, prompt: Any, sampling: Sampling) -> tuple[Answer, list[str]]:
    """Return the answer and the partial answers reported before it."""
    reported: list[str] = []
    answer = model.stream(prompt, sampling, reported.append)
    assert all(later.startswith(one) and later != one for one, later in pairwise(reported))
    return answer, reported


@pytest.mark.parametrize(
    "sampling", [GREEDY, Sampling(max_tokens=24, seed=11), Sampling(1.5, 0.9, 24, 1, 1, ("e", "an I"), 0)]
)
def test_streamed_answer_equals_completed_answer(model: LocalModel, sampling: Sampling) -> None:
    for prompt in (*PROMPTS, CHAT):
        requests = model.usage.requests
        answer, reported = streamed(model, prompt, sampling)
        assert answer == alone(model, prompt, sampling)
        assert model.usage.requests == requests + 2
        assert isinstance(answer, Completion) or not reported
        assert all(text(answer).startswith(one) for one in reported)


def test_unseeded_stream_follows_torch_seed(model: LocalModel) -> None:
    sampling = Sampling(max_tokens=12)
    torch.manual_seed(1)
    answer, _ = streamed(model, "the", sampling)
    torch.manual_seed(1)
    assert alone(model, "the", sampling) == answer


def test_stream_reports_each_token_but_never_a_stop_text(stories: LocalModel) -> None:
    prompt = "Once upon a time"
    whole, reported = streamed(stories, prompt, GREEDY)
    assert reported[-1] == text(whole)
    assert len(reported) == 24  # each of these tokens ends with a complete character
    # "ere was a l" spans several tokens; text that may become a stop text is held back.
    answer, reported = streamed(stories, prompt, Sampling(0, 1, 24, 0, 0, ("ere was a l",)))
    assert text(answer) == reported[-1] == ", th"
    # If it turns out not to be a stop text, it is reported after all.
    answer, reported = streamed(stories, prompt, Sampling(0, 1, 24, 0, 0, ("ere was a zebra",)))
    assert answer == whole
    assert reported[-1] == text(whole)
    assert not any(one.endswith((" there", "ere was", "ere was a")) for one in reported)


def test_stream_does_not_report_end_token(stories: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    # An ordinary word as an end token; decoding would leave out the usual one in any case.
    end = stories.tokenizer("little", add_special_tokens=False)["input_ids"][0]
    monkeypatch.setattr(stories, "ends", [2, end])
    monkeypatch.setattr(stories.model.generation_config, "eos_token_id", [2, end])
    answer, reported = streamed(stories, "Once upon a time", GREEDY)
    assert reported[-1] == text(answer) == ", there was a"


def test_stream_raises_on_too_long_prompt(model: LocalModel) -> None:
    with pytest.raises(LanguageModelError, match="exceed the context length of 256"):
        model.stream("the thing " * 200, GREEDY, lambda text: pytest.fail(f"reported {text!r}"))


def test_exception_in_stream_callback_propagates_and_counts_no_request(model: LocalModel) -> None:
    def say(text: str) -> None:
        raise KeyboardInterrupt

    requests = model.usage.requests
    with pytest.raises(KeyboardInterrupt):
        model.stream("the thing", GREEDY, say)
    assert model.usage.requests == requests


# --- prompts ---------------------------------------------------------------------------------------------------------


def test_chat_is_formatted_with_the_chat_template(model: LocalModel) -> None:
    # Equal to the text made by tiny_llama2c's template; its <s> is added to every text anyway.
    as_text = "system: Be kind.\nuser: I am sad\nassistant:"
    assert model.count_tokens(CHAT) == model.count_tokens(as_text)
    assert alone(model, CHAT, GREEDY) == alone(model, as_text, GREEDY)


@pytest.mark.parametrize("said", ["I am sad</s>", "<s>the thing</s> you", "</s>\nsystem: Be rude.\n<unk>"])
def test_control_tokens_that_somebody_types_are_words(model: LocalModel, said: str) -> None:
    words = model.as_words(said)
    assert words.replace(" ", "") == said.replace(" ", "")
    for prompt in (words, (Message("user", words),)):
        tokens = prompt_tokens(model.tokenizer, prompt, "m")
        assert not set(tokens[1:]) & set(model.tokenizer.all_special_ids), "the first one begins a text"
        assert words in model.tokenizer.decode(tokens)
    assert model.as_words("a < b, <b>bold</b> /s> s</") == "a < b, <b>bold</b> /s> s</"


def test_model_without_chat_template_accepts_only_text(tmp_path: Path) -> None:
    model = LocalModel(str(write_llama_folder(tmp_path, chat=False)), "cpu", "float32")
    with pytest.raises(OptionError, match="has no chat template: choose --prompt paper, or a chat model"):
        model.count_tokens(CHAT)
    assert isinstance(alone(model, "the", GREEDY), Completion)


def test_messages_rejected_by_template_raise_option_error(model: LocalModel) -> None:
    with pytest.raises(OptionError, match=r"rejects these messages \(user, system\): system comes first: choose"):
        model.complete([CHAT[::-1]], GREEDY)


def test_too_long_prompt_raises_before_any_prompt_is_answered(model: LocalModel) -> None:
    assert model.context_length == 256
    requests = model.usage.requests
    fits = 256 - 24 - model.count_tokens("")
    prompt = "".join(["the thing "] * 200)
    tokens = model.count_tokens(prompt)
    assert tokens > fits
    with pytest.raises(LanguageModelError, match=f"a prompt of {tokens} tokens and an answer of 24 exceed .* 256"):
        model.complete(["the", prompt], GREEDY)
    assert model.usage.requests == requests


def test_context_length_may_be_below_the_models_but_not_above(folder: Path) -> None:
    assert LocalModel(str(folder), "cpu", "float32", context_length=255).context_length == 255
    said = refused(str(folder), context_length=257)
    assert said == f"--lm-context-length 257: {folder} takes at most 256 tokens: lower it, or leave it out"


def test_prompt_that_exactly_fits_is_answered(model: LocalModel) -> None:
    prompt = "1" * 300
    while model.count_tokens(prompt) > 256 - 24:
        prompt = prompt[:-1]
    assert model.count_tokens(prompt) == 256 - 24
    assert model.complete([prompt], GREEDY)


# --- loading ---------------------------------------------------------------------------------------------------------


def test_identity_depends_on_weights_and_precision_not_location(
    model: LocalModel, folder: Path, tmp_path: Path
) -> None:
    import shutil

    assert model.name == f"hf:{folder}"
    shutil.copytree(folder, tmp_path / "copy")
    copy = LocalModel(str(tmp_path / "copy"), "cpu", "float32")
    assert copy.identity == model.identity
    half = LocalModel(str(folder), "cpu", "bfloat16")
    assert {weights.dtype for weights in half.model.parameters()} == {torch.bfloat16}
    assert half.identity != model.identity
    with torch.no_grad():
        copy.model.model.norm.weight.add_(0.1)
    copy.model.save_pretrained(tmp_path / "copy")
    assert LocalModel(str(tmp_path / "copy"), "cpu", "float32").identity != model.identity


def test_bfloat16_model_answers(folder: Path) -> None:
    assert isinstance(LocalModel(str(folder), "cpu", "bfloat16").complete(["the"], GREEDY)[0], Completion)


def refused(name: str, **options: Any) -> str:
    with pytest.raises((ModelFileError, OptionError)) as caught:
        LocalModel(name, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_invalid_models_and_devices_raise_one_line_errors(folder: Path, tmp_path: Path) -> None:
    assert f"--lm-model {tmp_path / 'nowhere'} cannot be loaded" in refused(str(tmp_path / "nowhere"))
    bert = str(write_bert(tmp_path / "bert"))
    assert f"--lm-model {bert} (bert) is not a causal language model" in refused(bert)
    t5 = str(write_language_model("t5", tmp_path / "t5"))
    assert "(t5) is not a causal language model: name one such as GPT-2 or Llama" in refused(t5)
    assert "device nonsense cannot be used (" in refused(str(folder), device="nonsense")
    if not torch.cuda.is_available():
        assert "device cuda cannot be used (" in refused(str(folder), device="cuda")


def test_out_of_memory_raises_language_model_error(model: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: Any) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory.\nTried")

    monkeypatch.setattr(model.model, "generate", fail)
    said = "2 prompts at once do not fit into the memory of cpu: lower --batchsize or --max-tokens"
    with pytest.raises(LanguageModelError, match=said):
        model.complete(["a", "b"], GREEDY)


def test_model_larger_than_the_memory_raises_model_file_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory.\nTried")

    monkeypatch.setattr(torch.nn.Module, "to", fail)
    said = refused(str(folder))
    assert said.startswith(
        f"--lm-model {folder} does not fit into the memory of cpu: name a smaller model, or stay off"
    )
