"""The options of ``empathy:generative``, and its defaults for ParlAI's own options.

There are two presets: ``default``, what we would use today, and ``paper``, what Rashkin et al. (2019) used. A value on
the command line overrides both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.options.common import (
    TRUNCATIONS,
    add_precision,
    add_truncate_context,
    add_vectors_file,
    check_at_least,
    check_choices,
    check_fp16,
    check_sizes,
    check_unused,
    flag,
)
from parlai_empathy.agent_kit.options.presets import EVERY_EPOCH, Choice, add_preset, check_preset, set_first_defaults
from parlai_empathy.agent_kit.trained.init_model import known_choices
from parlai_empathy.agents.generative.dictionary import PEERS
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.pretrained.hugging_face import LANGUAGE_MODELS

DIVERSE_BEAM = "diversebeam"
PROTOCOLS = ("none", "peers")

# Options that the weights of ``--init-model`` require: its sizes, and its tokenization.
OF_WEIGHTS = (
    *("embedding_size", "n_layers", "n_encoder_layers", "n_decoder_layers", "n_heads", "ffn_size", "n_positions"),
    "truncate_context",
)
OF_TOKENS = ("hf_model", "hf_kind", "dict_tokenizer", "dict_lower", "dict_maxtokens", "dict_minfreq")

# Options of ParlAI's Transformer over words. (With --hf-model, --n-positions is not used either, but changes no model.)
_OF_TRANSFORMER = (
    *("embedding_size", "n_layers", "n_encoder_layers", "n_decoder_layers", "n_heads", "ffn_size", "activation"),
    *("dropout", "attention_dropout", "relu_dropout", "variant", "embeddings_scale", "learn_positional_embeddings"),
    *("output_scaling", "embedding_type", "vectors_file"),
)

# Sizes as in the paper; its post-norm, ReLU and fixed sinusoids are ParlAI's own defaults.
_COMMON: dict[str, Any] = EVERY_EPOCH | {
    "embedding_size": 300,
    "n_heads": 6,
    "ffn_size": 1200,
    "n_positions": 512,
    "history_size": 4,
    "text_truncate": 100,
    "label_truncate": 100,
    "validation_metric": "ppl",
}

PRESETS: dict[str, dict[str, Any]] = {
    # For training from random weights on some ten thousand replies, with a core or two: half the layers, Adam with
    # decoupled weight decay and warm-up, small batches, dropout, lower-cased words. No label smoothing, because models
    # are compared by perplexity, which smoothing increases.
    "default": {
        "n_layers": 2,
        "optimizer": "adamw",
        "learningrate": 1e-3,
        "lr_scheduler": "invsqrt",
        "warmup_updates": 500,
        "weight_decay": 0.01,
        "gradient_clip": 1.0,
        "batchsize": 32,
        "dropout": 0.2,
        "dict_lower": True,
        "truncate_context": "oldest",
        "num_epochs": 12.0,
        "validation_patience": 3,
        "inference": "greedy",
        "beam_size": 1,
        "beam_min_length": 1,
        "beam_block_ngram": 3,
    },
    # Optimiser, batch size and length of training are those of the paper's retrieval model: for the generator, the
    # paper states only the learning rate (8e-5 with five layers) and the search.
    "paper": {
        "n_layers": 4,
        "optimizer": "adamax",
        "learningrate": 8e-4,
        "lr_scheduler": "none",
        "warmup_updates": -1,
        "weight_decay": None,
        "gradient_clip": -1.0,
        "batchsize": 512,
        "dropout": 0.0,
        "dict_lower": False,
        "truncate_context": "newest",
        "num_epochs": 10.0,
        "validation_patience": 10,
        "inference": DIVERSE_BEAM,
        "beam_size": 5,
        "beam_min_length": 1,
        "beam_block_ngram": -1,
    },
}

# Common settings for fine-tuning language models: a small learning rate with warm-up, few epochs.
_PRETRAINED: dict[str, Any] = {
    "optimizer": "adamw",
    "learningrate": 5e-5,
    "lr_scheduler": "invsqrt",
    "warmup_updates": 200,
    "gradient_clip": 1.0,
    "batchsize": 16,
    "num_epochs": 3.0,
}

# The vocabulary of all three folds, so that no word is unknown: unknown words would lower perplexity.
_PEERS: dict[str, Any] = {
    "dict_tokenizer": PEERS,
    "dict_lower": True,
    "dict_include_valid": True,
    "dict_include_test": True,
}


def defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults that follow from the options' current values."""
    chosen = _COMMON | PRESETS.get(values.get("preset") or "default", {})
    if values.get("hf_model"):
        chosen |= _PRETRAINED
    if values.get("ppl_protocol") == "peers":
        chosen |= _PEERS
    return chosen


