"""All ratings of a study as a table, one row per rating: CSV or JSON lines, which ``ratings_file`` reads.

=============== ========================================================================================================
column          content
=============== ========================================================================================================
``item``        what was rated; each chat is an item
``system``      the system that gave the reply; in pairs, the first system
``other``       in pairs, the second system
``question``    the question's id
``rater``       who answered
``rating``      the number; in pairs 1 if ``system`` is better, 0 for a tie, -1 if ``other`` is; empty for a free text
``text``        the answer to a free-text question, or the text of a choice
``when``        the time (ISO 8601, UTC)
``seconds``     time spent on the item, with all its questions
``study``       the study's name
``version``     the digest of the study's contents at that time
``kind``        of the question: ``likert``, ``choice``, ``text`` or ``preference``
``check``       the right rating of a gold check, otherwise empty
``reply``       the name that ``parlai score_responses`` gives the reply in the system's log; ``(former reply)`` if
                the study's current version no longer has it; empty in chats and checks
``other_reply`` likewise for the reply of ``other``
``side``        in pairs, where ``system`` stood: ``left`` or ``right``
``turn``        in chats, the number of the turn that was rated; empty for the whole item
``number``      the number of the item among the rater's items, from 1
``excluded``    why the rater was excluded; otherwise empty
=============== ========================================================================================================
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TextIO

from parlai_empathy.errors import OptionError
from parlai_empathy.files.user_path import user_path
from parlai_empathy.files.whole_file import remedy, whole_file
from parlai_empathy.rating.desk.answering import WHOLE
from parlai_empathy.rating.desk.registration import item_of
from parlai_empathy.rating.names import FORMER
from parlai_empathy.rating.storage.database import Row, Transaction
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.items import Item
from parlai_empathy.rating.study.questions import without_carriage_returns

COLUMNS = (
    *("item", "system", "other", "question", "rater", "rating", "text", "when", "seconds", "study", "version", "check"),
    *("kind", "reply", "other_reply", "side", "turn", "number", "excluded"),
)


def rating_rows(store: Store, study: str, excluded: bool = False) -> Iterator[dict[str, Any]]:
    """All ratings of a study, of every version, in chronological order, as dictionaries of :data:`COLUMNS`.

    :param excluded: whether to include the ratings of excluded raters.
    """
    with store.reading() as t:
        present = _present(t, study)
        rows = t.rows(
            f"""SELECT b.*, i.name, i.subject, i.system, i.other, i.content, a.study, a.version, a.rater, a.number,
                a.swapped, r.excluded
            FROM rating_answers AS b
            JOIN rating_assignments AS a ON a.id = b.assignment
            JOIN rating_items AS i ON i.study = a.study AND i.version = a.version AND i.place = a.place
            JOIN rating_raters AS r ON r.study = a.study AND r.rater = a.rater
            WHERE a.study = :study {"" if excluded else "AND r.excluded IS NULL"}
            ORDER BY b.given, a.number, b.assignment, b.turn, b.question""",
            study=study,
        )
    return (_row(row, present) for row in rows)


_Present = Mapping[tuple[str, ...], Sequence[Item]]
"""The items of the study's current version, by what :func:`_replies` returns."""


def _present(t: Transaction, study: str) -> _Present:
    rows = t.rows(
        """SELECT i.name, i.subject, i.system, i.other, i.content FROM rating_items AS i
        JOIN rating_studies AS s ON s.study = i.study AND s.version = i.version WHERE i.study = :study""",
        study=study,
    )
    found: dict[tuple[str, ...], list[Item]] = {}
    for item in map(item_of, rows):
        found.setdefault(_replies(item), []).append(item)
    return found


def _replies(item: Item) -> tuple[str, ...]:
    return item.system, item.other, item.reply, item.other_reply, item.source, item.other_source


