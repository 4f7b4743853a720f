"""The teacher of EmpatheticIntents: the intent of an utterance, one of nine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parlai_empathy.task_kit.in_memory_teacher import InMemoryTeacher
from parlai_empathy.tasks.empathetic_intents.build import build
from parlai_empathy.tasks.empathetic_intents.reader import INTENTS, read_empathetic_intents


class EmpatheticIntentsTeacher(InMemoryTeacher):
    """The intent of an utterance: the task of the classifier behind IntentAcc (Lee et al. 2022)."""

    title = "EmpatheticIntents"
    build = staticmethod(build)

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield one message per utterance."""
        for one in read_empathetic_intents(path, self.fold):
            yield {"text": one.text, "labels": [one.intent], "label_candidates": list(INTENTS)}


class DefaultTeacher(EmpatheticIntentsTeacher):
    """The default of ``-t empathy:empathetic_intents``."""
