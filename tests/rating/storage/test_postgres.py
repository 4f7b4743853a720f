"""PostgreSQL: connections that break, and a server that cannot be reached."""

from __future__ import annotations

import sys

import pytest
from postgres_server import PostgresServer

from parlai_empathy.errors import MissingDependencyError, OptionError, StoreError
from parlai_empathy.rating.storage.postgres import without_password
from parlai_empathy.rating.storage.store import open_database, open_store


@pytest.mark.parametrize("writes", [True, False])
def test_broken_connections_are_replaced(postgres: PostgresServer, writes: bool) -> None:
    """Two connections break, as after a restart of the server."""
    database = open_database(postgres.new_database())
    with database.transaction() as first, database.transaction(writes=False) as second:
        broken = {t.rows("SELECT pg_backend_pid() AS pid")[0]["pid"] for t in (first, second)}
    assert len(broken) == 2
    with open_database(postgres.url()).transaction() as t:
        for pid in broken:
            t.rows("SELECT pg_terminate_backend(:pid, 10000)", pid=pid)  # waits until it has ended
    with database.transaction(writes) as t:
        assert t.rows("SELECT pg_backend_pid() AS pid")[0]["pid"] not in broken


def test_read_only_transaction_cannot_write(postgres: PostgresServer) -> None:
    database = open_database(postgres.new_database())
    with pytest.raises(StoreError, match="read-only"), database.transaction(writes=False) as t:
        t.run("CREATE TABLE herons (name TEXT)")


@pytest.mark.parametrize(
    "url", ["postgresql://me:secret@127.0.0.1:1/name", "postgresql://127.0.0.1:1/name?user=me&password=secret"]
)
def test_unreachable_server_raises_store_error_without_password(url: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match="the store postgresql://") as caught:
        open_store(url)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("query", "timeouts"),
    [
        ("", (10, 30_000)),
        ("?connect_timeout=3", ("3", 30_000)),
        ("?tcp_user_timeout=0&connect_timeout=2", ("2", "0")),
    ],
)
def test_timeouts_of_the_url_take_precedence(
    query: str, timeouts: tuple[object, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without ``tcp_user_timeout``, a server that vanishes holds up all writers until the system gives up."""
    psycopg = pytest.importorskip("psycopg")
    used: dict[str, object] = {}

    def connect(**parameters: object) -> None:
        used.update(parameters)
        raise psycopg.OperationalError("no server")

    monkeypatch.setattr(psycopg, "connect", connect)
    with pytest.raises(StoreError, match="no server"), open_database(f"postgresql://me@h/x{query}").transaction():
        pass
    assert (used["connect_timeout"], used["tcp_user_timeout"]) == timeouts
    assert (used["user"], used["host"], used["dbname"]) == ("me", "h", "x")


@pytest.mark.parametrize("password", ["secret/1", "/secret?", "%zzsecret", "p@secret"])
def test_unescaped_password_raises_option_error_without_it(password: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(OptionError, match="in a password, write @") as caught:
        open_store(f"postgresql://me:{password}@127.0.0.1:1/name")
    assert "secret" not in str(caught.value)


def test_missing_psycopg_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "parlai-empathy\[rating\]"'):
        open_store("postgresql://host/name")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:p@h/db", "postgresql://u:...@h/db"),
        ("postgresql://u:p@ss@h/db", "postgresql://u:...@h/db"),
        ("postgresql://u:p/s@h:5432/db?application_name=a@b", "postgresql://u:...@h:5432/db?application_name=a@b"),
        ("postgresql://u:p?@s@h/db?application_name=a@b", "postgresql://u:...@h/db?application_name=a@b"),
        ("postgresql://u@h:5432/db", "postgresql://u@h:5432/db"),
        ("postgresql://h:5432/db?user=u&password=p@s&x=y", "postgresql://h:5432/db?user=u&password=...&x=y"),
    ],
)
def test_password_is_masked_in_url(url: str, shown: str) -> None:
    assert without_password(url) == shown
