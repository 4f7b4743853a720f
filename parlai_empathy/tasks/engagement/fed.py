"""FED (Mehri and Eskenazi 2020): a JSON list of turns and dialogues with raters' scores of many qualities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.json_files import read_objects, text_of
from parlai_empathy.tasks.engagement.records import RatedReply, number, one_line

SCALE = (0, 1, 2)
QUALITY = "Engaging"
"""The only one of the qualities scored by FED's raters that is read."""

_SPEAKER = re.compile(r"^(?:User|System):\s*")


def read_fed(path: str | Path) -> Iterator[RatedReply]:
    """Read the rated turns, in file order; whole dialogues, which have no ``response``, are skipped.

    :raises DataError: naming file, entry and field, for an entry without texts or without scores from 0 to 2.
    """
    for place, entry in enumerate(read_objects(path)):
        if "response" not in entry:
            continue
        where = f"{path}, entry {place}"
        reply = _SPEAKER.sub("", one_line(text_of(entry, "response", where)))
        if not reply:
            raise DataError(f"{where}: its response is empty: use the file as its authors published it")
        annotations = entry.get("annotations")
        scores = annotations.get(QUALITY) if isinstance(annotations, dict) else None
        if not isinstance(scores, list) or not scores:
            raise DataError(f"{where}: it has no list annotations.{QUALITY}: use the file as its authors published it")
        ratings = tuple(number(score, f"{where}, annotations.{QUALITY}", SCALE[0], SCALE[-1]) for score in scores)
        system = entry.get("system")
        yield RatedReply(str(place), _turns(text_of(entry, "context", where)), reply, ratings, system and str(system))


def _turns(context: str) -> tuple[str, ...]:
    """Return the turns without the speakers' names. A line without a speaker's name continues the previous turn."""
    turns: list[str] = []
    for line in context.split("\n"):
        speaker = _SPEAKER.match(line)
        if speaker or not turns:
            turns.append(line[speaker.end() :] if speaker else line)
        else:
            turns[-1] += f" {line}"
    return tuple(turn for turn in map(one_line, turns) if turn)
