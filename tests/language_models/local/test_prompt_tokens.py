"""Prompts as tokens, with different kinds of tokenizers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
import transformers
from tiny_generators import write_language_model
from tokenizers import processors

from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.local.prompt_tokens import control_tokens, prompt_tokens
from parlai_empathy.language_models.prompt import Message


def tokenizer(name: str, folder: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(write_language_model(name, folder))


def test_start_token_is_added_if_the_tokenizer_has_one(tmp_path: Path) -> None:
    llama, gpt2 = tokenizer("llama", tmp_path / "llama"), tokenizer("gpt2", tmp_path / "gpt2")
    assert llama.convert_ids_to_tokens(prompt_tokens(llama, "ab", "m")) == ["<s>", "a", "b"]
    assert gpt2.convert_ids_to_tokens(prompt_tokens(gpt2, "ab", "m")) == ["a", "b"]


def test_empty_text_falls_back_to_start_or_end_token(tmp_path: Path) -> None:
    gpt2 = tokenizer("gpt2", tmp_path)
    assert gpt2.convert_ids_to_tokens(prompt_tokens(gpt2, "", "m")) == ["</s>"]
    gpt2.bos_token = None
    assert gpt2.convert_ids_to_tokens(prompt_tokens(gpt2, "", "m")) == ["</s>"]
    gpt2.eos_token = None
    with pytest.raises(OptionError, match="m: the prompt is empty, and the model has no start token"):
        prompt_tokens(gpt2, "", "m")


def test_trailing_end_token_is_removed(tmp_path: Path) -> None:
    ending = tokenizer("llama", tmp_path)
    ending.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    assert ending.convert_ids_to_tokens(ending("ab")["input_ids"]) == ["<s>", "a", "b", "</s>"]
    assert ending.convert_ids_to_tokens(prompt_tokens(ending, "ab", "m")) == ["<s>", "a", "b"]


def test_control_tokens_are_the_special_ones_and_the_longest_are_found_first(tmp_path: Path) -> None:
    llama = tokenizer("llama", tmp_path)
    llama.add_special_tokens({"additional_special_tokens": ["<|im|>", "<|im|>x", "|"]})
    llama.add_tokens(["<tool>"])  # a word of the vocabulary
    found = control_tokens(llama).findall("<s><tool></s></s <|im|>x|<unk>")
    assert found == ["<s>", "</s>", "<|im|>x", "<unk>"]


def test_tokenizer_without_control_tokens_finds_none() -> None:
    class Plain:
        added_tokens_decoder: ClassVar[dict[int, Any]] = {}

    assert control_tokens(Plain()).findall("</s> and ") == []


def test_chat_template_gets_no_extra_start_token(tmp_path: Path) -> None:
    llama = tokenizer("llama", tmp_path)
    llama.chat_template = "{{ bos_token }}{% for m in messages %}{{ m['content'] }}{% endfor %}"
    found = prompt_tokens(llama, (Message("user", "a"), Message("assistant", "b")), "m")
    assert llama.convert_ids_to_tokens(found) == ["<s>", "a", "b"]


NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
ALTERNATING = (
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate') }}{% endif %}{% endfor %}"
)
LINES = (
    "{% for m in messages %}{% if m['role'] != 'system' %}"
    "{{ m['role'][0] }}:{{ m['content'] | trim }};{% endif %}{% endfor %}"
)


@pytest.mark.parametrize("template", [NO_SYSTEM + LINES, ALTERNATING + LINES, LINES], ids=["no", "strict", "silent"])
def test_system_text_without_a_system_role_stands_before_the_users(template: str, tmp_path: Path) -> None:
    """Templates as those of Gemma and Mistral refuse a system message, and others leave it out."""
    llama = tokenizer("llama", tmp_path)
    llama.chat_template = template
    system, user, model = Message("system", " be kind "), Message("user", "hi"), Message("assistant", "oh")
    for chat, text in (
        ((system, user, model), "u:be kind \n\nhi;a:oh;"),
        ((system, model, user), "u:be kind;a:oh;u:hi;"),
        ((user, model), "u:hi;a:oh;"),
    ):
        assert llama.decode(prompt_tokens(llama, chat, "m")) == text


def test_template_that_can_turn_thoughts_off_does_so(tmp_path: Path) -> None:
    """As Qwen3's: thoughts that are already over stand before the answer."""
    llama = tokenizer("llama", tmp_path)
    llama.chat_template = "{{ messages[0]['content'] }}{% if enable_thinking is false %}<think></think>{% endif %}"
    assert llama.decode(prompt_tokens(llama, (Message("user", "hi"),), "m")) == "hi<think></think>"


def test_broken_chat_template_raises_one_line_error(tmp_path: Path) -> None:
    llama = tokenizer("llama", tmp_path)
    llama.chat_template = "{% for m in messages %}"
    with pytest.raises(
        OptionError, match=r"^m: its chat template rejects these messages \(user\): .*: choose --prompt paper"
    ) as caught:
        prompt_tokens(llama, (Message("user", "a"),), "m")
    assert "\n" not in str(caught.value)


def test_lone_surrogates_are_replaced_in_prompts(tmp_path: Path) -> None:
    llama = tokenizer("llama", tmp_path)
    llama.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    for prompt in ("a\udce9", (Message("user", "a\udce9"),)):
        assert llama.convert_ids_to_tokens(prompt_tokens(llama, prompt, "m"))[-2:] == ["a", "?"]
