"""``-m empathy:text_classifier``: any Hugging Face encoder with a head that judges ``context [SEP] reply``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from torch import Tensor, nn

from parlai_empathy.agent_kit.judging.examples import TextPair
from parlai_empathy.agent_kit.judging.judge import JudgeAgent
from parlai_empathy.agent_kit.judging.on_encoder import OnEncoder
from parlai_empathy.agent_kit.options.common import check_at_least, check_choices
from parlai_empathy.agent_kit.options.presets import add_preset, set_first_defaults
from parlai_empathy.modules.encoders.pair_encoder import POOLINGS, PairEncoder
from parlai_empathy.modules.encoders.pair_tokens import pair_tokens, twin_tokens
from parlai_empathy.modules.encoders.twin_encoder import TwinEncoder
from parlai_empathy.modules.pretrained.hugging_face import MINILM

READINGS = ("together", "apart")

_COMMON: dict[str, Any] = {
    # Common settings for fine-tuning BERT models (Devlin et al. 2019, appendix A.3): a small rate with warm-up.
    "optimizer": "adamw",
    "learningrate": 5e-5,
    "lr_scheduler": "invsqrt",
    "warmup_updates": 100,
}

PRESETS: dict[str, dict[str, Any]] = {
    "default": _COMMON | {"hf_model": MINILM, "pooling": "mean", "num_epochs": 4.0},
    # Xu et al. (2022) state the encoder, the rate and the epochs; RoBERTa's classifiers use the first token.
    "endex": _COMMON | {"hf_model": "roberta-large", "pooling": "first", "num_epochs": 2.0},
}


class TextClassifierAgent(OnEncoder, JudgeAgent):
    """Classifies texts, rates replies, or identifies true replies, with a pretrained encoder."""

    of_weights = ("hf_model", "pooling")  # not "reading": a model of one --reading can initialise the other

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options."""
        super().add_cmdline_args(parser, partial_opt)
        group = parser.add_argument_group("Text classifier (empathy:text_classifier)")
        add_preset(group, PRESETS, "EnDex, the classifier of engaging replies")
        group.add_argument(
            "--hf-model",
            default=MINILM,
            help="Folder of a Hugging Face encoder, or its name on the hub.",
        )
        group.add_argument(
            "--reading",
            choices=list(READINGS),
            default="together",
            help="together: context [SEP] reply, as one text. apart: each separately, and their vectors "
            "are compared; this learns faster from little data, and more --negatives cost next to "
            "nothing.",
        )
        group.add_argument(
            "--pooling",
            choices=list(POOLINGS),
            default="mean",
            help="The mean of the token states, or the first token's, as in BERT classifiers.",
        )
        group.add_argument(
            "--max-tokens",
            type=int,
            default=128,
            help="Longest text that is read, special tokens included; a longer one loses the context's oldest words.",
        )
        set_first_defaults(parser, partial_opt or {})
        return parser

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        check_choices(opt, pooling=POOLINGS, reading=READINGS)
        check_at_least(opt, 8, "max_tokens")
        super().__init__(opt, shared)

    def build_model(self) -> nn.Module:
        """Build the encoder and a new head."""
        kind = PairEncoder if self.opt["reading"] == "together" else TwinEncoder
        return kind(self.load_encoder(), self.outputs, self.opt["pooling"])

    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        """Return token ids and the model's other inputs. Separators join a context's turns."""
        separator = f" {self.tokenizer.sep_token or ''} "
        contexts = [separator.join(pair.turns) for pair in pairs]
        encode = pair_tokens if self.opt["reading"] == "together" else twin_tokens
        return encode(self.tokenizer, contexts, [pair.reply for pair in pairs], self.opt["max_tokens"])
