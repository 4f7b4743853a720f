"""Worlds for ``-t empathy:empathetic_dialogues`` in ParlAI's ``interactive`` and ``self_chat``."""

from __future__ import annotations

import copy

from parlai.core.loader import load_teacher_module
from parlai.core.teachers import _add_task_flags_to_agent_opt
from parlai.tasks.interactive.worlds import InteractiveWorld as ParlaisInteractiveWorld
from parlai.tasks.self_chat.worlds import SelfChatWorld as ParlaisSelfChatWorld

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.empathetic_dialogues.build import build
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues


class InteractiveWorld(ParlaisInteractiveWorld):
    """The human is the Speaker and begins; the model is the Listener and gets no context."""


class SelfChatWorld(ParlaisSelfChatWorld):
    """Each chat begins with the first turn of a Speaker in the test fold, sampled with ``--seed``."""

    def get_contexts(self) -> None:
        """Send nothing before the opener: ParlAI's default would greet the first model with "Hi!"."""

    def init_openers(self) -> None:
        """Load the openers from the test fold, unless a file is given."""
        if self.opt.get("seed_messages_from_file"):
            super().init_openers()
        else:
            opt = copy.deepcopy(self.opt)
            # ParlAI does this only where it creates a teacher.
            _add_task_flags_to_agent_opt(load_teacher_module(opt["task"]), opt, opt["task"])
            file = build(opt) / "test.csv"
            self._openers = [text for one in read_empathetic_dialogues(file) if (text := one.turns[0].text)]
            if not self._openers:
                raise DataError(f"{file} holds no conversation to begin a chat with")


def __getattr__(name: str) -> type[ParlaisInteractiveWorld | ParlaisSelfChatWorld]:
    """Return the same worlds for all teachers: ParlAI looks them up by teacher, such as ``SelfChatBothRolesWorld``."""
    if name.endswith("World"):
        if name.startswith("Interactive"):
            return InteractiveWorld
        if name.startswith("SelfChat"):
            return SelfChatWorld
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
