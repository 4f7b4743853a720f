"""A judge that is trained in seconds: a randomly initialised BERT, trained on a few examples of HUMOD's sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai.scripts.train_model import TrainModel
from transformers import BertConfig, BertModel, BertTokenizerFast
from transformers.utils import logging

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz'.,?!"]


def write_bert(folder: Path) -> Path:
    """Write a minimal encoder and a tokenizer that splits words into letters, in Hugging Face's format."""
    logging.disable_progress_bar()
    folder.mkdir(parents=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join([*WORDS, *(f"##{letter}" for letter in WORDS[5:31])]) + "\n")
    BertTokenizerFast(str(vocabulary)).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(WORDS) + 26,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=128,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def train_judge(folder: Path, **changes: Any) -> Path:
    """Train for two steps, by default on relevance; return the model file."""
    options = {
        "task": "empathy:humod:Relevance",
        "edition": "sample",
        "model": "empathy:text_classifier",
        "hf_model": str(write_bert(folder / "bert")),
        "loss": "ce",
        "max_train_steps": 2,
        "batchsize": 8,
        "seed": 3,
        "loglevel": "error",
        **changes,
    }
    TrainModel.main(**options, model_file=str(folder / "model"))
    return folder / "model"
