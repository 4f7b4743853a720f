"""Minimal language models of every kind, with random weights, in Hugging Face's format."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, pre_tokenizers, processors
from tokenizers.models import BPE
from transformers.utils import logging

KINDS = {"t5": "seq2seq", "bart": "seq2seq", "gpt2": "causal", "llama": "causal"}

_SPECIAL = ["<pad>", "<s>", "</s>", "<unk>"]
_PAD, _BOS, _EOS = range(3)
_SPACE = "Ġ"
_AFTER_SPACE = [(_SPACE, letter) for letter in string.ascii_lowercase]  # a space and a letter are one token
_SIZE = len(_SPECIAL) + 256 + len(_AFTER_SPACE)

# The special tokens that each original tokenizer adds to a text, and those that it declares.
_TEMPLATES = {"t5": "$A </s>", "bart": "<s> $A </s>", "gpt2": "$A", "llama": "<s> $A"}
_KNOWN: dict[str, dict[str, str]] = {
    "t5": {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"},
    "bart": {
        "pad_token": "<pad>",
        "bos_token": "<s>",
        "cls_token": "<s>",
        "eos_token": "</s>",
        "sep_token": "</s>",
        "unk_token": "<unk>",
    },
    "gpt2": {"bos_token": "</s>", "eos_token": "</s>", "unk_token": "</s>"},
    "llama": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
}


def write_language_model(name: str, folder: Path) -> Path:
    """Write a model, one of :data:`KINDS`, and a byte-level tokenizer."""
    logging.disable_progress_bar()
    torch.manual_seed(5)
    model = _model(name)
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(2)  # the default initialisation is so small that all tokens are about equally probable
    model.eval().save_pretrained(folder)
    _tokenizer(name).save_pretrained(folder)
    return folder


def _tokenizer(name: str) -> Any:
    tokens = [*_SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet()), *map("".join, _AFTER_SPACE)]
    tokenizer = Tokenizer(BPE({token: i for i, token in enumerate(tokens)}, _AFTER_SPACE))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=_TEMPLATES[name], special_tokens=[("<s>", _BOS), ("</s>", _EOS)]
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **_KNOWN[name])


def _model(name: str) -> Any:
    if name == "t5":
        config = transformers.T5Config(
            vocab_size=_SIZE + 4,  # a few more rows than tokens, as in the originals
            d_model=16,
            d_kv=8,
            d_ff=16,
            num_layers=2,
            num_heads=2,
            pad_token_id=_PAD,
            eos_token_id=_EOS,
            decoder_start_token_id=_PAD,
        )
        return transformers.T5ForConditionalGeneration(config)
    if name == "bart":
        config = transformers.BartConfig(
            vocab_size=_SIZE,
            d_model=16,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=16,
            decoder_ffn_dim=16,
            max_position_embeddings=256,
            pad_token_id=_PAD,
            bos_token_id=_BOS,
            eos_token_id=_EOS,
            decoder_start_token_id=_EOS,
            forced_eos_token_id=None,
        )
        return transformers.BartForConditionalGeneration(config)
    if name == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=_SIZE, n_positions=256, n_embd=16, n_layer=2, n_head=2, bos_token_id=_EOS, eos_token_id=_EOS
        )
        return transformers.GPT2LMHeadModel(config)
    config = transformers.LlamaConfig(
        vocab_size=_SIZE,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=256,
        bos_token_id=_BOS,
        eos_token_id=_EOS,
    )
    return transformers.LlamaForCausalLM(config)