def _is_present(item: Item, present: _Present) -> bool:
    """Whether the current version has the same replies in the same contexts, of which it may show more or less."""
    return any(
        _ends_alike(item.context, one.context) and _ends_alike(item.other_context, one.other_context)
        for one in present.get(_replies(item), ())
    )


def _ends_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    return all(turn == same for turn, same in zip(reversed(one), reversed(other), strict=False))


def write_export(store: Store, study: str, path: str | Path, excluded: bool = False) -> int:
    """Write all ratings of a study to a file, atomically.

    :param path: ``.csv`` or ``.jsonl``.
    :param excluded: as in :func:`rating_rows`.
    :returns: the number of ratings.
    :raises OptionError: if the file has another extension or cannot be written, or the store does not have the study
        (an empty file must not overwrite an earlier one).
    """
    path = user_path(path)
    if path.suffix.lower() not in (".csv", ".jsonl"):
        raise OptionError(f"{path}: ratings are written as .csv or .jsonl: name the file accordingly")
    _check_known(store, study)
    return write_rows(path, list(rating_rows(store, study, excluded)))


def write_rows(path: Path, rows: list[dict[str, Any]]) -> int:
    """Write rows to a file, atomically; columns that they lack are empty.

    :param path: ``.csv`` or ``.jsonl``.
    :returns: the number of rows.
    :raises OptionError: if the file cannot be written.
    """
    try:
        with whole_file(path, is_shared=True) as own, own.open("w", encoding="utf-8", newline="") as file:
            (_write_csv if path.suffix.lower() == ".csv" else _write_json_lines)(file, rows)
    except OSError as error:
        advice = remedy(error, "name a file in an existing folder")
        raise OptionError(f"{path} cannot be written ({error.strerror}): {advice}") from error
    return len(rows)


def _check_known(store: Store, study: str) -> None:
    with store.reading() as t:
        names = [row["study"] for row in t.rows("SELECT study FROM rating_studies ORDER BY study")]
    if study not in names:
        there = f"it has {', '.join(names)}" if names else "it has none"
        raise OptionError(f"the store {store.name} has no study {study}: {there}; name one with ratings")


def item_name(row: Row, assignment: str) -> str:
    """The name of a row's item in files of ratings. A chat's name includes the assignment: each chat is an item."""
    item = item_of(row)
    return f"{item.name}-{assignment[:12]}" if item.is_chat else item.name


def moment(when: float) -> str:
    """Seconds since 1970 as ISO 8601, UTC."""
    return datetime.fromtimestamp(when, timezone.utc).isoformat(timespec="milliseconds")


def _row(row: Row, present: _Present) -> dict[str, Any]:
    """A row of the table."""
    item, is_whole = item_of(row), row["turn"] == WHOLE
    is_present = _is_present(item, present)
    check = dict(item.expected).get(row["question"]) if is_whole else None
    values = {
        "item": item_name(row, row["assignment"]),
        "system": item.system,
        "other": item.other,
        "question": row["question"],
        "rater": row["rater"],
        "rating": _short(row["rating"]),
        "text": row["text"] or "",
        "when": moment(row["given"]),
        "seconds": None if row["seconds"] is None else round(row["seconds"], 3),
        "study": row["study"],
        "version": row["version"],
        "check": _short(check),
        "kind": row["kind"],
        "reply": item.source if is_present else item.source and FORMER,
        "other_reply": item.other_source if is_present else item.other_source and FORMER,
        "side": ("right" if row["swapped"] else "left") if item.other else "",
        "turn": None if is_whole else row["turn"],
        "number": row["number"],
        "excluded": row["excluded"] or "",
    }
    return {key: without_carriage_returns(value) if isinstance(value, str) else value for key, value in values.items()}


def _short(number: float | None) -> float | int | None:
    return int(number) if number is not None and float(number).is_integer() else number


def _write_csv(file: TextIO, rows: list[dict[str, Any]]) -> None:
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)  # None becomes an empty cell


def _write_json_lines(file: TextIO, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
