"""Answers of language models on disk, so that what was written and paid for once is never asked for again.

SQLite keeps them: each answer is a transaction, so that one which is killed while it writes loses that answer at most,
and several processes may share the file. Its default journal, not the write-ahead log: that one needs shared memory,
which network disks do not have, and its speed is not needed, since an answer takes far longer than a transaction.
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

# Written into the file's head, so that no other program's database is taken for a cache.
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
    """What an answer is found by: a digest of all that decides it.

    :param name: the backend and the model.
    :param identity: the server's address, or the state of the model's files.
    """
    asked = prompt if isinstance(prompt, str) else [[message.role, message.content] for message in prompt]
    whole = json.dumps([_FORMAT, name, identity, asked, asdict(sampling)], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


class Cache:
    """A file of answers.

    :param path: made if it is not there, with its folder.
    :raises DataError: if it is no cache, or broken, or cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        with self._errors():
            self.path.absolute().parent.mkdir(parents=True, exist_ok=True)
            # Autocommit: what begins a transaction says so.
            self._file = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._prepare()

    def find(self, key: str) -> Completion | None:
        """The answer of :func:`cache_key`, if there is one."""
        with self._errors(), self._lock:
            row = self._file.execute(
                "select text, finish, prompt_tokens, completion_tokens from completions where key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        text, finish, prompt_tokens, completion_tokens = row
        return Completion(text, finish, prompt_tokens, completion_tokens, cached=True)

    def keep(self, key: str, completion: Completion) -> None:
        """Write an answer; it is on the disk when this returns."""
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
            self._file.execute("begin immediate")  # of two processes that find no table, one makes it
            try:
                self._make_table()
            finally:
                self._file.execute("commit")

    def _make_table(self) -> None:
        application = self._file.execute("pragma application_id").fetchone()[0]
        version = self._file.execute("pragma user_version").fetchone()[0]
        if (application, version) == (_APPLICATION, _FORMAT):
            return
        if application or version or self._file.execute("select 1 from sqlite_master").fetchone():
            raise DataError(
                f"{self.path} is the database of another program, or of another version of this one: name another file"
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
                "move it away, or name another file"
            ) from error
