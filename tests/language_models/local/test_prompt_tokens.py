"""Prompts as tokens, with different kinds of tokenizers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import transformers
from tiny_generators import write_language_model
from tokenizers import processors

from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.local.prompt_tokens import prompt_tokens
from parlai_empathy.language_models.prompt import Message


def tokenizer(name: str, folder: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(write_language_model(name, folder))


def test_a_text_gets_what_its_model_expects_before_it(tmp_path: Path) -> None:
    llama, gpt2 = tokenizer("llama", tmp_path / "llama"), tokenizer("gpt2", tmp_path / "gpt2")
    assert llama.convert_ids_to_tokens(prompt_tokens(llama, "ab", "m")) == ["<s>", "a", "b"]
    assert gpt2.convert_ids_to_tokens(prompt_tokens(gpt2, "ab", "m")) == ["a", "b"]


def test_an_empty_text_begins_with_the_first_token_that_there_is(tmp_path: Path) -> None:
    gpt2 = tokenizer("gpt2", tmp_path)
    assert gpt2.convert_ids_to_tokens(prompt_tokens(gpt2, "", "m")) == ["</s>"]
    gpt2.bos_token = None
    assert gpt2.convert_ids_to_tokens(prompt_tokens(gpt2, "", "m")) == ["</s>"]
    gpt2.eos_token = None
    with pytest.raises(OptionError, match="m: the prompt is empty, and the model has no start token"):
        prompt_tokens(gpt2, "", "m")


def test_a_text_does_not_end_before_its_answer(tmp_path: Path) -> None:
    ending = tokenizer("llama", tmp_path)
    ending.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    assert ending.convert_ids_to_tokens(ending("ab")["input_ids"]) == ["<s>", "a", "b", "</s>"]
    assert ending.convert_ids_to_tokens(prompt_tokens(ending, "ab", "m")) == ["<s>", "a", "b"]


def test_a_chat_has_what_its_template_writes_and_no_more(tmp_path: Path) -> None:
    llama = tokenizer("llama", tmp_path)
    llama.chat_template = "{{ bos_token }}{% for m in messages %}{{ m['content'] }}{% endfor %}"
    found = prompt_tokens(llama, (Message("user", "a"), Message("assistant", "b")), "m")
    assert llama.convert_ids_to_tokens(found) == ["<s>", "a", "b"]


def test_a_broken_template_is_one_line(tmp_path: Path) -> None:
    llama = tokenizer("llama", tmp_path)
    llama.chat_template = "{% for m in messages %}"
    with pytest.raises(
        OptionError, match=r"^m: its chat template rejects these messages \(user\): .*: change"
    ) as caught:
        prompt_tokens(llama, (Message("user", "a"),), "m")
    assert "\n" not in str(caught.value)


def test_half_characters_break_nothing(tmp_path: Path) -> None:
    llama = tokenizer("llama", tmp_path)
    llama.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    for prompt in ("a\udce9", (Message("user", "a\udce9"),)):
        assert llama.convert_ids_to_tokens(prompt_tokens(llama, prompt, "m"))[-2:] == ["a", "?"]
