"""All ratings of a study as a table, one row each: CSV or JSON lines, which ``ratings_file`` reads.

=============== ========================================================================================================
column          what it says
=============== ========================================================================================================
``item``        what was rated; of one turn of a chat with ``#`` and the turn's number behind it
``system``      who gave the reply; of a pair, A
``other``       of a pair, B
``question``    its id
``rater``       who answered
``rating``      the number; of a pair 1 if ``system`` is better, 0 for a tie, -1 if ``other`` is; of a free text nothing
``text``        the words of a free text, and the choice of a choice
``when``        the time (ISO 8601, UTC)
``seconds``     spent on the item, with all its questions
``study``       its name
``version``     the digest of what the study said then
``kind``        of the question: ``likert``, ``choice``, ``text`` or ``preference``
``check``       of a gold check the right rating, of anything else nothing
``reply``       what ``parlai score_responses`` calls the reply in the system's log; nothing if the study's present
                version has another reply there
``other_reply`` likewise the reply of ``other``
``side``        of a pair, where ``system`` stood: ``left`` or ``right``
``number``      which of the rater's items it was, from 1
``excluded``    why the rater's ratings do not count, if they do not
=============== ========================================================================================================
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TextIO

from parlai_empathy.errors import OptionError
from parlai_empathy.files.whole_file import remedy, whole_file
from parlai_empathy.rating.answering import WHOLE
from parlai_empathy.rating.database import Row, Transaction
from parlai_empathy.rating.questions import without_carriage_returns
from parlai_empathy.rating.registration import item_of
from parlai_empathy.rating.store import Store

COLUMNS = (
    *("item", "system", "other", "question", "rater", "rating", "text", "when", "seconds", "study", "version", "check"),
    *("kind", "reply", "other_reply", "side", "number", "excluded"),
)


def rating_rows(store: Store, study: str, excluded: bool = False) -> Iterator[dict[str, Any]]:
    """All ratings of a study, of every version, in the order in which they came; a dictionary of :data:`COLUMNS` each.

    :param excluded: whether those of excluded raters are among them.
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
    return (_row(row, _content(row) in present) for row in rows)


_Content = tuple[str, str, str]
"""Two systems, and what they said to what."""


def _present(t: Transaction, study: str) -> set[_Content]:
    """What the study's present version has to judge."""
    rows = t.rows(
        """SELECT i.system, i.other, i.content FROM rating_items AS i
        JOIN rating_studies AS s ON s.study = i.study AND s.version = i.version WHERE i.study = :study""",
        study=study,
    )
    return set(map(_content, rows))


def _content(row: Row) -> _Content:
    return row["system"], row["other"], row["content"]


def write_export(store: Store, study: str, path: str | Path, excluded: bool = False) -> int:
    """Write all ratings of a study to a file, whole or not at all.

    :param path: ``.csv`` or ``.jsonl``.
    :param excluded: as in :func:`rating_rows`.
    :returns: how many there are.
    :raises OptionError: for a file that is called otherwise, or cannot be written; for a study that the store does not
        know: an empty file is not to take the place of an earlier one.
    """
    path = Path(path).expanduser()
    if path.suffix.lower() not in (".csv", ".jsonl"):
        raise OptionError(f"{path}: ratings are written as .csv or .jsonl: call the file so")
    _check_known(store, study)
    rows = list(rating_rows(store, study, excluded))
    try:
        with whole_file(path, is_shared=True) as own, own.open("w", encoding="utf-8", newline="") as file:
            (_write_csv if path.suffix.lower() == ".csv" else _write_json_lines)(file, rows)
    except OSError as error:
        advice = remedy(error, "name a file in a folder that is there")
        raise OptionError(f"{path} cannot be written ({error.strerror}): {advice}") from error
    return len(rows)


def _check_known(store: Store, study: str) -> None:
    with store.reading() as t:
        names = [row["study"] for row in t.rows("SELECT study FROM rating_studies ORDER BY study")]
    if study not in names:
        there = f"it has {', '.join(names)}" if names else "it has none"
        raise OptionError(f"the store {store.name} has no study {study}: {there}; name one that people have rated in")


def item_name(row: Row, assignment: str) -> str:
    """What ratings call the item of a row. Chats have no name of their own in the study: each one is an item."""
    item = item_of(row)
    return f"{item.name}-{assignment[:12]}" if item.is_chat else item.name


def moment(when: float) -> str:
    """Seconds since 1970 as ISO 8601, UTC."""
    return datetime.fromtimestamp(when, timezone.utc).isoformat(timespec="milliseconds")


def _row(row: Row, is_present: bool) -> dict[str, Any]:
    """A row of the table.

    :param is_present: whether what was judged is in the study's present version.
    """
    item, name = item_of(row), item_name(row, row["assignment"])
    check = dict(item.expected).get(row["question"]) if row["turn"] == WHOLE else None
    return {
        "item": name if row["turn"] == WHOLE else f"{name}#{row['turn']}",
        "system": item.system,
        "other": item.other,
        "question": row["question"],
        "rater": row["rater"],
        "rating": _short(row["rating"]),
        "text": without_carriage_returns(row["text"] or ""),
        "when": moment(row["given"]),
        "seconds": None if row["seconds"] is None else round(row["seconds"], 3),
        "study": row["study"],
        "version": row["version"],
        "check": _short(check),
        "kind": row["kind"],
        "reply": item.source if is_present else "",
        "other_reply": item.other_source if is_present else "",
        "side": ("right" if row["swapped"] else "left") if item.other else "",
        "number": row["number"],
        "excluded": without_carriage_returns(row["excluded"] or ""),
    }


def _short(number: float | None) -> float | int | None:
    return int(number) if number is not None and float(number).is_integer() else number


def _write_csv(file: TextIO, rows: list[dict[str, Any]]) -> None:
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)  # None is written as nothing


def _write_json_lines(file: TextIO, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