def add(parser: ParlaiParser, partial_opt: Mapping[str, Any]) -> ParlaiParser:
    """Add the options, and set the defaults."""
    group = parser.add_argument_group("Generative (empathy:generative)")
    add_preset(group, PRESETS, "the EmpatheticDialogues paper", defaults)
    group.add_argument(
        "--ppl-protocol",
        choices=list(PROTOCOLS),
        default="none",
        help="peers: tokenization and vocabulary of the papers from MoEL to CASE, and their perplexity "
        "in addition to ParlAI's.",
        action=Choice,
        defaults=defaults,
    )
    group.add_argument(
        "--hf-model",
        default=None,
        help="Start from a Hugging Face language model instead of random weights: a folder, or a name on the hub.",
        action=Choice,
        defaults=defaults,
    )
    group.add_argument(
        "--hf-kind",
        choices=["auto", *LANGUAGE_MODELS],
        default="auto",
        help="Kind of --hf-model: seq2seq such as T5 and BART, causal such as GPT-2 and Llama; auto: "
        "from its configuration.",
    )
    add_vectors_file(group)
    add_truncate_context(group)
    add_precision(group)
    _add_beam(group)
    _allow_diverse_beam(parser)
    set_first_defaults(parser, known_choices(partial_opt, OF_TOKENS))
    return parser


def _add_beam(group: Any) -> None:
    group.add_argument(
        "--beam-groups",
        type=int,
        default=5,
        help=f"For --inference {DIVERSE_BEAM}: number of groups in the beam; must divide --beam-size.",
    )
    group.add_argument(
        "--diversity-strength",
        type=float,
        default=0.5,
        help=f"For --inference {DIVERSE_BEAM}: penalty of a token, in nats, for each earlier group that chose it in "
        "the same step.",
    )


def _allow_diverse_beam(parser: ParlaiParser) -> None:
    """Add diverse beam search to the choices of ParlAI's ``--inference``."""
    for action in parser._actions:
        if action.dest == "inference":
            action.choices = sorted({*(action.choices or ()), DIVERSE_BEAM})


def check(opt: Opt) -> None:
    """Raise :class:`OptionError` for invalid values or combinations."""
    check_preset(opt)
    if opt.get("hf_model"):
        check_unused(opt, _OF_TRANSFORMER, "--hf-model has its own; leave it out")
    else:
        check_sizes(opt)
    check_choices(opt, truncate_context=TRUNCATIONS, ppl_protocol=PROTOCOLS)
    for name in ("text_truncate", "label_truncate"):
        if (opt.get(name) or 0) < 1:
            raise OptionError(f"{flag(name)} {opt.get(name)}: must be at least 1")
    check_fp16(opt, "generators")
    _check_search(opt)
    _check_protocol(opt)


def _check_search(opt: Opt) -> None:
    check_at_least(opt, 1, "beam_size", "topk")
    for name in ("temperature", "topp"):
        if not opt[name] > 0:
            raise OptionError(f"{flag(name)} {opt[name]}: must be above 0")
    if opt["inference"] == "greedy" and opt["beam_size"] > 1:  # unless a preset has set it
        check_unused(opt, ("beam_size",), "greedy search has no beam; add --inference beam")
    if opt["inference"] != DIVERSE_BEAM:
        return
    if opt["beam_groups"] < 1 or opt["beam_size"] % opt["beam_groups"]:
        raise OptionError(f"--beam-groups {opt['beam_groups']}: must divide --beam-size {opt['beam_size']}")
    if not 0 <= opt["diversity_strength"] < float("inf"):
        raise OptionError(f"--diversity-strength {opt['diversity_strength']}: must be a number of at least 0")


def _check_protocol(opt: Opt) -> None:
    """The peers' perplexity requires their tokenization: with any other, the numbers are not comparable."""
    if opt["ppl_protocol"] != "peers":
        return
    if opt.get("hf_model"):
        raise OptionError("--ppl-protocol peers: needs whole words, but --hf-model uses parts of words")
    if opt["dict_tokenizer"] != PEERS:
        raise OptionError(
            f"--ppl-protocol peers: this model's words are not the peers' (--dict-tokenizer {opt['dict_tokenizer']}); "
            "train one with --ppl-protocol peers"
        )


def check_lengths(opt: Opt, config: Any, kind: str, around: int) -> None:
    """Raise :class:`OptionError` for texts longer than a Hugging Face model's maximum.

    :param config: the model's configuration.
    :param kind: ``seq2seq``, with separate context and reply, or ``causal``, with both in one sequence.
    :param around: total number of special tokens around a context and before a reply.
    """
    longest = getattr(config, "max_position_embeddings", None)  # T5 has no such limit
    context, reply = opt["text_truncate"], opt["label_truncate"]
    lengths = (_round_up_to_8(context + around), _round_up_to_8(reply) + around)
    wanted = sum(lengths) if kind == "causal" else max(lengths)
    if longest and wanted > longest:
        raise OptionError(
            f"--text-truncate {context} and --label-truncate {reply}: {opt['hf_model']} takes at most {longest} "
            f"tokens{', context and reply together' if kind == 'causal' else ''}"
        )


def _round_up_to_8(length: int) -> int:
    """Round up to a multiple of 8, as the padding of batches does."""
    return -(-length // 8) * 8
