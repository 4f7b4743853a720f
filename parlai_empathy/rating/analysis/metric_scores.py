"""Automatic metrics of single replies, from the ``items.jsonl`` that ``parlai score_responses --out`` writes."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from parlai_empathy.errors import DataError, NotComputableError
from parlai_empathy.files.text_file import read_text
from parlai_empathy.rating.names import FORMER
from parlai_empathy.rating.rating import Place, Rating

_NO_METRICS = ("system", "item", "line", "turn", "emotion", "reply")

Name = tuple[str, str]
"""System and item of a reply."""

Scores = Mapping[str, Mapping[Name, float]]
"""Maps each metric to its value for each reply."""


def read_metric_scores(path: str | Path) -> dict[str, dict[Name, float]]:
    """Read the values of each metric; values that are not finite numbers are ignored.

    :raises DataError: with file and line, if the file cannot be read, or if a line is not a JSON object, does not name
        its reply, or repeats a reply. Also if the whole file contains no number.
    """
    path = Path(path)
    found: dict[str, dict[Name, float]] = {}
    lines: dict[Name, int] = {}
    for line, record in _records(path):
        where = f"{path}, line {line}"
        if record.get("item") is None:
            raise DataError(f"{where}: no item is named: expected items.jsonl of score_responses")
        name = (str(record.get("system") or ""), str(record["item"]))
        if (first := lines.setdefault(name, line)) != line:
            raise DataError(f"{where}: item {name[1]!r} of system {name[0]!r} is already in line {first}")
        for key, value in record.items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if key not in _NO_METRICS and is_number and math.isfinite(value):
                found.setdefault(key, {})[name] = float(value)
    if not found:
        raise DataError(f"{path} has no metric of any reply: expected items.jsonl of score_responses")
    return found


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, row in enumerate(read_text(path, "it should be an items.jsonl").split("\n"), start=1):
        if row.strip():
            try:
                record = json.loads(row)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{path}, line {line}: not JSON: expected one object per line") from error
            if not isinstance(record, dict):
                raise DataError(f"{path}, line {line}: {reprlib.repr(record)} is not a JSON object")
            yield line, record


def matched(ratings: Sequence[Rating], scores: Scores) -> dict[str, tuple[list[float], list[float]]]:
    """For each metric, return its values and people's mean ratings of the same replies, for one question.

    For comparisons, the metric's value is that of the first system minus that of the second.

    :param ratings: of single replies, or comparisons with the systems in alphabetical order.
    :raises NotComputableError: if no rated reply has a metric, or an item does not tell which reply was rated.
    """
    units: dict[_Judged, list[float]] = {}
    places: dict[_Judged, Place] = {}
    for one in ratings:
        if one.rating is not None and one.reply != FORMER:
            judged = (one.system, one.other, one.name, one.reply, one.other_reply)
            units.setdefault(judged, []).append(one.rating)
            if places.setdefault(judged, one.place) != one.place and not one.reply:
                raise NotComputableError(
                    f"item {one.name!r} is rated in several studies, or versions of one, where it may be another "
                    "reply: add the column reply, or keep the rows of one study and version"
                )
    if not units:
        raise NotComputableError("no rated reply has a metric: the study's current version has none of these replies")
    people = {unit: fmean(values) for unit, values in units.items()}
    found = {}
    for metric, values in scores.items():
        by_item = _by_item(values)
        of = {unit: value for unit in people if (value := _value(by_item, *unit)) is not None}
        if of:
            found[metric] = (list(of.values()), [people[unit] for unit in of])
    if not found:
        system, _, item, *_ = next(iter(people))
        theirs, their_item = next(iter(next(iter(scores.values()))))
        raise NotComputableError(
            f"no rated reply has a metric: ratings have item {item!r} of system {system!r}, metrics {their_item!r} of "
            f"{theirs!r}: use the same names of systems and items in both"
        )
    return found


_Judged = tuple[str, str, str, str, str]
"""System, other, item, and the names of the two systems' replies in the file of metrics, if known."""


_ByItem = Mapping[str, Mapping[str, float]]
"""A metric's values by item and system."""


def _by_item(values: Mapping[Name, float]) -> _ByItem:
    found: dict[str, dict[str, float]] = {}
    for (system, item), value in values.items():
        found.setdefault(item, {})[system] = value
    return found


def _value(values: _ByItem, system: str, other: str, item: str, reply: str, other_reply: str) -> float | None:
    first = _of_reply(values, system, reply, item)
    if not other or first is None:
        return first
    second = _of_reply(values, other, other_reply, item)
    return None if second is None else first - second


def _of_reply(values: _ByItem, system: str, reply: str, item: str) -> float | None:
    found = _called(values, system, reply) if reply else None
    return _called(values, system, item) if found is None else found


def _called(values: _ByItem, system: str, item: str) -> float | None:
    """The value for a system and item. Without a system, it is looked up by the item, which must be unique.

    ``score_responses`` calls the systems of one log, such as that of a chat study, ``LOG: SYSTEM``.
    """
    systems = values.get(item, {})
    if system in systems:
        return systems[system]
    found = [value for name, value in systems.items() if not system or name.endswith(f": {system}")]
    return found[0] if len(found) == 1 else None
