"""Parses command-line options of ``eval_model`` before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.errors import OptionError


class _Parser(ParlaiParser):
    """ParlAI's parser, except that errors raise :class:`OptionError` instead of printing the help and exiting."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(f"{message.removeprefix('argument ')}: parlai eval_model would reject it")

    def _load_opts(self, opt: Opt) -> None:
        """Read ``--init-opt``. ParlAI refuses options in it that this parser lacks; here they are kept as they are."""
        for name, value in Opt.load_init(opt["init_opt"]).items():
            if name not in opt["override"]:
                opt[name] = opt["override"][name] = value


def typed_options(arguments: Sequence[str]) -> Opt:
    """Parse the options as ParlAI does, including those of the task (``-t``) and the agent (``-m``).

    Unknown options are ignored here, since ``eval_model`` reports them itself. ``opt["override"]`` holds the options
    given explicitly.

    :raises OptionError: for a value that an option does not accept.
    """
    parser, typed = _Parser(True, True), list(arguments)
    parser.add_extra_args(typed)
    parser.args, _ = parser.parse_known_args(typed)  # parse_and_process_known_args does not accept short names
    parser._process_args_to_opts(typed)
    return parser.opt
