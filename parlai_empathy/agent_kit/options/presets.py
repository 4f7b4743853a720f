"""Options whose values set the defaults of other options, such as ``--preset``.

ParlAI collects an agent's options before it knows their values, except those from a file (``-o``). It then parses the
command line with the agent's options, which changes the defaults, and parses it once more to use them.
"""

from __future__ import annotations

import argparse
import functools
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.options.common import flag
from parlai_empathy.errors import OptionError
from parlai_empathy.files.text_file import is_file

# ParlAI's options for training that validates and saves after each epoch, and also saves every ten minutes.
EVERY_EPOCH: dict[str, Any] = {
    "validation_every_n_epochs": 1.0,
    # ParlAI calls a task "solved" when its metric passes a cut-off. Every comparison with NaN is false, so training
    # always runs to its end, whatever the metric.
    "validation_cutoff": math.nan,
    "save_after_valid": True,  # so that a killed run resumes from the last epoch
    "save_every_n_secs": 600.0,
}

Defaults = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Choice(argparse._StoreAction):  # ParlAI rejects actions of unknown kinds and treats this one as "store"
    """An option that sets the defaults of other options.

    :param defaults: computes the defaults, by name, from the current values of all options. If several options set
        defaults, they share one such function, so that their order on the command line does not matter.
    """

    def __init__(self, *args: Any, defaults: Defaults, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.defaults = defaults

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        """Store the value, and set the defaults that follow from it."""
        super().__call__(parser, namespace, values, option_string)
        set_defaults(parser, self.defaults(vars(namespace)))


def add_preset(
    group: Any, presets: Mapping[str, Mapping[str, Any]], whose: str, defaults: Defaults | None = None
) -> None:
    """Add ``--preset`` to an argument group of ParlAI's parser.

    :param presets: default values by preset name; ours are called ``default``.
    :param whose: whom the other preset is from, for the help.
    :param defaults: as in :class:`Choice`, if other options also set defaults; otherwise the preset alone decides.
    """
    group.add_argument(
        "--preset",
        choices=list(presets),
        default="default",
        help=f"Default values: ours, or those of {whose}.",
        action=Choice,
        defaults=defaults or (lambda values: presets[values.get("preset") or "default"]),
    )


def set_first_defaults(parser: ParlaiParser, known: Mapping[str, Any]) -> None:
    """Set the defaults that follow from the choices already known before the agent's options are parsed.

    Choices from a file become defaults themselves: the ``parlai`` command collects the options twice, and the second
    time only the parser's values are known.

    :param known: the options that ParlAI knows already.
    :raises OptionError: if a file sets a choice to an invalid value.
    """
    choices = [action for action in parser._actions if isinstance(action, Choice)]
    chosen = {choice.dest: known[choice.dest] for choice in choices if known.get(choice.dest) is not None}
    for choice in choices:
        value = chosen.get(choice.dest)
        if value is not None and choice.choices and value not in choice.choices:
            raise OptionError(f"{flag(choice.dest)} {value}: must be one of {', '.join(choice.choices)}")
    parser.set_defaults(**chosen)
    for choice in choices:
        set_defaults(parser, choice.defaults(known))


def check_preset(opt: Mapping[str, Any]) -> None:
    """Raise :class:`OptionError` if the command line gives a saved model another preset than its own.

    A preset only sets defaults, and the model's own options precede these: nothing would change but the log.
    """
    typed, path = (opt.get("override") or {}).get("preset"), opt.get("model_file")
    if typed is None or not path or not is_file(f"{path}.opt"):
        return
    own = Opt.load(f"{path}.opt").get("preset")
    if own is not None and typed != own:
        raise OptionError(
            f"--preset {typed}: {path} was saved with the options of --preset {own}: change single options, or leave "
            "it out"
        )


def refine_defaults(parser: ParlaiParser, more: Mapping[str, Any], without: Collection[str] = ()) -> None:
    """Let an agent that extends another one change some of its defaults, whatever the command line chooses.

    The defaults of presets other than ``default`` stay as they are.

    :param without: names of the other agent's choices that set no defaults in this one.
    """
    for choice in (action for action in parser._actions if isinstance(action, Choice)):
        choice.defaults = functools.partial(_refined, choice.defaults, more, without)
    if (parser.get_default("preset") or "default") == "default":
        set_defaults(parser, more)


def _refined(
    defaults: Defaults, more: Mapping[str, Any], without: Collection[str], values: Mapping[str, Any]
) -> Mapping[str, Any]:
    found = defaults({name: value for name, value in values.items() if name not in without})
    return {**found, **more} if (values.get("preset") or "default") == "default" else found


def set_defaults(parser: ParlaiParser, defaults: Mapping[str, Any]) -> None:
    """Set the defaults of options that exist in the current command; those of the training loop exist only in one.

    Batch sizes apply only to commands that train or evaluate, which are those with ``--metrics``. Other commands take
    one example at a time, whatever the defaults: a chat requires it, and ``display_model`` cannot show batches.
    """
    known = {action.dest for action in parser._actions}
    if "metrics" not in known:
        known.discard("batchsize")
    parser.set_defaults(**{name: value for name, value in defaults.items() if name in known})
