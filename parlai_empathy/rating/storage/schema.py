"""The tables of a store, except for the crowd's ledger."""

from __future__ import annotations

from parlai_empathy.errors import StoreError
from parlai_empathy.rating.storage.database import Database, Transaction

FORMAT = 2
"""The format of a store. Newer formats only add tables; a store in an older format gets them when it is opened."""

# Times are seconds since 1970. `filled` is the number of open or answered assignments, without those of excluded
# raters; it is compared with the quota, and could be recomputed from rating_assignments at any time. `lot` breaks ties
# between items with equal `filled`.
TABLES = (
    "CREATE TABLE IF NOT EXISTS rating_store (format INTEGER PRIMARY KEY)",
    # Every write transaction updates `turn`: the row serves as the lock of the study.
    """CREATE TABLE IF NOT EXISTS rating_studies (
        study TEXT PRIMARY KEY, version TEXT NOT NULL, turn BIGINT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS rating_versions (
        study TEXT NOT NULL, version TEXT NOT NULL, definition TEXT NOT NULL, begun DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (study, version))""",
    """CREATE TABLE IF NOT EXISTS rating_items (
        study TEXT NOT NULL, version TEXT NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL, arm TEXT NOT NULL,
        subject TEXT NOT NULL, system TEXT NOT NULL, other TEXT NOT NULL, is_check INTEGER NOT NULL,
        quota INTEGER NOT NULL, filled INTEGER NOT NULL, lot DOUBLE PRECISION NOT NULL,
        content TEXT NOT NULL, PRIMARY KEY (study, version, place))""",
    """CREATE INDEX IF NOT EXISTS rating_items_by_need
        ON rating_items (study, version, arm, filled, lot)""",
    """CREATE TABLE IF NOT EXISTS rating_arms (
        study TEXT NOT NULL, version TEXT NOT NULL, arm TEXT NOT NULL, is_check INTEGER NOT NULL,
        filled INTEGER NOT NULL, swapped INTEGER NOT NULL, PRIMARY KEY (study, version, arm))""",
    """CREATE TABLE IF NOT EXISTS rating_raters (
        study TEXT NOT NULL, rater TEXT NOT NULL, enrolled DOUBLE PRECISION NOT NULL, consented DOUBLE PRECISION,
        excluded TEXT, details TEXT NOT NULL, PRIMARY KEY (study, rater))""",
    # The last constraint guarantees that no rater is given a subject twice.
    """CREATE TABLE IF NOT EXISTS rating_assignments (
        id TEXT PRIMARY KEY, study TEXT NOT NULL, version TEXT NOT NULL, place INTEGER NOT NULL, arm TEXT NOT NULL,
        subject TEXT NOT NULL, rater TEXT NOT NULL, number INTEGER NOT NULL, swapped INTEGER NOT NULL,
        is_check INTEGER NOT NULL, state TEXT NOT NULL, opened DOUBLE PRECISION NOT NULL,
        deadline DOUBLE PRECISION NOT NULL, closed DOUBLE PRECISION, submission TEXT,
        UNIQUE (study, rater, subject))""",
    """CREATE INDEX IF NOT EXISTS rating_assignments_open
        ON rating_assignments (study, deadline) WHERE state = 'open'""",
    """CREATE TABLE IF NOT EXISTS rating_answers (
        assignment TEXT NOT NULL, question TEXT NOT NULL, turn INTEGER NOT NULL, kind TEXT NOT NULL,
        rating DOUBLE PRECISION, text TEXT, given DOUBLE PRECISION NOT NULL, seconds DOUBLE PRECISION,
        PRIMARY KEY (assignment, question, turn))""",
    """CREATE TABLE IF NOT EXISTS rating_messages (
        assignment TEXT NOT NULL, turn INTEGER NOT NULL, speaker TEXT NOT NULL, text TEXT NOT NULL,
        details TEXT NOT NULL, said DOUBLE PRECISION NOT NULL, PRIMARY KEY (assignment, turn))""",
    # For collections: the prompt that a person is offered and describes, and the two people's conversation about it.
    """CREATE TABLE IF NOT EXISTS rating_prompts (
        id TEXT PRIMARY KEY, study TEXT NOT NULL, version TEXT NOT NULL, rater TEXT NOT NULL, offered TEXT NOT NULL,
        emotion TEXT NOT NULL, situation TEXT NOT NULL, made DOUBLE PRECISION NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS rating_conversations (
        id TEXT PRIMARY KEY, study TEXT NOT NULL, version TEXT NOT NULL, place INTEGER NOT NULL, prompt TEXT NOT NULL,
        speaker TEXT NOT NULL, listener TEXT NOT NULL, state TEXT NOT NULL, begun DOUBLE PRECISION NOT NULL,
        UNIQUE (study, prompt))""",
    """CREATE TABLE IF NOT EXISTS rating_evaluations (
        conversation TEXT NOT NULL, rater TEXT NOT NULL, question TEXT NOT NULL, rating DOUBLE PRECISION, text TEXT,
        given DOUBLE PRECISION NOT NULL, PRIMARY KEY (conversation, rater, question))""",
    # For collections in the browser: who is waiting for a partner (`seen`: when they were last there), and who has met
    # whom. `first` and `second` are people, each with a prompt. `first_gone` and `second_gone` are set once that person
    # has seen how the meeting ended, and is free for another one.
    """CREATE TABLE IF NOT EXISTS rating_seats (
        study TEXT NOT NULL, rater TEXT NOT NULL, since DOUBLE PRECISION NOT NULL, seen DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (study, rater))""",
    """CREATE TABLE IF NOT EXISTS rating_meetings (
        id TEXT PRIMARY KEY, study TEXT NOT NULL, version TEXT NOT NULL, first TEXT NOT NULL, second TEXT NOT NULL,
        first_prompt TEXT NOT NULL, second_prompt TEXT NOT NULL, state TEXT NOT NULL, left_by TEXT NOT NULL,
        first_gone INTEGER NOT NULL, second_gone INTEGER NOT NULL, begun DOUBLE PRECISION NOT NULL)""",
    """CREATE INDEX IF NOT EXISTS rating_meetings_of_first ON rating_meetings (study, first, first_gone)""",
    """CREATE INDEX IF NOT EXISTS rating_meetings_of_second ON rating_meetings (study, second, second_gone)""",
)


