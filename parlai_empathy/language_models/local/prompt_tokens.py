"""Tokenizes a prompt for a Hugging Face model."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from parlai_empathy.errors import OptionError, one_line
from parlai_empathy.files.text_file import as_unicode
from parlai_empathy.language_models.prompt import Message, Prompt, without_system_role


def prompt_tokens(tokenizer: Any, prompt: Prompt, model: str) -> list[int]:
    """Return the token ids of a text, with the tokenizer's leading special tokens, or of a chat in the chat template.

    :param model: the model's name, for error messages.
    :raises OptionError: if a chat has no chat template, or the template rejects the messages, also without the system
        role; if an empty prompt has no token to begin with.
    """
    if isinstance(prompt, str):
        tokens = list(tokenizer(as_unicode(prompt))["input_ids"])
        # Some tokenizers append an end token to each text, after which a model would begin another text.
        if len(tokens) > 1 and tokens[-1] == tokenizer.eos_token_id:
            tokens.pop()
    else:
        # The template adds the special tokens itself.
        tokens = list(tokenizer(_chat_text(tokenizer, prompt, model), add_special_tokens=False)["input_ids"])
    if tokens:
        return tokens
    begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    if begin is None:
        raise OptionError(f"{model}: the prompt is empty, and the model has no start token: pass a prompt")
    return [begin]


def control_tokens(tokenizer: Any) -> re.Pattern[str]:
    """Return a pattern of the texts that the tokenizer reads as control tokens, such as ``</s>`` and ``<|im_end|>``."""
    texts = [str(token) for token in tokenizer.added_tokens_decoder.values() if token.special]
    # The longest first; one character cannot be taken apart.
    texts = sorted((text for text in texts if len(text) > 1), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, texts)) or "(?!)")


def _chat_text(tokenizer: Any, messages: tuple[Message, ...], model: str) -> str:
    if not tokenizer.chat_template:
        raise OptionError(f"{model} has no chat template: choose --prompt paper, or a chat model")
    # Some templates refuse a system message, and others leave it out.
    with suppress(Exception):
        text = _filled(tokenizer, messages)
        if all(as_unicode(one.content).strip() in text for one in messages if one.role == "system"):
            return text
    try:
        return _filled(tokenizer, without_system_role(messages))
    except Exception as error:  # a chat template comes with the model and may raise anything
        roles = ", ".join(one.role for one in messages)
        raise OptionError(
            f"{model}: its chat template rejects these messages ({roles}): {one_line(error)}: choose --prompt paper"
        ) from error


def _filled(tokenizer: Any, messages: tuple[Message, ...]) -> str:
    plain = [{"role": one.role, "content": as_unicode(one.content)} for one in messages]
    # A reply of one or two sentences leaves no room for thoughts, which some models can do without.
    text: str = tokenizer.apply_chat_template(plain, tokenize=False, add_generation_prompt=True, enable_thinking=False)
    return text
