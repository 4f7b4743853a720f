"""The options of ``empathy:deepmoji``, and its defaults for ParlAI's own options."""

from __future__ import annotations

from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.options.common import check_at_least, check_choices, flag
from parlai_empathy.agent_kit.options.presets import set_defaults
from parlai_empathy.agents.deepmoji.chain_thaw import check_patience
from parlai_empathy.errors import OptionError

FINETUNING = ("new", "full", "last", "chain-thaw")
GATES = ("auto", "sigmoid", "hard")

_DEFAULTS: dict[str, Any] = {
    # Felbo et al. (2017), section 4.2 and appendix: Adam, these rates, gradient norms clipped to 1.
    "optimizer": "adam",
    "learningrate": 1e-3,
    "lr_scheduler": "none",
    "gradient_clip": 1.0,
    "num_epochs": 20.0,
    "precision": "float32",  # lower precision does not speed up an LSTM's small steps
}


def add(parser: ParlaiParser) -> ParlaiParser:
    """Add the options, and set defaults of ParlAI's options."""
    group = parser.add_argument_group("DeepMoji (empathy:deepmoji)")
    _add_initial_weights(group)
    _add_network(group)
    set_defaults(parser, _DEFAULTS)
    return parser


def _add_initial_weights(group: Any) -> None:
    """Add the options for the initial weights, and for which layers are trained."""
    group.add_argument(
        "--deepmoji-weights",
        default=None,
        help="Folder with DeepMoji's published weights as torchMoji has them: pytorch_model.bin and vocabulary.json.",
    )
    group.add_argument(
        "--finetuning",
        choices=list(FINETUNING),
        default="new",
        help="new: train everything from random weights. The others start from --deepmoji-weights or "
        "--init-model and train: last, the last layer; full, everything; chain-thaw, one layer "
        "after the other, then everything.",
    )
    group.add_argument(
        "--pretrained-learningrate",
        type=float,
        default=1e-4,
        help="For full and chain-thaw: learning rate of the pretrained layers; --learningrate is that of the new one.",
    )
    group.add_argument(
        "--thaw-patience",
        type=int,
        default=1,
        help="For chain-thaw: validations without improvement after which the next layer is trained.",
    )
    group.add_argument(
        "--extend-vocabulary",
        type=int,
        default=10_000,
        help="With --deepmoji-weights: maximum number of the task's words added to the published "
        "vocabulary (the paper's 10,000).",
    )


def _add_network(group: Any) -> None:
    group.add_argument("--embedding-size", type=int, default=256, help="Size of word vectors (the paper's 256).")
    group.add_argument(
        "--hidden-size", type=int, default=512, help="Units of each LSTM, in each direction (the paper's 512)."
    )
    group.add_argument(
        "--gates",
        choices=list(GATES),
        default="auto",
        help="Gates of the LSTMs: sigmoid, or hard as the published weights need; auto: hard with --deepmoji-weights.",
    )
    group.add_argument("--embedding-dropout", type=float, default=0.1, help="Dropout of word vectors, 0..1.")
    group.add_argument("--dropout", type=float, default=0.5, help="Dropout before the last layer, 0..1.")
    group.add_argument(
        "--embedding-l2", type=float, default=1e-6, help="Weight decay of word vectors (the paper's 1e-6)."
    )
    group.add_argument(
        "--max-words",
        type=int,
        default=150,  # 1 in 1,000 of EmpatheticDialogues' situations and four-turn contexts is longer
        help="Maximum words per text; a longer one loses the oldest words of its context, then its last ones.",
    )


def check(opt: Opt) -> None:
    """Raise :class:`OptionError` for invalid values."""
    check_choices(opt, finetuning=FINETUNING, gates=GATES)
    check_at_least(opt, 1, "embedding_size", "hidden_size", "max_words", "thaw_patience")
    for name in ("embedding_dropout", "dropout"):
        if not 0 <= opt[name] <= 1:
            raise OptionError(f"{flag(name)} {opt[name]}: must lie between 0 and 1")
    for name in ("embedding_l2", "extend_vocabulary"):
        if opt[name] < 0:
            raise OptionError(f"{flag(name)} {opt[name]}: must not be below 0")
    if not opt["pretrained_learningrate"] > 0:
        raise OptionError(f"--pretrained-learningrate {opt['pretrained_learningrate']}: must be above 0")


def check_beginning(opt: Opt) -> None:
    """Raise :class:`OptionError` if ``--finetuning`` does not match the source of the initial weights."""
    sources = [name for name in ("deepmoji_weights", "init_model") if opt.get(name)]
    if len(sources) > 1:
        raise OptionError("--deepmoji-weights and --init-model: a model can start from only one of them")
    if opt["finetuning"] == "new" and sources:
        raise OptionError(
            f"--finetuning new starts from random weights: with {flag(sources[0])} use full, last or chain-thaw"
        )
    if opt["finetuning"] != "new" and not sources:
        raise OptionError(
            f"--finetuning {opt['finetuning']}: name --deepmoji-weights or --init-model to start from, or use new"
        )


def check_validations(opt: Opt) -> None:
    """Raise :class:`OptionError` if chain-thaw could not go through all its stages."""
    if opt["finetuning"] != "chain-thaw":
        return
    every = ("validation_every_n_epochs", "validation_every_n_secs", "validation_every_n_steps")
    if not any((opt.get(name) or 0) > 0 for name in every):
        raise OptionError("--finetuning chain-thaw changes layers at validations: set --validation-every-n-epochs 1")
    check_patience(opt["thaw_patience"], opt.get("validation_patience") or 0)


def choose_gates(opt: Opt) -> None:
    """Resolve ``--gates auto``: weights trained with one kind of gates do not work with the other."""
    if opt["gates"] == "auto":
        opt["gates"] = "hard" if opt.get("deepmoji_weights") else "sigmoid"
