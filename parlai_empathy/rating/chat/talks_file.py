"""Writing the conversations of a chat study, one JSON object per line, in the format of ParlAI's conversation logs.

``parlai score_responses`` and studies that judge whole dialogues can read the file; they leave out what excluded people
said. Its fields:

============ =========================================================================================================
field        content
============ =========================================================================================================
``item``     the chat's name in files of ratings
``system``   the model
``rater``    the person
``study``    the study's name
``version``  the digest of the study's contents at that time
``excluded`` why the person was excluded; otherwise empty
``dialog``   pairs of a person's message and the answer; each has ``id`` (the speaker), ``text``, ``turn`` (from 1),
             ``when`` (ISO 8601, UTC) and any details, such as ``distress``; a missing last answer has ``no_answer``
============ =========================================================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from parlai_empathy.errors import OptionError
from parlai_empathy.files.user_path import user_path
from parlai_empathy.files.whole_file import remedy, write_whole
from parlai_empathy.rating.desk import raters
from parlai_empathy.rating.desk.assignment import WITH_ITEM
from parlai_empathy.rating.desk.messages import Said, messages
from parlai_empathy.rating.export import item_name, moment
from parlai_empathy.rating.storage.store import Store


def talks_path(ratings: str | Path) -> Path:
    """The path of the conversations that belong to a file of ratings: beside it."""
    path = user_path(ratings)
    return path.with_name(f"{path.stem}_talks.jsonl")


def write_talks(store: Store, study: str, path: str | Path, excluded: bool = False) -> int:
    """Write all conversations of a chat study, of every version, in order of their start.

    :param excluded: whether to include the conversations of excluded raters.
    :returns: the number of conversations.
    :raises OptionError: if the file cannot be written.
    """
    path = Path(path)
    lines = [json.dumps(record, ensure_ascii=False) for record in _records(store, study, excluded)]
    try:
        write_whole(path, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        advice = remedy(error, "name a file in an existing folder")
        raise OptionError(f"{path} cannot be written ({error.strerror}): {advice}") from error
    return len(lines)


def _records(store: Store, study: str, excluded: bool) -> Iterator[dict[str, Any]]:
    with store.reading() as t:
        reasons = {one.id: one.excluded for one in raters.found(t, study) if excluded or one.excluded is None}
        rows = t.rows(f"{WITH_ITEM} WHERE a.study = :study ORDER BY a.opened, a.id", study=study)
        for row in rows:
            if row["rater"] in reasons and (said := messages(t, row["id"])):
                yield {
                    "item": item_name(row, row["id"]),
                    **{key: row[key] for key in ("system", "rater", "study", "version")},
                    "excluded": reasons[row["rater"]] or "",
                    "dialog": _pairs(said, row["system"]),
                }


def _pairs(said: Sequence[Said], system: str) -> list[list[dict[str, Any]]]:
    shown = [
        {**one.details, "id": one.speaker, "text": one.text, "turn": one.turn, "when": moment(one.said)} for one in said
    ]
    if len(shown) % 2:
        shown.append({"id": system, "text": "", "no_answer": "there is no answer yet"})
    return [list(pair) for pair in zip(shown[::2], shown[1::2], strict=True)]
