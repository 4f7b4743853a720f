"""How a chat begins with ``-t empathy:empathetic_dialogues`` in ParlAI's ``interactive`` and ``self_chat``."""

from __future__ import annotations

import copy
import random

from parlai.core.teachers import _add_task_flags_to_agent_opt
from parlai.tasks.interactive.worlds import InteractiveWorld as ParlaisInteractiveWorld
from parlai.tasks.self_chat.worlds import SelfChatWorld as ParlaisSelfChatWorld

from parlai_empathy.tasks.empathetic_dialogues.build import build
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues


class InteractiveWorld(ParlaisInteractiveWorld):
    """The person is the Speaker and begins; the model is the Listener and gets no context."""


class SelfChatWorld(ParlaisSelfChatWorld):
    """Each chat begins with what a Speaker of the test fold said first, drawn with ``--seed``; the models go on."""

    def get_contexts(self) -> None:
        """Nothing comes before the opener: ParlAI's default would greet the first model with "Hi!"."""

    def init_openers(self) -> None:
        """Take the openers from the test fold, unless a file is named."""
        if self.opt.get("seed_messages_from_file"):
            super().init_openers()
        else:
            opt = copy.deepcopy(self.opt)
            _add_task_flags_to_agent_opt(None, opt, opt["task"])  # ParlAI does so for teachers alone
            dialogues = read_empathetic_dialogues(build(opt) / "test.csv")
            self._openers = [dialogue.turns[0].text for dialogue in dialogues]

    def get_openers(self, episode_num: int) -> list[str]:
        """One opening line."""
        return [random.choice(self._openers)]


def __getattr__(name: str) -> type[ParlaisInteractiveWorld | ParlaisSelfChatWorld]:
    """ParlAI asks for a world of the teacher's name, ``SelfChatBothRolesWorld`` say: the chat is the same for each."""
    if name.endswith("World"):
        if name.startswith("Interactive"):
            return InteractiveWorld
        if name.startswith("SelfChat"):
            return SelfChatWorld
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
