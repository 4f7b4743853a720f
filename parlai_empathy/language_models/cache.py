"""A cache of language models' answers on disk, so that no answer is generated or paid for twice.

The answers are stored in SQLite. Each one is a transaction, so a process killed while writing loses at most that
answer, and several processes can share the file. We use the default journal, not the write-ahead log: the latter needs
shared memory, which network file systems lack, and its speed would not help, since an answer takes far longer than a
transaction.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from parlai_empathy.errors import DataError, one_line
from parlai_empathy.language_models.completion import Completion
from parlai_empathy.language_models.prompt import Prompt, Sampling

# Stored in the file's header, to tell a cache from another program's database.
_APPLICATION = 0x456D7043
_FORMAT = 1
_BUSY_SECONDS = 60.0

_TABLE = """
create table completions (
    key text primary key, text text not null, finish text not null,
    prompt_tokens integer not null, completion_tokens integer not null
) without rowid
"""


def cache_key(name: str, identity: str, prompt: Prompt, sampling: Sampling) -> str:
    """Return the key of an answer: a digest of everything that determines it.

    :param name: the backend and the model.
    :param identity: the server's address, or a digest of the model's files.
    """
    asked = prompt if isinstance(prompt, str) else [[message.role, message.content] for message in prompt]
    whole = json.dumps([_FORMAT, name, identity, asked, asdict(sampling)], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


class Cache:
    """A file of cached answers.

    :param path: created if it does not exist, together with its parent folders.
    :raises DataError: if the file is not a cache, is damaged, or cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        with self._errors():
            self.path.absolute().parent.mkdir(parents=True, exist_ok=True)
            # Autocommit: transactions are begun explicitly.
            self._file = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._prepare()

    def find(self, key: str) -> Completion | None:
        """Return the cached answer for a key made by :func:`cache_key`; None if it is not cached."""
        with self._errors(), self._lock:
            row = self._file.execute(
                "select text, finish, prompt_tokens, completion_tokens from completions where key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        text, finish, prompt_tokens, completion_tokens = row
        return Completion(text, finish, prompt_tokens, completion_tokens, cached=True)

    def keep(self, key: str, completion: Completion) -> None:
        """Store an answer; it is on disk when this returns."""
        row = (key, completion.text, completion.finish, completion.prompt_tokens, completion.completion_tokens)
        with self._errors(), self._lock:
            self._file.execute("insert or replace into completions values (?, ?, ?, ?, ?)", row)

    def __len__(self) -> int:
        with self._errors(), self._lock:
            return int(self._file.execute("select count(*) from completions").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _prepare(self) -> None:
        with self._lock:
            self._file.execute("begin immediate")  # if two processes find no table, only one creates it
            try:
                self._make_table()
            finally:
                self._file.execute("commit")

    def _make_table(self) -> None:
        application = self._file.execute("pragma application_id").fetchone()[0]
        version = self._file.execute("pragma user_version").fetchone()[0]
        if (application, version) == (_APPLICATION, _FORMAT):
            self._file.execute(f"pragma user_version = {_FORMAT}")  # fails now if a paid answer could not be stored
            return
        if application or version or self._file.execute("select 1 from sqlite_master").fetchone():
            raise DataError(
                f"{self.path} is the database of another program, or of another version of this one: "
                "name another file with --lm-cache"
            )
        self._file.execute(_TABLE)
        self._file.execute(f"pragma application_id = {_APPLICATION}")
        self._file.execute(f"pragma user_version = {_FORMAT}")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise DataError(
                f"{self.path} cannot be used as a cache of answers ({one_line(error)}): "
                "move it away, or name another file with --lm-cache"
            ) from error
