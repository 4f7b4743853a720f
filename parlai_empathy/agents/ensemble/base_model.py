"""The trained base model of an ensemble, and the options that the ensemble takes over from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import TorchAgent

from parlai_empathy.agent_kit.judging.frozen_classifier import HELP, FrozenClassifier
from parlai_empathy.agent_kit.trained.frozen import FrozenPart
from parlai_empathy.agent_kit.trained.init_model import copy_options
from parlai_empathy.errors import OptionError

GROUP = "Ensemble (empathy:ensemble)"

# Options for tokenization, for the dictionary, and for how much of a text is read.
READING = (
    *("dict_tokenizer", "dict_lower", "dict_nulltoken", "dict_starttoken", "dict_endtoken", "dict_unktoken"),
    *("history_size", "history_reversed", "history_add_global_end_token", "person_tokens", "split_lines", "delimiter"),
    *("special_tok_lst", "truncate", "text_truncate", "label_truncate", "truncate_context", "hf_model"),
)


def base_part(kind: type[TorchAgent], name: str) -> FrozenPart:
    """Return the part for ``--base-model``.

    :param kind: the exact class of the base model's agent.
    :param name: its name for ``-m``.
    """

    def check(found: Any, opt: Opt) -> None:
        if found is not kind:
            raise OptionError(f"{opt['model']} is another kind of model")

    return FrozenPart("base_model", f"a trained model of {name}", check)


def copy_base_options(opt: Opt, part: FrozenPart, names: Iterable[str]) -> None:
    """Set options to those of the base model.

    :param names: the options to set; those that the base lacks are skipped.
    :raises OptionError: if the command line gives another value.
    """
    path = part.path(opt)
    base = part.options(path)
    copy_options(opt, {name: base[name] for name in names if name in base}, f"{part.flag} {path}")


def dictionary_of(opt: Opt, part: FrozenPart, kind: type[DictionaryAgent]) -> DictionaryAgent:
    """Return the base model's dictionary, marked as prebuilt, so that ParlAI does not build another from data.

    :param kind: the dictionary class of the base model's agent.
    """
    path = part.path(opt)
    dictionary = kind(Opt({**part.options(path), "model_file": str(path), "dict_file": f"{path}.dict"}))
    dictionary.is_prebuilt = lambda: True
    return dictionary


class Ensemble(TorchAgent):
    """Mixin: an agent with a frozen base model and a frozen classifier (Rashkin et al. 2019, section 4)."""

    BASE: FrozenPart

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the options of the frozen parts to the agent's."""
        super().add_cmdline_args(parser, partial_opt)
        group = parser.add_argument_group(GROUP)
        group.add_argument(
            "--base-model",
            default=None,
            help="Model file of the trained base model. Its encoder, sizes and dictionary are used, and "
            "the new model keeps a copy of it.",
        )
        group.add_argument("--classifier", default=None, help=HELP)
        return parser

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        if shared:
            self.base, self.classifier = shared["base"], shared["classifier"]
        else:
            self.base = self.BASE.load(opt)
            self.classifier = FrozenClassifier.load(opt)
        super().__init__(opt, shared)

    def share(self) -> dict[str, Any]:
        """Also share the frozen parts."""
        return {**super().share(), "base": self.base, "classifier": self.classifier}
