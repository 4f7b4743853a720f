"""GRADE's judgements (Huang et al. 2020): a JSON list of replies by several systems, with raters' scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError, shown
from parlai_empathy.tasks.engagement.json_files import read_objects, text_of
from parlai_empathy.tasks.engagement.records import RatedReply, number, one_line

SCALE = (1, 2, 3, 4, 5)
_BETWEEN_TURNS = "|||"


def read_grade(path: str | Path) -> Iterator[RatedReply]:
    """Read ``human_judgement.json``, in file order; a reply's system is its data set and model, joined by ``/``.

    :raises DataError: naming file, entry and field, for an entry without texts or without scores from 1 to 5.
    """
    for place, entry in enumerate(read_objects(path)):
        where = f"{path}, entry {place}"
        reply = one_line(text_of(entry, "Response", where))
        if not reply:
            raise DataError(f"{where}: its Response is empty: use the file as its authors published it")
        turns = map(one_line, text_of(entry, "Context", where).split(_BETWEEN_TURNS))
        system = f"{text_of(entry, 'Dataset', where)}/{text_of(entry, 'DialogModel', where)}"
        ratings = _ratings(entry.get("HumanScores"), f"{where}, HumanScores")
        yield RatedReply(str(entry.get("ID", place)), tuple(filter(None, turns)), reply, ratings, system)


def _ratings(scores: Any, where: str) -> tuple[float, ...]:
    """Return the scores, which the file stores as a JSON list in a string."""
    try:
        found = json.loads(scores) if isinstance(scores, str) else scores
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not found:
        raise DataError(f"{where}: {shown(scores)} is not a list of scores: use the file as its authors published it")
    return tuple(number(score, where, SCALE[0], SCALE[-1]) for score in found)
