"""How a chat about EmpatheticDialogues begins: ``-t empathy:empathetic_dialogues`` in ``interactive`` and ``self_chat``."""

from __future__ import annotations

import random

from parlai.tasks.interactive.worlds import InteractiveWorld as ParlaisInteractiveWorld
from parlai.tasks.self_chat.worlds import SelfChatWorld as ParlaisSelfChatWorld

from parlai_empathy.tasks.empathetic_dialogues.build import build
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues


class InteractiveWorld(ParlaisInteractiveWorld):
    """The person is the Speaker and begins; the model is the Listener and gets no context."""


class SelfChatWorld(ParlaisSelfChatWorld):
    """Each chat begins with what a Speaker of the test fold said first, drawn with ``--seed``; then the models go on."""

    def init_openers(self) -> None:
        """Take the openers from the test fold, unless a file is named."""
        if self.opt.get("seed_messages_from_file"):
            super().init_openers()
        else:
            dialogues = read_empathetic_dialogues(build(self.opt) / "test.csv")
            self._openers = [dialogue.turns[0].text for dialogue in dialogues]

    def get_openers(self, episode_num: int) -> list[str]:
        """One opening line."""
        return [random.choice(self._openers)]
