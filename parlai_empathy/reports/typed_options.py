"""What options mean that are typed for ``eval_model``, before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.errors import OptionError


class _Parser(ParlaiParser):
    """ParlAI's, which would print its whole help and end the process."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(f"{message.removeprefix('argument ')}: parlai eval_model would not take it")


def typed_options(arguments: Sequence[str]) -> Opt:
    """The options as ParlAI reads them, those of the task (``-t``) and of the agent (``-m``) among them.

    What none of them knows is left out: ``eval_model`` says so itself. ``opt["override"]`` has what was typed.

    :raises OptionError: for a value that an option does not take.
    """
    parser, typed = _Parser(True, True), list(arguments)
    parser.add_extra_args(typed)
    parser.args, _ = parser.parse_known_args(typed)  # parse_and_process_known_args would not know short names
    parser._process_args_to_opts(typed)
    return parser.opt
