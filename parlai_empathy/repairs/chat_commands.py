"""Chats and self-chats: ParlAI writes ``--outfile`` only at the regular end, so that Ctrl-C loses what was said."""

from __future__ import annotations

import functools
from typing import Any

from parlai_empathy.errors import OptionError


def save_what_was_said(script: Any) -> None:
    """Let the command of the module write its log also if it is interrupted, unless nothing was said.

    :param script: ``parlai.scripts.interactive`` or ``parlai.scripts.self_chat``.
    """
    name = script.__name__.rpartition(".")[2]
    chat, make_world, begun = getattr(script, name), script.create_task, {}

    class Logger(script.WorldLogger):
        """ParlAI's logger, known to the command that wraps it."""

        def __init__(self, opt: Any) -> None:
            super().__init__(opt)
            begun["logger"] = self

    @functools.wraps(make_world)
    def create_task(*args: Any, **kwargs: Any) -> Any:
        begun["world"] = make_world(*args, **kwargs)
        return begun["world"]

    @functools.wraps(chat)
    def saved_chat(opt: Any) -> Any:
        begun.clear()
        try:
            return chat(opt)
        except KeyboardInterrupt:
            if opt.get("outfile") and len(begun) == 2:
                _save(opt, **begun)
            raise

    script.WorldLogger, script.create_task = Logger, create_task
    setattr(script, name, saved_chat)


def _save(opt: Any, logger: Any, world: Any) -> None:
    logger.reset()  # the last conversation may be unfinished
    if not any(logger.get_logs()):
        return
    if opt["save_format"] == "conversations" and hasattr(world, "write"):  # as ParlAI does at the end
        world.write(logger, opt["outfile"])
    else:
        logger.write(opt["outfile"], world, opt["save_format"])


def check_batchsize(self_chat: Any) -> None:
    """Check before a self-chat that it has no batches, which ParlAI asserts once it has begun."""
    chat = self_chat.self_chat

    @functools.wraps(chat)
    def one_at_a_time(opt: Any) -> Any:
        if opt.get("batchsize", 1) != 1:
            raise OptionError(
                f"--batchsize {opt['batchsize']}: self_chat has one conversation at a time; leave it out, and use "
                "--num-self-chats for more"
            )
        return chat(opt)

    self_chat.self_chat = one_at_a_time
