"""A store's tables. All of them are kept by :class:`~parlai_empathy.rating.desk.Desk`, one row changed at a time."""

from __future__ import annotations

from parlai_empathy.errors import StoreError
from parlai_empathy.rating.database import Database, Transaction

FORMAT = 2
"""The format of a store. What a later one adds is new tables: a store of an earlier one gets them when it is opened."""

# Times are seconds since 1970. `filled` counts the assignments that are open or answered, those of excluded raters
# left out: it is what quotas are compared with, and could be counted anew from rating_assignments at any time. `lot`
# decides among items with equally many.
TABLES = (
    "CREATE TABLE IF NOT EXISTS rating_store (format INTEGER PRIMARY KEY)",
    # `turn` is written by each transaction that writes: the row is the lock behind which a study's writers queue.
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
    # The last constraint is the promise that no rater meets a subject twice.
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
    # Of collections: what a person is offered and tells of, and the two people's conversation about it.
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
    # Of collections at several computers: who waits for somebody (`seen` is when they were last there), and who has
    # met whom. `first` and `second` are people, with the prompts that they bring; each is `gone` who has looked at how
    # the meeting ended, and is ready for another one.
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
    """Make the tables, unless they are there.

    :raises StoreError: if they are of another format.
    """
    formats = _formats(database)
    if max(formats, default=0) < FORMAT:
        with database.transaction() as transaction:
            database.lock_schema(transaction)
            _make_tables(transaction)
        formats = _formats(database)
    if max(formats) != FORMAT:
        raise StoreError(
            f"the store {database.name} has format {max(formats)}, and this program reads {FORMAT}: update it"
        )


def _formats(database: Database) -> list[int]:
    """The formats of the tables that are there; none of a new store."""
    try:
        with database.transaction(writes=False) as transaction:
            return _formats_in(transaction)
    except StoreError:
        return []  # if it is something else than a missing table, making them will say so


def _make_tables(transaction: Transaction) -> None:
    """Make those that are not there, unless somebody else has done it since it was found that they are not.

    To ask again saves more than time: on a server, "create an index if there is none" waits for all who write to the
    table, and they may be waiting for a table whose index was created before.
    """
    first, *others = TABLES
    transaction.run(first)
    if max(_formats_in(transaction), default=0) < FORMAT:
        for statement in others:
            transaction.run(statement)
        transaction.run("INSERT INTO rating_store VALUES (:format) ON CONFLICT DO NOTHING", format=FORMAT)


def _formats_in(transaction: Transaction) -> list[int]:
    return [row["format"] for row in transaction.rows("SELECT format FROM rating_store")]
