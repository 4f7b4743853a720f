"""DuckDB: its errors about memory and disks become one-line errors."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from full_disk import full_disk

from parlai_empathy.curation.duck import clear_errors, connect, stoppable
from parlai_empathy.errors import DataError, MissingDependencyError, OptionError

OneLine = Callable[..., None]


def test_connection_uses_given_memory_threads_and_temp_folder(tmp_path: Path) -> None:
    with connect("123MiB", 2, tmp_path / "spilled") as connection:
        names = ("memory_limit", "threads", "temp_directory")
        found = connection.execute(f"SELECT {', '.join(f'current_setting({name!r})' for name in names)}").fetchone()
    assert found == ("123.0 MiB", 2, str(tmp_path / "spilled"))


@pytest.mark.parametrize("memory", ["much", "", "4 cats", "-1", "-4GB"])
def test_invalid_memory_raises_option_error(memory: str, assert_one_line: OneLine) -> None:
    with pytest.raises(OptionError) as caught:
        connect(memory, 1)
    assert_one_line(caught.value, f"--memory {memory}: ", "write it like 4GB")


def test_missing_duckdb_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, assert_one_line: OneLine
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingDependencyError) as caught:
        connect("1GB", 1)
    assert_one_line(caught.value, 'pip install "parlai-empathy[red]"')
    with pytest.raises(MissingDependencyError), clear_errors("1GB", tmp_path):
        pass


def test_out_of_memory_raises_option_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(OptionError) as caught, clear_errors("1MB", tmp_path), connect("1MB", 1) as connection:
        connection.execute("SELECT list(n) FROM range(10_000_000) AS t(n)").fetchall()
    assert_one_line(caught.value, "--memory 1MB: too little for DuckDB (Out of Memory Error", "--threads")


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "out cannot be written (No space left on device)"),
        (OSError(errno.EROFS, "Read-only file system", "/there/a"), "/there/a cannot be written (Read-only"),
        (OSError("[Errno 28] Error writing bytes"), "out cannot be written ([Errno 28] Error writing bytes)"),
        (duckdb.IOException("IO Error: Could not write file\nmore"), "out cannot be written (IO Error: Could not"),
        (
            duckdb.IOException(f'IO Error: Async write failed: {{"errno":"{errno.ENOSPC}"}}'),
            "(No space left on device): ",
        ),
    ],
)
def test_write_errors_name_the_path(error: Exception, named: str, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught, clear_errors("1GB", Path("out")):
        raise error
    assert_one_line(caught.value, named, "make room, or name another folder")
    assert caught.value.__cause__ is error


def test_full_disk_is_reported_without_json(tmp_path: Path, assert_one_line: OneLine) -> None:
    """Simulate it with a limit of 300 bytes a file."""
    query = f"COPY (SELECT md5(range::VARCHAR) FROM range(99_999)) TO '{tmp_path}/a.parquet'"
    with full_disk(300), pytest.raises(DataError) as caught, clear_errors("1GB", tmp_path):
        duckdb.sql(query)
    assert_one_line(caught.value, f"{tmp_path} cannot be written ({os.strerror(errno.EFBIG)}): make room")


def test_other_errors_are_not_converted(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), clear_errors("1GB", tmp_path):
        raise ZeroDivisionError
    with pytest.raises(duckdb.ParserException), clear_errors("1GB", tmp_path), connect("1GB", 1) as connection:
        connection.execute("SELEC")


ENDLESS = "SELECT count(*) FROM range(100_000_000) AS a(n), range(100_000) AS b(m) WHERE (n * m) % 7 = 3"


def press_ctrl_c(*_: object) -> None:
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_interrupts_a_running_query() -> None:
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    with connect("1GB", 1) as connection:
        timer.start()
        with pytest.raises(KeyboardInterrupt), stoppable():
            connection.execute(ENDLESS).fetchall()
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_ctrl_c_in_a_python_function_raises_keyboard_interrupt() -> None:
    """DuckDB reports it as an error of the function, as does Arrow for input that is read as a stream."""
    with connect("1GB", 1) as connection:
        connection.create_function("stop", press_ctrl_c, ["BIGINT"], "BIGINT")
        with pytest.raises(duckdb.InvalidInputException):
            connection.execute("SELECT stop(1)").fetchall()
        with pytest.raises(KeyboardInterrupt), stoppable():
            connection.execute("SELECT stop(1)").fetchall()


def test_stoppable_keeps_other_errors_and_signal_handler() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError, match=r"^other$"), stoppable():
        raise RuntimeError("other")
    assert signal.getsignal(signal.SIGINT) is before


def test_stoppable_respects_ignored_signals_and_other_threads() -> None:
    def run() -> None:
        with stoppable():
            done.append(1)

    done: list[int] = []
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable():
            press_ctrl_c()
    finally:
        signal.signal(signal.SIGINT, before)
    assert done == [1]
