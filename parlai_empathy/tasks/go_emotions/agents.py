"""The teacher of GoEmotions: the emotions of a comment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parlai_empathy.task_kit.in_memory_teacher import InMemoryTeacher
from parlai_empathy.tasks.go_emotions.build import build
from parlai_empathy.tasks.go_emotions.emotions import EMOTIONS
from parlai_empathy.tasks.go_emotions.reader import read_go_emotions


class GoEmotionsTeacher(InMemoryTeacher):
    """The emotions of a comment: each of them is a correct label."""

    title = "GoEmotions"
    build = staticmethod(build)

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield one message per comment."""
        for comment in read_go_emotions(path, self.fold):
            yield {
                "text": comment.text,
                "labels": list(comment.emotions),
                "label_candidates": list(EMOTIONS),
                "comment_id": comment.comment_id,
            }


class DefaultTeacher(GoEmotionsTeacher):
    """The default of ``-t empathy:go_emotions``."""
