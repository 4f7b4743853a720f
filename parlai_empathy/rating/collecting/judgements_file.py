"""Writing what people who talked in pairs said of each other, in the layout of files of ratings.

``item`` is the conversation's ``conv_id`` in the file of conversations, ``rater`` the number of the person who judges,
and ``system`` the role of the one who is judged, ``speaker`` or ``listener``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parlai_empathy.files.user_path import user_path
from parlai_empathy.rating.collecting.collected_file import conversation_name, numbers_of
from parlai_empathy.rating.collecting.collection import finished
from parlai_empathy.rating.export import moment, write_rows
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.study import Study


def judgements_path(conversations: str | Path) -> Path:
    """The path of the judgements that belong to a file of conversations: beside it."""
    path = user_path(conversations)
    return path.with_name(f"{path.stem}_judgements.csv")


def write_judgements(store: Store, study: Study, path: str | Path, silent_since: float = 0.0) -> int:
    """Write all answers about the conversations that are written with the same ``silent_since``, atomically.

    :returns: the number of answers.
    :raises OptionError: if the file cannot be written.
    """
    return write_rows(Path(path), list(_rows(store, study, silent_since)))


def _rows(store: Store, study: Study, silent_since: float) -> Iterator[dict[str, Any]]:
    kinds, numbers = {question.id: question.kind for question in study.questions}, numbers_of(store, study)
    for one, _ in finished(store, study, silent_since):
        with store.reading() as t:
            answers = t.rows(
                """SELECT * FROM rating_evaluations WHERE conversation = :id
                AND (rating IS NOT NULL OR text IS NOT NULL) ORDER BY given, rater, question""",
                id=one.id,
            )
        for row in answers:
            yield {
                "item": conversation_name(one),
                "system": "listener" if row["rater"] == one.speaker else "speaker",
                "question": row["question"],
                "rater": numbers[row["rater"]],
                "rating": row["rating"],
                "text": row["text"],
                "when": moment(row["given"]),
                "study": study.name,
                "kind": kinds.get(row["question"], ""),
            }
