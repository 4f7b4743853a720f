"""Options whose values decide the defaults of other options, such as ``--preset``.

ParlAI asks an agent for its options before it knows their values. Then it parses the command line with the agent's
options, which is when the defaults change, and once more to use them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from parlai.core.params import ParlaiParser

Defaults = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Choice(argparse._StoreAction):  # a "store" to ParlAI, which refuses kinds of options that it does not know
    """An option that decides about the defaults of others.

    :param defaults: makes the defaults, by name, of all options' present values. Where several options decide, all
        share one such function, so that their order on the command line does not matter.
    :param in_chat: whether the command is a chat: then a batch is of one example, whatever the defaults say.
    """

    def __init__(self, *args: Any, defaults: Defaults, in_chat: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.defaults = defaults
        self.in_chat = in_chat

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        """Take the value, and set the defaults that go with it."""
        super().__call__(parser, namespace, values, option_string)
        set_defaults(parser, self.defaults(vars(namespace)), self.in_chat)


def set_defaults(parser: ParlaiParser, defaults: Mapping[str, Any], in_chat: bool = False) -> None:
    """Set those defaults whose options exist in the present command: those of the training loop do in one alone.

    :param in_chat: whether to leave the batch size as it is.
    """
    known = {action.dest for action in parser._actions}
    if in_chat:
        known.discard("batchsize")
    parser.set_defaults(**{name: value for name, value in defaults.items() if name in known})


def in_chat(partial_opt: Mapping[str, Any]) -> bool:
    """Whether the command is a chat, as far as ParlAI has told an agent that is asked for its options."""
    return bool(partial_opt.get("interactive_mode"))
