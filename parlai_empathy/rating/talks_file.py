"""The talks that a study's marks and judgements are about, one line of JSON each, as ParlAI logs conversations.

``parlai score_responses`` reads such a file, and a study that judges whole dialogues does. Of each talk it says:

=========== ==========================================================================================================
field       what it says
=========== ==========================================================================================================
``item``    what ratings call the talk; marks of a turn have ``#`` and the turn's number behind it
``system``  who was talked with
``rater``   who talked
``study``   its name
``version`` the digest of what the study said then
``dialog``  pairs of a person's message and its answer; of each ``id`` (who), ``text``, ``turn`` (from 1), ``when`` (ISO
            8601, UTC) and whatever else is known, such as ``distress``; ``no_answer`` if there is none yet
=========== ==========================================================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from parlai_empathy.errors import OptionError
from parlai_empathy.files.whole_file import remedy, write_whole
from parlai_empathy.rating.answering import Said, messages
from parlai_empathy.rating.assignment import WITH_ITEM
from parlai_empathy.rating.export import item_name, moment
from parlai_empathy.rating.store import Store


def talks_path(ratings: str | Path) -> Path:
    """Where the talks go that a file of ratings is about: beside it."""
    path = Path(ratings).expanduser()
    return path.with_name(f"{path.stem}_talks.jsonl")


def write_talks(store: Store, study: str, path: str | Path) -> int:
    """Write all talks of a chat study, of every version, in the order in which they began; not of excluded raters.

    :returns: how many there are.
    :raises OptionError: for a file that cannot be written.
    """
    path = Path(path)
    lines = [json.dumps(record, ensure_ascii=False) for record in _records(store, study)]
    try:
        write_whole(path, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        advice = remedy(error, "name a file in a folder that is there")
        raise OptionError(f"{path} cannot be written ({error.strerror}): {advice}") from error
    return len(lines)


def _records(store: Store, study: str) -> Iterator[dict[str, Any]]:
    with store.reading() as t:
        rows = t.rows(
            f"""{WITH_ITEM} JOIN rating_raters AS r ON r.study = a.study AND r.rater = a.rater
            WHERE a.study = :study AND r.excluded IS NULL ORDER BY a.opened, a.id""",
            study=study,
        )
        for row in rows:
            if said := messages(t, row["id"]):
                yield {
                    "item": item_name(row, row["id"]),
                    **{key: row[key] for key in ("system", "rater", "study", "version")},
                    "dialog": _pairs(said, row["system"]),
                }


def _pairs(said: Sequence[Said], system: str) -> list[list[dict[str, Any]]]:
    shown = [
        {**one.details, "id": one.speaker, "text": one.text, "turn": one.turn, "when": moment(one.said)} for one in said
    ]
    if len(shown) % 2:
        shown.append({"id": system, "text": "", "no_answer": "there is no answer yet"})
    return [list(pair) for pair in zip(shown[::2], shown[1::2], strict=True)]
