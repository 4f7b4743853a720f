"""The source of examples: EmpatheticDialogues' training fold."""

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
"""Maximum turns of a context: the data set's conversations have eight turns. Of longer chats, the last are used."""


@dataclass(frozen=True)
class Conversation:
    """An example conversation for the prompt.

    :param turns: the first is by the Speaker, the last by the Listener.
    """

    conv_id: str
    emotion: str
    situation: str
    turns: tuple[str, ...]

    @property
    def context(self) -> str:
        """The turns before the last reply, one per line."""
        return "\n".join(self.turns[:-1])


def training_conversations(opt: Opt) -> list[Conversation]:
    """Return all training conversations that contain a reply, in file order, each cut after its last reply.

    :param opt: ``--edition`` selects the data; it can also be appended to the task's name.
    :raises DataError: if there are none, or the file cannot be read.
    :raises DownloadError: if the data cannot be downloaded.
    """
    opt = copy.deepcopy(opt)
    for task in (opt.get("task") or "").split(","):
        if TASK in task.split(":"):
            _add_task_flags_to_agent_opt(None, opt, task)  # ParlAI does so only for teachers
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
