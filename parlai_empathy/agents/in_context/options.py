"""The options of ``empathy:in_context``.

There are two presets: ``default``, what we would use today, and ``paper``, what Lee et al. (2022) used. A value on the
command line overrides both. No option is secret, because options are written to logs and files: a server's address and
key are read from environment variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.options.common import add_precision, check_at_least, check_choices
from parlai_empathy.agent_kit.options.presets import add_preset, check_preset, set_first_defaults
from parlai_empathy.agents.in_context.selection import SELECTIONS
from parlai_empathy.agents.in_context.template import PROMPTS
from parlai_empathy.errors import OptionError
from parlai_empathy.files.user_path import user_path
from parlai_empathy.language_models.open_model import BACKENDS
from parlai_empathy.language_models.prompt import Sampling
from parlai_empathy.modules.pretrained.hugging_face import MINILM
from parlai_empathy.task_kit.edition import add_edition

PRESETS: dict[str, dict[str, Any]] = {
    # Today's models were trained on chats and need no example to know what a conversation is. This also works in a
    # chat, where the situation is unknown, and needs no download or encoding of examples.
    "default": {
        "prompt": "chat",
        "examples": 0,
        "select": "context",
        "oracle": False,
        "sentence_encoder": MINILM,
    },
    # The number of examples in the authors' own command.
    "paper": {
        "prompt": "paper",
        "examples": 2,
        "select": "emositsm",
        "oracle": True,
        "sentence_encoder": "sentence-transformers/stsb-roberta-large",
    },
}
_COMMON = {"batchsize": 8}  # requests in flight


def defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults that follow from the options' current values."""
    return _COMMON | PRESETS.get(values.get("preset") or "default", {})


def add(parser: ParlaiParser, partial_opt: Mapping[str, Any]) -> ParlaiParser:
    """Add the options, and set the defaults."""
    group = parser.add_argument_group("In context (empathy:in_context)")
    add_preset(group, PRESETS, "the EmpGPT-3 paper", defaults)
    _add_model(group)
    _add_examples(group)
    _add_sampling(group)
    set_first_defaults(parser, partial_opt)
    return parser


def _add_model(group: Any) -> None:
    group.add_argument(
        "--lm-backend",
        choices=list(BACKENDS),
        default="hf",
        help="hf: a Hugging Face model on this computer. openai: a server with OpenAI's interface, "
        "whose address and key are in OPENAI_BASE_URL and OPENAI_API_KEY. echo: no model, repeats "
        "the last line.",
    )
    group.add_argument(
        "--lm-model",
        default=None,
        help="For hf: a folder, or a name on the hub. For openai: the server's name for the model.",
    )
    group.add_argument(
        "--lm-cache",
        default=None,
        help="File that caches each answer, so that an interrupted run resumes; none turns it off. By "
        "default <model file>.completions, else in_context/completions in the data folder.",
    )
    group.add_argument(
        "--lm-context-length",
        type=int,
        default=None,
        help="Maximum tokens of prompt and reply together, if the model does not say (servers do not).",
    )
    group.add_argument("--lm-timeout", type=float, default=60.0, help="Seconds to wait for a server's answer.")
    group.add_argument("--lm-retries", type=int, default=5, help="How often a failed request is retried.")
    group.add_argument(
        "--lm-prices",
        default=None,
        help="Prices of a million input and a million output tokens, such as 0.15,0.60, to log the cost.",
    )
    group.add_argument("--no-cuda", action="store_true", default=False, help="Stay off the GPU if there is one.")
    group.add_argument("--gpu", type=int, default=-1, help="Which GPU to use; -1: the first.")
    add_precision(group)


def _add_examples(group: Any) -> None:
    group.add_argument(
        "--prompt", default="chat", help=f"Format of the prompt: {', '.join(PROMPTS)}, or a file of your own."
    )
    group.add_argument(
        "--examples", type=int, default=0, help="How many training conversations the prompt shows; 0: none."
    )
    group.add_argument(
        "--select",
        choices=list(SELECTIONS),
        default="context",
        help="How examples are chosen. context: most similar turns; sitsm: most similar situation; "
        "emositsm: the same among those with the same emotion; random.",
    )
    group.add_argument(
        "--oracle",
        type="bool",
        default=False,
        help="Let sitsm and emositsm use the conversation's true situation and emotion. Otherwise "
        "emositsm uses the emotion that --emotion-classifier predicts from the turns.",
    )
    group.add_argument(
        "--emotion-classifier",
        default=None,
        help="Model file of a trained classifier of the 32 emotions, such as empathy:text_classifier.",
    )
    group.add_argument(
        "--sentence-encoder",
        default=MINILM,
        help="Model for comparing texts: any of sentence-transformers, by a folder or a name on the hub.",
    )
    add_edition(group)


