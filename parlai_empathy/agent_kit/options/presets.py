"""Options whose values decide the defaults of other options, such as ``--preset``.

ParlAI asks an agent for its options before it knows their values, except those of a file (``-o``). Then it parses the
command line with the agent's options, which is when the defaults change, and once more to use them.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping
from typing import Any

from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.options.common import flag
from parlai_empathy.errors import OptionError

# ParlAI's options of a training that validates and saves after each epoch, and every ten minutes besides.
EVERY_EPOCH: dict[str, Any] = {
    "validation_every_n_epochs": 1.0,
    # ParlAI calls a task "solved" when its metric passes a cut-off. No number compares with this one, so that a
    # training ends when it has come to its end, whichever metric is chosen.
    "validation_cutoff": math.nan,
    "save_after_valid": True,  # so that a killed run goes on from the last epoch
    "save_every_n_secs": 600.0,
}

Defaults = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Choice(argparse._StoreAction):  # a "store" to ParlAI, which refuses kinds of options that it does not know
    """An option that decides about the defaults of others.

    :param defaults: makes the defaults, by name, of all options' present values. Where several options decide, all
        share one such function, so that their order on the command line does not matter.
    """

    def __init__(self, *args: Any, defaults: Defaults, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.defaults = defaults

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        """Take the value, and set the defaults that go with it."""
        super().__call__(parser, namespace, values, option_string)
        set_defaults(parser, self.defaults(vars(namespace)))


def add_preset(
    group: Any, presets: Mapping[str, Mapping[str, Any]], whose: str, defaults: Defaults | None = None
) -> None:
    """Add ``--preset`` to an argument group of ParlAI's parser.

    :param presets: default values by the preset's name; ours are called ``default``.
    :param whose: the other preset is, for the help.
    :param defaults: as of :class:`Choice`, where further options decide; left out, the preset decides alone.
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
    """Set the defaults that go with the choices' values, as far as these are known before the agent's options are.

    Choices that a file makes become defaults themselves: the ``parlai`` command asks for the options twice, and what
    it knows the second time are the parser's values.

    :param known: the options that ParlAI knows already.
    :raises OptionError: if a file chooses what there is not.
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


def set_defaults(parser: ParlaiParser, defaults: Mapping[str, Any]) -> None:
    """Set those defaults whose options exist in the present command: those of the training loop do in one alone.

    Batches are for commands that train or evaluate, which are those with ``--metrics``. Others take one example at a
    time, whatever the defaults say: a chat must, and ``display_model`` shows nothing else.
    """
    known = {action.dest for action in parser._actions}
    if "metrics" not in known:
        known.discard("batchsize")
    parser.set_defaults(**{name: value for name, value in defaults.items() if name in known})
