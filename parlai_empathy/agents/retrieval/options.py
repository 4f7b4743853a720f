"""The options of ``empathy:retrieval``, and its defaults for ParlAI's own options.

There are two presets for each kind of encoder: ``default``, what we would use today, and ``paper``, what Rashkin et al.
(2019) used. A value on the command line overrides both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils.distributed import num_workers

from parlai_empathy.agent_kit.options.common import (
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
from parlai_empathy.agents.retrieval.pool_search import add_pool_index
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.encoders.pair_encoder import POOLINGS
from parlai_empathy.modules.pretrained.hugging_face import MINILM, longest_text

# Options that the weights of ``--init-model`` require: its sizes and how it encodes texts; and its tokenization.
OF_WEIGHTS = (
    *("embedding_size", "n_layers", "n_heads", "ffn_size", "n_positions"),
    *("towers", "pooling", "projection", "score", "temperature", "truncate_context", "special_tokens"),
)
OF_TOKENS = ("encoder", "hf_model", "dict_tokenizer", "dict_lower")

# Options that only one of the values of --encoder uses.
_ONLY_OF: dict[str, tuple[str, ...]] = {
    "transformer": ("embedding_size", "n_layers", "n_heads", "ffn_size", "dropout", "vectors_file"),
    "hf": ("hf_model", "towers", "pooling", "projection"),
}

# Defaults unless a preset overrides them. Optimiser, rate, lengths and negatives are the paper's, which uses no
# clipping and no schedule either.
_COMMON: dict[str, Any] = EVERY_EPOCH | {
    "optimizer": "adamax",
    "learningrate": 8e-4,
    "lr_scheduler": "none",
    "warmup_updates": -1,
    "gradient_clip": -1.0,
    "candidates": "batch",
    "eval_candidates": "inline",
    "symmetric_loss": False,
    "history_size": 4,
    "text_truncate": 100,
    "label_truncate": 100,
    "hf_model": MINILM,
    "towers": 1,
    "pooling": "mean",
    "projection": 0,
    "num_epochs": 10.0,
}

# Long contexts lose their oldest words. The best epoch is chosen by mean reciprocal rank, which is steadier than hits@1
# on a small fold.
_OURS = _COMMON | {
    "batchsize": 128,
    "score": "cosine",
    "truncate_context": "oldest",
    "validation_metric": "mrr",
}
_PAPERS = _COMMON | {
    "score": "dot",
    "truncate_context": "newest",
    "validation_metric": "loss",
}

# By --encoder and --preset.
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    # From random weights, cosines over a temperature learn faster than the paper's plain dot products, which start very
    # large. Smaller batches, dropout, lower-casing and a single layer suit training without the paper's 1.7 billion
    # Reddit pairs. With more layers and the paper's rate from the first step on, all text vectors collapse before the
    # model learns to distinguish any; with warm-up, two and four layers were still behind a single one after four
    # epochs, and four took three times as long (docs/results.md).
    "transformer": {
        "default": _OURS | {"n_layers": 1, "dropout": 0.1, "temperature": 0.1, "dict_lower": True},
        "paper": _PAPERS | {"n_layers": 4, "batchsize": 512, "dropout": 0.0, "dict_lower": False},
    },
    "hf": {
        # Common settings for fine-tuning BERT models: AdamW, and a rate with warm-up and decay (Devlin et al. 2019,
        # appendix A.3). The default encoder was itself trained with this temperature and a symmetric loss.
        "default": _OURS
        | {
            "optimizer": "adamw",
            "learningrate": 1e-4,
            "lr_scheduler": "invsqrt",
            "warmup_updates": 100,
            "gradient_clip": 1.0,
            "temperature": 0.05,
            "symmetric_loss": True,
            "num_epochs": 4.0,
        },
        # The paper's BERT: two towers with equal initial weights, first token's state, 768 to 300 dimensions; 100
        # epochs.
        "paper": _PAPERS
        | {
            "hf_model": "bert-base-cased",
            "towers": 2,
            "pooling": "first",
            "projection": 300,
            "batchsize": 256,
            "learningrate": 1e-5,
            "num_epochs": 100.0,
            "validation_patience": 10,
        },
    },
}


def add(parser: ParlaiParser, partial_opt: Mapping[str, Any]) -> ParlaiParser:
    """Add the options, and set the preset's defaults."""
    group = parser.add_argument_group("Retrieval (empathy:retrieval)")
    add_preset(group, PRESETS["transformer"], "the EmpatheticDialogues paper", _defaults)
    group.add_argument(
        "--encoder",
        choices=list(PRESETS),
        default="transformer",
        help="transformer: the paper's, on words, trained from scratch. hf: a pretrained Hugging Face encoder.",
        action=Choice,
        defaults=_defaults,
    )
    _add_transformer(group)
    _add_pretrained(group)
    _add_training(group)
    _add_pool(group)
    set_first_defaults(parser, known_choices(partial_opt, OF_TOKENS))
    return parser


def _add_transformer(group: Any) -> None:
    group.add_argument("--embedding-size", type=int, default=300, help="Size of word and text vectors.")
    group.add_argument(
        "--n-layers", type=int, default=1, help="Transformer layers of each tower (the paper: 4, its Large 5)."
    )
    group.add_argument("--n-heads", type=int, default=6, help="Attention heads; must divide the embedding size.")
    group.add_argument("--ffn-size", type=int, default=1200, help="Hidden units of the feed-forward layers.")
    group.add_argument("--dropout", type=float, default=0.1, help="For --encoder transformer: dropout, 0..1.")
    group.add_argument(
        "--n-positions", type=int, default=1000, help="Longest text that the towers can read, in tokens."
    )
    add_vectors_file(group)


