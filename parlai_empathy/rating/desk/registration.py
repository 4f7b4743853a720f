"""Registering a study's items in a store, once per version."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk.assignment import LATE, leave, lots
from parlai_empathy.rating.desk.progress import UNLIMITED
from parlai_empathy.rating.storage.database import Row, Transaction
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.items import Item, items_of
from parlai_empathy.rating.study.study import Study


def check_version(store: Store, study: Study, new_version: bool) -> str | None:
    """Return the version of a study that the store has; None if it has none.

    :param new_version: whether this version of the study may replace another one that the store has.
    :raises OptionError: if the store has another version that may not be replaced.
    """
    with store.reading() as t:
        row = t.row("SELECT version FROM rating_studies WHERE study = :study", study=study.name)
        current = str(row["version"]) if row else None
        if current and current != study.version and not new_version:
            former = _definition(t, study.name, current)
            changes = f" (changed: {', '.join(study.changes(former))})" if former else ""
            raise OptionError(
                f"{study.where}: the store {store.name} has version {current} of the study {study.name}, but this is "
                f"version {study.version}{changes}: give it another name:, or pass --new-version true"
            )
    return current


def register(store: Store, study: Study, new_version: bool, now: float) -> None:
    """Prepare a store for a study. The items are read from the logs only the first time.

    :param new_version: as in :func:`check_version`.
    :raises OptionError: if the store has another version that may not be replaced, or the study has no items.
    :raises DataError: if a log cannot be read.
    """
    current = check_version(store, study, new_version)
    with store.reading() as t:
        is_known = _is_known(t, study)
    if current == study.version and is_known:
        return
    items = [] if is_known else _items(store, study)
    with store.starting(study.name, study.version) as t:
        if current and current != study.version:
            _ask_for_consent_again(t, study, current)
        if not _is_known(t, study):
            _put(t, study, items, now)
            t.run("ANALYZE rating_items")  # update the query planner's statistics
        for row in t.rows(
            "SELECT * FROM rating_assignments WHERE study = :study AND version <> :version AND state = 'open'",
            study=study.name,
            version=study.version,
        ):
            leave(t, row, LATE, now)


def _items(store: Store, study: Study) -> list[Item]:
    """A study's items. If an earlier version showed more or fewer turns of a conversation, and none just these, it
    keeps that version's subject, so that no rater sees it again.
    """
    items, met = items_of(study), _met(store, study)
    known = set[str]().union(*met.values())
    kept: dict[str, str] = {}
    for turns in [one for one in met if one != study.context_turns]:
        for item, before in zip(items, items_of(replace(study, context_turns=turns)), strict=True):
            if item.subject not in known and before.subject in met[turns]:
                kept.setdefault(item.subject, before.subject)
    return [replace(item, subject=kept.get(item.subject, item.subject)) for item in items]


def _met(store: Store, study: Study) -> dict[int | None, set[str]]:
    """The subjects of the study's versions in the store, by the number of turns that they show, the oldest first."""
    found: dict[int | None, set[str]] = {}
    with store.reading() as t:
        sql = "SELECT version, definition FROM rating_versions WHERE study = :study ORDER BY begun"
        for version in t.rows(sql, study=study.name):
            sql = "SELECT DISTINCT subject FROM rating_items WHERE study = :study AND version = :version"
            subjects = t.rows(sql, study=study.name, version=version["version"])
            turns = json.loads(version["definition"])["context_turns"]
            found.setdefault(turns, set()).update(row["subject"] for row in subjects)
    return found


def _is_known(t: Transaction, study: Study) -> bool:
    sql = "SELECT 1 FROM rating_versions WHERE study = :study AND version = :version"
    return t.row(sql, study=study.name, version=study.version) is not None


def _definition(t: Transaction, study: str, version: str) -> dict[str, Any] | None:
    """Return the record of a version of a study; None if the store does not have its items."""
    sql = "SELECT definition FROM rating_versions WHERE study = :study AND version = :version"
    row = t.row(sql, study=study, version=version)
    return None if row is None else dict(json.loads(row["definition"]))


def _ask_for_consent_again(t: Transaction, study: Study, former: str) -> None:
    """Reset the raters' consent if its wording has changed. The time of the former consent is kept in their details.

    :param former: the version that is replaced.
    """
    definition = _definition(t, study.name, former)
    if definition is None or definition["consent"] == study.consent:
        return
    for rater in t.rows("SELECT * FROM rating_raters WHERE study = :s AND consented IS NOT NULL", s=study.name):
        details = {**json.loads(rater["details"]), f"agreed to {former}": str(rater["consented"])}
        t.send(
            "UPDATE rating_raters SET consented = NULL, details = :details WHERE study = :study AND rater = :rater",
            study=study.name,
            rater=rater["rater"],
            details=json.dumps(details, sort_keys=True),
        )


def _put(t: Transaction, study: Study, items: Sequence[Item], now: float) -> None:
    own = {"study": study.name, "version": study.version}
    t.run(
        "INSERT INTO rating_versions VALUES (:study, :version, :definition, :now)",
        **own,
        definition=json.dumps(study.as_record()),
        now=now,
    )
    quota = UNLIMITED if study.ratings_per_item is None else study.ratings_per_item
    t.run_many(
        """INSERT INTO rating_items VALUES (:study, :version, :place, :name, :arm, :subject, :system, :other,
            :is_check, :quota, 0, :lot, :content)""",
        [
            {**own, **_columns(item, place), "quota": UNLIMITED if item.is_check else quota, "lot": lot}
            for place, (item, lot) in enumerate(zip(items, lots(study, len(items)), strict=True))
        ],
    )
    arms = {item.arm: int(item.is_check) for item in items}
    t.run_many(
        "INSERT INTO rating_arms VALUES (:study, :version, :arm, :is_check, 0, 0)",
        [{**own, "arm": arm, "is_check": is_check} for arm, is_check in arms.items()],
    )


_IN_COLUMNS = ("name", "subject", "system", "other")


def _columns(item: Item, place: int) -> dict[str, object]:
    content = {key: value for key, value in asdict(item).items() if key not in _IN_COLUMNS and value}
    return {
        **{key: getattr(item, key) for key in _IN_COLUMNS},
        "place": place,
        "arm": item.arm,
        "is_check": int(item.is_check),
        "content": json.dumps(content, ensure_ascii=False),
    }


def item_of(row: Row) -> Item:
    """The item stored in a row of ``rating_items``."""
    content = json.loads(row["content"])
    for key in ("context", "other_context"):
        content[key] = tuple(content.get(key, ()))
    content["expected"] = tuple((question, rating) for question, rating in content.get("expected", ()))
    return Item(**{key: row[key] for key in _IN_COLUMNS}, **content)
