"""The SQL engines that process all posts at once: DuckDB or Apache Spark.

Both run the same SQL: joins, grouping, arithmetic and ``md5`` work the same way in both, so each query is written once.
(Ibis can generate the SQL for either. It was tried: it requires pandas, restricts the version of Spark, and the queries
are no shorter.)
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from parlai_empathy.curation.duck import connect
from parlai_empathy.curation.names import ENGINES
from parlai_empathy.curation.sql import quoted
from parlai_empathy.errors import DataError, MissingDependencyError, OptionError, one_line


class Engine(Protocol):
    """Runs SQL over Parquet files."""

    def view(self, name: str, files: Sequence[Path]) -> None:
        """Create or replace the view ``name`` of Parquet files with the same schema."""

    def view_of(self, name: str, query: str) -> None:
        """Create or replace the view ``name`` of a query, which runs each time the view is used."""

    def table(self, name: str, query: str) -> None:
        """Run a query once and store its rows as the table ``name``."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query with a small result."""

    def batches(self, query: str, size: int) -> Iterator[Any]:
        """Yield the rows of a query, which may be many, as pyarrow tables of about ``size`` rows."""

    def close(self) -> None:
        """Close the engine and discard its tables."""


def open_engine(name: str, folder: Path, memory: str, threads: int, master: str | None = None) -> Engine:
    """Open an engine.

    :param folder: for temporary data that do not fit into memory.
    :param memory: DuckDB's memory limit; Spark has its own settings.
    :param master: Spark's master; None uses Spark's own settings, by default this machine.
    :raises MissingDependencyError: if the engine is not installed.
    :raises OptionError: for an unknown engine or an invalid ``memory``, or if Spark does not start.
    :raises DataError: if the folder cannot be created.
    """
    if name not in ENGINES:
        raise OptionError(f"--engine {name}: must be one of {', '.join(ENGINES)}")
    return _Duck(folder, memory, threads) if name == "duckdb" else _Spark(folder, master)


def exactly(engine: Engine, query: str, size: int) -> Iterator[Any]:
    """Yield the rows of a query as pyarrow tables of exactly ``size`` rows, except for the last, on any engine."""
    import pyarrow

    waiting: list[Any] = []
    length = 0
    for table in engine.batches(query, size):
        waiting.append(table)
        length += len(table)
        while length >= size:
            joined = pyarrow.concat_tables(waiting)
            yield joined.slice(0, size)
            waiting, length = [joined.slice(size)], length - size
    if length:
        yield pyarrow.concat_tables(waiting)


class _Duck:
    def __init__(self, folder: Path, memory: str, threads: int) -> None:
        self._folder = folder
        shutil.rmtree(folder, ignore_errors=True)  # left over from a killed run
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise DataError(f"{folder} cannot be created ({error.strerror}): name another folder with --out") from error
        self._connection = connect(memory, threads, folder)

    def view(self, name: str, files: Sequence[Path]) -> None:
        listed = ", ".join(quoted(str(file)) for file in files)
        self._connection.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet([{listed}])")

    def view_of(self, name: str, query: str) -> None:
        self._connection.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")

    def table(self, name: str, query: str) -> None:
        self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS {query}")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._connection.execute(query).fetchall()
        return rows

    def batches(self, query: str, size: int) -> Iterator[Any]:
        import pyarrow

        for batch in self._connection.sql(query).to_arrow_reader(size):
            yield pyarrow.Table.from_batches([batch])

    def close(self) -> None:
        self._connection.close()
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def _clear_errors() -> Iterator[None]:
    """Turn the long errors of Spark and Java into one line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise OptionError(
            f"--engine spark: Spark fails ({one_line(error)}): if memory is short, give it more with "
            "spark.driver.memory in its settings; or use --engine duckdb"
        ) from error


def _address(path: Path) -> str:
    """Return a ``file://`` URL, so that the path is not looked up in the cluster's default file system."""
    return f"file://{path.resolve()}"


class _Spark:
    def __init__(self, folder: Path, master: str | None) -> None:
        try:
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise MissingDependencyError(
                f'--engine spark needs PySpark, which cannot be imported ({error}): pip install "parlai-empathy[spark]"'
            ) from error
        builder: Any = SparkSession.builder
        builder = builder.appName("parlai curate_red").config("spark.sql.session.timeZone", "UTC")
        builder = builder.config("spark.sql.warehouse.dir", _address(folder / "warehouse"))
        if master:
            builder = builder.master(master)
        try:
            self._session = builder.getOrCreate()
        except Exception as error:  # the gateway turns Java's errors into various exceptions
            reason = one_line(error)
            raise OptionError(f"--engine spark: Spark does not start ({reason}): it needs Java 17 or later") from error
        self._session.sparkContext.setLogLevel("ERROR")

    @_clear_errors()
    def view(self, name: str, files: Sequence[Path]) -> None:
        escaped = [re.sub(r"([][*?{}\\])", r"\\\1", _address(file)) for file in files]  # a path is a pattern in Spark
        self._session.read.parquet(*escaped).createOrReplaceTempView(name)

    @_clear_errors()
    def view_of(self, name: str, query: str) -> None:
        self._session.sql(query).createOrReplaceTempView(name)

    @_clear_errors()
    def table(self, name: str, query: str) -> None:
        # With persist(), each query's plan would include the plans of all tables that it depends on: with several
        # dumps, Spark's plans alone would fill the memory.
        self._session.sql(query).localCheckpoint().createOrReplaceTempView(name)

    @_clear_errors()
    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._session.sql(query).collect()]

    def batches(self, query: str, size: int) -> Iterator[Any]:
        import pyarrow

        rows = []
        with _clear_errors():
            for row in self._session.sql(query).toLocalIterator():
                rows.append(row.asDict())
                if len(rows) == size:
                    yield pyarrow.Table.from_pylist(rows)
                    rows = []
        if rows:
            yield pyarrow.Table.from_pylist(rows)

    @_clear_errors()
    def close(self) -> None:
        self._session.catalog.clearCache()
        self._session.stop()
