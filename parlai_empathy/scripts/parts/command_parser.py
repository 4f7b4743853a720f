"""The argument parser of our commands: hides those of ParlAI's general options that a command ignores."""

from __future__ import annotations

from argparse import SUPPRESS

from parlai.core.params import ParlaiParser

_OF_WORLDS = {"task", "datatype", "batchsize", "dynamic_batching"}  # for commands that iterate over a task's examples


def command_parser(description: str, *takes: str, of_models: bool = False) -> ParlaiParser:
    """Return a parser for one of our commands; ``--helpall`` also lists ParlAI's hidden options.

    :param description: one sentence, without the full stop.
    :param takes: which of ``task``, ``datatype``, ``batchsize`` and ``dynamic_batching`` the command uses; the others
        are accepted, but ``--help`` does not list them.
    :param of_models: whether to add ParlAI's options of models, such as ``--model-file``.
    """
    parser = ParlaiParser(True, of_models, description)
    for action in parser._actions:
        if action.dest in _OF_WORLDS.difference(takes):
            action.help = SUPPRESS
    return parser