def _add_sampling(group: Any) -> None:
    paper = Sampling()
    group.add_argument(
        "--temperature",
        type=float,
        default=paper.temperature,
        help="Sampling temperature; 0: always the most probable token.",
    )
    group.add_argument(
        "--topp",
        type=float,
        default=paper.top_p,
        help="Nucleus sampling: sample from this share of the probability; 1: from all tokens.",
    )
    group.add_argument(
        "--max-tokens", type=int, default=paper.max_tokens, help="Longest reply, in tokens, thoughts included."
    )
    group.add_argument(
        "--frequency-penalty",
        type=float,
        default=paper.frequency_penalty,
        help="Penalty for each time that a token was used.",
    )
    group.add_argument(
        "--presence-penalty",
        type=float,
        default=paper.presence_penalty,
        help="Penalty for tokens that were used at all.",
    )
    group.add_argument("--seed", type=int, default=42, help="Seed for the replies, and for --select random.")


def check(opt: Opt) -> None:
    """Raise :class:`OptionError` for invalid values or combinations; opening the model checks those of ``--lm-...``."""
    check_preset(opt)
    check_choices(opt, select=SELECTIONS)
    check_at_least(opt, 0, "examples")
    sampling(opt, ())
    if opt["examples"]:
        _check_selection(opt)


def _check_selection(opt: Opt) -> None:
    """Raise :class:`OptionError` if the information that ``--select`` needs is not available."""
    select, oracle = opt["select"], opt["oracle"]
    if oracle and select in ("context", "random"):
        raise OptionError(
            f"--oracle true: --select {select} uses no oracle: choose sitsm or emositsm, or --oracle false"
        )
    if oracle and opt.get("interactive_mode"):
        raise OptionError(
            "--oracle true: in a chat the situation and the emotion are unknown: use --oracle false --select context"
        )
    if not oracle and select == "sitsm":
        raise OptionError(
            "--select sitsm: compares situations, which only an oracle knows: use --oracle true, or --select context "
            "to compare what was said"
        )
    if not oracle and select == "emositsm" and not opt["emotion_classifier"]:
        raise OptionError(
            "--select emositsm: the emotion is unknown: name a classifier with --emotion-classifier, or add "
            "--oracle true"
        )


def prices(opt: Opt) -> tuple[float, float] | None:
    """Parse ``--lm-prices``. Raise :class:`OptionError` unless it is two numbers."""
    if not opt["lm_prices"]:
        return None
    try:
        read, written = (float(price) for price in str(opt["lm_prices"]).split(","))
    except ValueError as error:
        raise OptionError(
            f"--lm-prices {opt['lm_prices']}: must be two prices, per million input tokens and per million output "
            "tokens, such as 0.15,0.60"
        ) from error
    return read, written


def sampling(opt: Opt, stop: tuple[str, ...]) -> Sampling:
    """Return the sampling parameters. Raise :class:`OptionError` for invalid values.

    :param stop: the prompt's stop texts.
    """
    return Sampling(
        temperature=opt["temperature"],
        top_p=opt["topp"],
        max_tokens=opt["max_tokens"],
        frequency_penalty=opt["frequency_penalty"],
        presence_penalty=opt["presence_penalty"],
        stop=stop,
        seed=opt["seed"],
    )


def cache_file(opt: Opt) -> Path | None:
    """Return the file that caches answers; None for no cache."""
    named = opt["lm_cache"]
    if named is not None:
        return None if named.lower() in ("", "none") else user_path(named)
    return Path(f"{opt['model_file']}.completions") if opt.get("model_file") else store_folder(opt) / "completions"


def store_folder(opt: Opt) -> Path:
    """Return the folder for data that belong to no model file."""
    return Path(opt["datapath"]) / "in_context"
