"""The teacher of GoEmotions: the emotions of a comment."""

from __future__ import annotations

from collections.abc import Iterator

from parlai.core.message import Message

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.go_emotions.build import build
from parlai_empathy.tasks.go_emotions.emotions import EMOTIONS
from parlai_empathy.tasks.go_emotions.reader import Comment, read_go_emotions
from parlai_empathy.tasks.in_memory_teacher import WholeTeacher


class GoEmotionsTeacher(WholeTeacher):
    """The emotions of a comment: each of them is a correct label."""

    title = "GoEmotions"
    build = staticmethod(build)

    def setup_data(self, datafile: str) -> Iterator[tuple[Message, bool]]:
        """Yield one message per comment, each the start of a new episode."""
        given = 0
        for comment in read_go_emotions(datafile, self.fold):
            given += 1
            yield self._message(comment), True
        if not given:
            raise DataError(f"{datafile}: its {self.fold} fold holds no comment")

    def _message(self, comment: Comment) -> Message:
        return Message(
            {
                "text": comment.text,
                "labels": list(comment.emotions),
                "label_candidates": list(EMOTIONS),
                "comment_id": comment.comment_id,
                "fold": self.fold,
            }
        )


class DefaultTeacher(GoEmotionsTeacher):
    """The default of ``-t empathy:go_emotions``."""
