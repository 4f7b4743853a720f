"""What people who talked in pairs said of each other, as rows in the layout of files of ratings.

``item`` is the conversation's ``conv_id`` in the file of conversations, ``rater`` the number of the person who judges,
and ``system`` the role of the one who is judged, ``speaker`` or ``listener``. ``version`` is that of the study when the
conversation began: the study may ask other questions by now.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai_empathy.files.user_path import user_path
from parlai_empathy.rating.collecting.collected_file import conversation_name, numbers_of
from parlai_empathy.rating.collecting.collection import finished
from parlai_empathy.rating.export import moment
from parlai_empathy.rating.storage.database import Row
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.questions import Choice, FreeText, Likert
from parlai_empathy.rating.study.study import Study


def judgements_path(conversations: str | Path) -> Path:
    """The path of the judgements that belong to a file of conversations: beside it."""
    path = user_path(conversations)
    return path.with_name(f"{path.stem}_judgements.csv")


def judgements(store: Store, study: Study, silent_since: float = 0.0) -> list[dict[str, Any]]:
    """All answers about the conversations that are written with the same ``silent_since``, as rows of a file."""
    numbers, rows = numbers_of(store, study), []
    for one, _ in finished(store, study, silent_since):
        with store.reading() as t:
            answers = t.rows(
                """SELECT e.*, c.version FROM rating_evaluations AS e
                JOIN rating_conversations AS c ON c.id = e.conversation WHERE e.conversation = :id
                AND (e.rating IS NOT NULL OR e.text IS NOT NULL) ORDER BY e.given, e.rater, e.question""",
                id=one.id,
            )
        rows += [
            {
                "item": conversation_name(one),
                "system": "listener" if row["rater"] == one.speaker else "speaker",
                "question": row["question"],
                "rater": numbers[row["rater"]],
                "rating": row["rating"],
                "text": row["text"],
                "when": moment(row["given"]),
                "study": study.name,
                "version": row["version"],
                "kind": _kind(row),
            }
            for row in answers
        ]
    return rows


def _kind(row: Row) -> str:
    """The kind of a stored answer's question, which the study may no longer ask, or ask in another way."""
    if row["rating"] is None:
        return FreeText.kind
    return Likert.kind if row["text"] is None else Choice.kind
