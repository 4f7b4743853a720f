"""What curation asks of an engine that holds all posts at once: views, tables, rows. DuckDB or Apache Spark.

Both take the same SQL: joins, grouping, arithmetic and ``md5`` are alike in the two, so it is written once, as what
both understand. (Ibis would write it for either, too: it was tried, and brings pandas and holds back Spark's releases,
for queries that are no shorter.)
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from parlai_empathy.curation.duck import connect
from parlai_empathy.errors import DataError, MissingDependencyError, OptionError, one_line

ENGINES = ("duckdb", "spark")


class Engine(Protocol):
    """Runs SQL over Parquet files.

    :param name: one of :data:`ENGINES`.
    """

    name: str

    def view(self, name: str, files: Sequence[Path]) -> None:
        """Call the rows of Parquet files of one layout ``name``."""

    def view_of(self, name: str, query: str) -> None:
        """Call the rows of a query ``name``, and compute them each time."""

    def table(self, name: str, query: str) -> None:
        """Compute a query once, and call its rows ``name``."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """All rows of a query that gives few."""

    def batches(self, query: str, size: int) -> Iterator[Any]:
        """The rows of a query that may give many, in tables of pyarrow with about ``size`` rows."""

    def close(self) -> None:
        """Let go of what was computed."""


def open_engine(name: str, folder: Path, memory: str, threads: int, master: str | None = None) -> Engine:
    """An engine.

    :param folder: where it may put what does not fit into memory.
    :param memory: how much DuckDB may take; Spark has its own settings.
    :param master: where Spark runs; None leaves it to Spark's own settings, which without any is this machine.
    :raises MissingDependencyError: if it is not installed.
    :raises OptionError: for another name.
    :raises DataError: if the folder cannot be made.
    """
    if name not in ENGINES:
        raise OptionError(f"--engine {name}: must be one of {', '.join(ENGINES)}")
    return _Duck(folder, memory, threads) if name == "duckdb" else _Spark(folder, master)


def exactly(engine: Engine, query: str, size: int) -> Iterator[Any]:
    """The rows of a query in tables of pyarrow with exactly ``size`` rows, but for the last, on any engine."""
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
    name = "duckdb"

    def __init__(self, folder: Path, memory: str, threads: int) -> None:
        self._folder = folder
        shutil.rmtree(folder, ignore_errors=True)  # what a killed run left
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise DataError(f"{folder} cannot be made ({error.strerror}): name another folder with --out") from error
        self._connection = connect(memory, threads, folder)

    def view(self, name: str, files: Sequence[Path]) -> None:
        listed = ", ".join("'" + str(file).replace("'", "''") + "'" for file in files)
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
    """Say in one line what Spark, or Java, says in many."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise OptionError(
            f"--engine spark: Spark fails ({one_line(error)}): if memory is short, give it more with "
            "spark.driver.memory in its settings; or take --engine duckdb"
        ) from error


def _address(path: Path) -> str:
    """A path that is none of the cluster's default file system."""
    return f"file://{path.resolve()}"


class _Spark:
    name = "spark"

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
        except Exception as error:  # Java's errors come as whatever the gateway makes of them
            reason = one_line(error)
            raise OptionError(f"--engine spark: Spark does not start ({reason}): it needs Java 17 or later") from error
        self._session.sparkContext.setLogLevel("ERROR")

    @_clear_errors()
    def view(self, name: str, files: Sequence[Path]) -> None:
        escaped = [re.sub(r"([][*?{}\\])", r"\\\1", _address(file)) for file in files]  # a path is a pattern to Spark
        self._session.read.parquet(*escaped).createOrReplaceTempView(name)

    @_clear_errors()
    def view_of(self, name: str, query: str) -> None:
        self._session.sql(query).createOrReplaceTempView(name)

    @_clear_errors()
    def table(self, name: str, query: str) -> None:
        # A table that is merely persisted brings its plan, with those of all tables before it, into each that reads it:
        # with several dumps Spark's plans alone would fill the memory.
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
