"""The teacher of EmpatheticIntents: the intent of an utterance, one of nine."""

from __future__ import annotations

from collections.abc import Iterator

from parlai.core.message import Message

from parlai_empathy.tasks.empathetic_intents.build import build
from parlai_empathy.tasks.empathetic_intents.reader import INTENTS, read_empathetic_intents
from parlai_empathy.tasks.in_memory_teacher import WholeTeacher


class EmpatheticIntentsTeacher(WholeTeacher):
    """The intent of an utterance: the task of the classifier behind IntentAcc (Lee et al. 2022)."""

    title = "EmpatheticIntents"
    build = staticmethod(build)

    def setup_data(self, datafile: str) -> Iterator[tuple[Message, bool]]:
        """Yield one message per utterance, each the start of a new episode."""
        for one in read_empathetic_intents(datafile, self.fold):
            yield (
                Message(
                    {
                        "text": one.text,
                        "labels": [one.intent],
                        "label_candidates": list(INTENTS),
                        "fold": self.fold,
                    }
                ),
                True,
            )


class DefaultTeacher(EmpatheticIntentsTeacher):
    """The default of ``-t empathy:empathetic_intents``."""
