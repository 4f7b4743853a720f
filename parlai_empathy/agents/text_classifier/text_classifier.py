"""``-m empathy:text_classifier``: any Hugging Face encoder, with a head that judges ``context [SEP] reply``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils.distributed import is_primary_worker
from torch import Tensor, nn

from parlai_empathy.agents import judge_options
from parlai_empathy.agents.judge import JudgeAgent
from parlai_empathy.agents.judge_examples import TextPair
from parlai_empathy.agents.text_classifier.dictionary import TokenizerDictionary, encoder_folder, encoder_source
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.hugging_face import MINILM, load_encoder
from parlai_empathy.modules.pair_encoder import PairEncoder

_DEFAULTS: dict[str, Any] = {
    # Fine-tuning as is usual for BERT's kin (Devlin et al. 2019, appendix A.3): a small rate that begins slowly.
    "optimizer": "adamw",
    "learningrate": 5e-5,
    "lr_scheduler": "invsqrt",
    "warmup_updates": 100,
    "num_epochs": 4.0,
}


class TextClassifierAgent(JudgeAgent):
    """Classifies texts, rates replies, or tells true replies from others, with a pretrained encoder."""

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options."""
        super().add_cmdline_args(parser, partial_opt)
        group = parser.add_argument_group("Text classifier (empathy:text_classifier)")
        group.add_argument(
            "--hf-model",
            default=MINILM,
            help="Folder of a Hugging Face encoder, or its name on the hub.",
        )
        group.add_argument(
            "--pooling",
            choices=["mean", "first"],
            default="mean",
            help="Of the tokens' states: their mean, or the first one (as in BERT's classifiers).",
        )
        group.add_argument(
            "--max-tokens",
            type=int,
            default=128,
            help="Longest text that is read, special tokens included; a longer one loses its oldest words.",
        )
        judge_options.set_defaults(parser, _DEFAULTS, partial_opt or {})
        return parser

    @staticmethod
    def dictionary_class() -> type[TokenizerDictionary]:
        """The encoder's own tokenizer."""
        return TokenizerDictionary

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        if opt["pooling"] not in ("mean", "first"):
            raise OptionError(f"--pooling {opt['pooling']}: must be mean or first")
        if opt["max_tokens"] < 8:
            raise OptionError(f"--max-tokens {opt['max_tokens']}: must be at least 8")
        super().__init__(opt, shared)

    @property
    def tokenizer(self) -> Any:
        """The encoder's tokenizer."""
        return self.dict.tokenizer_of_encoder

    def build_model(self) -> nn.Module:
        """The encoder, with its own weights unless a trained model's follow, and a new head."""
        source = encoder_source(self.opt)
        encoder = load_encoder(source, pretrained=source == self.opt["hf_model"])
        longest = getattr(encoder.config, "max_position_embeddings", self.opt["max_tokens"])
        if self.opt["max_tokens"] > longest:
            raise OptionError(f"--max-tokens {self.opt['max_tokens']}: {self.opt['hf_model']} takes at most {longest}")
        return PairEncoder(encoder, self.NULL_IDX, self.outputs, self.opt["pooling"])

    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        """Token ids and segments, both ``(n, length)``. Turns are told apart by the separator."""
        separator = f" {self.tokenizer.sep_token or ''} "
        encoded = [self._encode(separator.join(pair.turns), pair.reply) for pair in pairs]
        tokens = [torch.tensor(row["input_ids"]) for row in encoded]
        segments = [torch.tensor(row.get("token_type_ids") or [0] * len(row["input_ids"])) for row in encoded]
        return (
            nn.utils.rnn.pad_sequence(tokens, batch_first=True, padding_value=self.NULL_IDX),
            nn.utils.rnn.pad_sequence(segments, batch_first=True),
        )

    def _encode(self, context: str, reply: str) -> Any:
        """At most ``--max-tokens`` tokens: the context's oldest words go first, then what a long reply has too much."""
        longest = self.opt["max_tokens"]
        if not context:
            self.tokenizer.truncation_side = "right"
            return self.tokenizer(reply, truncation=True, max_length=longest)
        self.tokenizer.truncation_side = "left"
        return self.tokenizer(context, self._cut(reply, longest // 2), truncation="only_first", max_length=longest)

    def _cut(self, text: str, most: int) -> str:
        """The text's beginning of at most ``most`` tokens."""
        if len(text) <= most:  # a token has at least one character
            return text
        ends = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        return text if len(ends) <= most else text[: ends[most - 1][1]]

    def save(self, path: str | None = None) -> None:
        """Save the model, and once what describes its encoder."""
        path = path or self.opt.get("model_file")
        super().save(path)
        if path and is_primary_worker() and not encoder_folder(path).is_dir():
            model: Any = getattr(self.model, "module", self.model)
            self.tokenizer.save_pretrained(encoder_folder(path))
            model.encoder.config.save_pretrained(encoder_folder(path))
