"""The parser of a command: ParlAI's general options, without those that mean nothing to it."""

from __future__ import annotations

from argparse import SUPPRESS

from parlai.core.params import ParlaiParser

_OF_WORLDS = {"task", "datatype", "batchsize", "dynamic_batching"}  # for commands that go through a task's examples


def command_parser(description: str, *takes: str, of_models: bool = False) -> ParlaiParser:
    """A parser for one of our commands; ``--helpall`` shows ParlAI's other options too.

    :param description: one sentence without its full stop.
    :param takes: what the command takes of ``task``, ``datatype``, ``batchsize`` and ``dynamic_batching``.
    :param of_models: whether it takes ParlAI's options of models, ``--model-file`` among them.
    """
    parser = ParlaiParser(True, of_models, description)
    for action in parser._actions:
        if action.dest in _OF_WORLDS.difference(takes):
            action.help = SUPPRESS
    return parser
