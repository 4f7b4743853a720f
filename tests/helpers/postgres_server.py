"""A temporary PostgreSQL server for tests, in a temporary folder, with a Unix socket."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path

import pytest

_FOLDERS = [os.environ.get("PATH", os.defpath), *sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True)]
UNPRIVILEGED = "nobody"  # PostgreSQL refuses to run as root


class PostgresServer:
    """A running server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self) -> str:
        return f"postgresql://tester@/postgres?host={self.folder}"

    def new_database(self) -> str:
        """Create an empty schema, which is much cheaper than a database, and return its URL."""
        import psycopg

        name = f"test_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{self.url()}&options=-csearch_path%3D{name}"

    def run(self, *command: str) -> None:
        """Run one of PostgreSQL's programs, as an unprivileged user."""
        user = UNPRIVILEGED if os.geteuid() == 0 else None
        program = find(command[0])
        assert program
        done = subprocess.run(
            [program, *command[1:]],
            user=user,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=(self.folder / "out.log").open("ab"),  # not a pipe, which the server would keep open
            stderr=subprocess.STDOUT,
        )
        if done.returncode:
            pytest.skip(f"PostgreSQL does not run here: {(self.folder / 'out.log').read_text()[-300:]}")


def find(program: str) -> str | None:
    return next(filter(None, (shutil.which(program, path=folder) for folder in _FOLDERS)), None)


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Yield a server; without PostgreSQL the test is skipped."""
    pytest.importorskip("psycopg")
    if not (find("initdb") and find("pg_ctl")):
        pytest.skip("no PostgreSQL here")
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # short: a socket's path can have 107 characters at most
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, UNPRIVILEGED)
        server = PostgresServer(folder)
        server.run("initdb", "-D", "data", "-U", "tester", "--auth=trust", "-E", "UTF8", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off -c max_connections=60"
        server.run("pg_ctl", "-D", "data", "-w", "-l", "server.log", "-o", options, "start")
        try:
            yield server
        finally:
            server.run("pg_ctl", "-D", "data", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