def _add_pretrained(group: Any) -> None:
    group.add_argument(
        "--hf-model",
        default=MINILM,
        help="For --encoder hf: folder of a Hugging Face encoder, or its name on the hub.",
    )
    group.add_argument(
        "--towers",
        type=int,
        choices=[1, 2],
        default=1,
        help="For --encoder hf: 1 shared encoder for contexts and replies, or 2 that start alike and "
        "are trained separately, as in the paper.",
    )
    group.add_argument(
        "--pooling",
        choices=list(POOLINGS),
        default="mean",
        help="For --encoder hf: a text's vector is the mean of the token states, or the first one as in the paper.",
    )
    group.add_argument(
        "--projection",
        type=int,
        default=0,
        help="For --encoder hf: size of a linear layer on top (the paper's 300); 0 for none.",
    )


def _add_training(group: Any) -> None:
    group.add_argument(
        "--score",
        choices=["cosine", "dot"],
        default="cosine",
        help="Score of context and reply: cosine divided by --temperature, or plain dot product as in the paper.",
    )
    group.add_argument("--temperature", type=float, default=0.1, help="Divides the cosine; lower is sharper.")
    group.add_argument(
        "--symmetric-loss",
        type="bool",
        default=False,
        help="Also learn which context belongs to a reply, not only which reply to a context.",
    )
    group.add_argument(
        "--hard-negatives",
        type=int,
        default=0,
        help="Additional negatives per example, sampled from the replies that the model, before "
        "training, ranks high for the context.",
    )
    group.add_argument(
        "--gradient-cache",
        type=int,
        default=0,
        help="Number of texts to encode at a time, so that a batch of any size fits into memory; 0: all at once.",
    )
    add_precision(group)
    add_truncate_context(group)


def _add_pool(group: Any) -> None:
    group.add_argument(
        "--pool",
        default=None,
        help="Pool to answer from: the training replies of these tasks, such as ed+dd+reddit or full "
        "task names; by default those of the training task.",
    )
    group.add_argument(
        "--pool-max-tokens",
        type=int,
        default=20,
        help="Longest reply in the pool (the paper's 20); -1 for no limit.",
    )
    add_pool_index(group)


def _defaults(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the defaults for ``--encoder`` and ``--preset``, as far as their values are known."""
    return PRESETS[values.get("encoder") or "transformer"][values.get("preset") or "default"]


def check(opt: Opt) -> None:
    """Raise :class:`OptionError` for invalid values or combinations."""
    check_preset(opt)
    check_sizes(opt)
    check_at_least(opt, 0, "projection", "hard_negatives", "gradient_cache")
    check_at_least(opt, 1, "topk", "cap_num_predictions")
    check_choices(opt, encoder=PRESETS, pooling=POOLINGS, towers=(1, 2))
    _check_encoder_options(opt)
    if not opt["temperature"] > 0:
        raise OptionError(f"--temperature {opt['temperature']}: must be above 0")
    check_fp16(opt, "retrievers")
    if opt["gradient_cache"] and opt.get("update_freq", 1) > 1:
        raise OptionError("--gradient-cache: cannot be combined with --update-freq")
    if opt["candidates"] == "fixed":
        raise OptionError("--candidates fixed: must be batch or inline: a pool is for answers, not for training")
    if opt["eval_candidates"] == "batch-all-cands":
        raise OptionError("--eval-candidates batch-all-cands: must be inline, batch or fixed")
    if opt.get("interactive_candidates") == "vocab":
        raise OptionError("--interactive-candidates vocab: must be fixed or inline: a word is not a reply")
    if opt["candidates"] != "batch" and (opt["hard_negatives"] or opt["gradient_cache"] or opt["symmetric_loss"]):
        raise OptionError(
            f"--candidates {opt['candidates']}: --hard-negatives, --gradient-cache and --symmetric-loss are for "
            "--candidates batch"
        )


def _check_encoder_options(opt: Opt) -> None:
    """Raise :class:`OptionError` for explicit options of the other ``--encoder``."""
    if opt["encoder"] == "hf":
        check_unused(opt, _ONLY_OF["transformer"], "--encoder hf has its own; leave it out")
    else:
        check_unused(opt, _ONLY_OF["hf"], "only for --encoder hf; add that, or leave it out")


def check_training(opt: Opt) -> None:
    """Raise :class:`OptionError` if batches contain no negatives."""
    # With --dynamic-batching, a batch has as many examples as fit, whatever --batchsize is.
    is_alone = opt["batchsize"] == 1 and num_workers() == 1 and not opt.get("dynamic_batching")
    if is_alone and opt["candidates"] == "batch" and not opt["hard_negatives"]:
        raise OptionError(
            "--batchsize 1: each reply is compared with the others of its batch, and there are none: use at least 2"
        )


def check_encoder(opt: Opt, config: Any, tokenizer: Any) -> None:
    """Raise :class:`OptionError` for texts longer than a pretrained encoder's maximum.

    :param config: the encoder's configuration.
    :param tokenizer: the encoder's tokenizer.
    """
    longest = longest_text(config, tokenizer)
    for name in ("text_truncate", "label_truncate"):
        if opt[name] + 2 > longest:  # special tokens before and after the text
            raise OptionError(f"{flag(name)} {opt[name]}: {opt['hf_model']} takes at most {longest - 2:.0f}")
