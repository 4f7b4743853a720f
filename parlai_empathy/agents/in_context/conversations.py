"""The conversations that examples are taken from: EmpatheticDialogues' training fold."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from parlai.core.opt import Opt
from parlai.core.teachers import _add_task_flags_to_agent_opt

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.empathetic_dialogues.build import build
from parlai_empathy.tasks.empathetic_dialogues.reader import Dialogue, read_empathetic_dialogues

TASK = "empathetic_dialogues"
LONGEST_CONTEXT = 7
"""Turns that a context has at most: the data set's conversations have eight. In longer chats the last ones count."""


@dataclass(frozen=True)
class Conversation:
    """A conversation to show a model.

    :param turns: the first is the Speaker's, the last the Listener's.
    """

    conv_id: str
    emotion: str
    situation: str
    turns: tuple[str, ...]

    @property
    def context(self) -> str:
        """The turns before the last reply, one a line."""
        return "\n".join(self.turns[:-1])


def training_conversations(opt: Opt) -> list[Conversation]:
    """All training conversations with a reply, in the order of the file; what comes after the last reply is left out.

    :param opt: ``--edition`` decides which data, behind the task's name too.
    :raises DataError: if there is none, or the file cannot be read.
    :raises DownloadError: if the data are not to be had.
    """
    opt = copy.deepcopy(opt)
    if TASK in (opt.get("task") or "").split(":"):
        _add_task_flags_to_agent_opt(None, opt, opt["task"])  # ParlAI does so for teachers alone
    path = build(opt) / "train.csv"
    found = [_conversation(dialogue) for dialogue in read_empathetic_dialogues(path)]
    conversations = [conversation for conversation in found if conversation.turns]
    if not conversations:
        raise DataError(f"{path} holds no conversation with a reply, so there is no example: set --examples 0")
    return conversations


def _conversation(dialogue: Dialogue) -> Conversation:
    turns = [turn.text for turn in dialogue.turns]
    replies = [turn.index for turn in dialogue.turns if turn.is_listener and turn.text]
    turns = turns[: replies[-1]] if replies and all(turns[: replies[-1]]) else []
    return Conversation(dialogue.conv_id, dialogue.emotion, dialogue.situation, tuple(turns))