def prepare(database: Database) -> None:
    """Create the tables if they do not exist.

    :raises StoreError: if the store's format is newer.
    """
    formats = _formats(database)
    if max(formats, default=0) < FORMAT:
        with database.transaction() as transaction:
            database.lock_schema(transaction)
            _make_tables(transaction)
        formats = _formats(database)
    if max(formats) != FORMAT:
        raise StoreError(
            f"the store {database.name} has format {max(formats)}, but this program reads format {FORMAT}: "
            "update parlai-empathy"
        )


def _formats(database: Database) -> list[int]:
    """The formats recorded in the store; empty for a new one."""
    try:
        with database.transaction(writes=False) as transaction:
            return _formats_in(transaction)
    except StoreError:
        return []  # if the cause is not a missing table, creating the tables will fail


def _make_tables(transaction: Transaction) -> None:
    """Create the missing tables, unless another process has created them since the check.

    The second check also prevents a deadlock: on a server, ``CREATE INDEX IF NOT EXISTS`` waits for all transactions
    that write to the table, and these may be waiting for a table whose index was created just before.
    """
    first, *others = TABLES
    transaction.run(first)
    if max(_formats_in(transaction), default=0) < FORMAT:
        for statement in others:
            transaction.run(statement)
        transaction.run("INSERT INTO rating_store VALUES (:format) ON CONFLICT DO NOTHING", format=FORMAT)


def _formats_in(transaction: Transaction) -> list[int]:
    return [row["format"] for row in transaction.rows("SELECT format FROM rating_store")]
