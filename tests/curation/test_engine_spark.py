"""Apache Spark as an engine: the same SQL gives the same data set as DuckDB."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet
from tiny_dumps import KAPPA, LARGE, ByLength, random_posts, records, run, write_dump

from parlai_empathy.curation import selection, text_scores
from parlai_empathy.curation.curate import Curated, Plan, _curate
from parlai_empathy.curation.engine import Engine, exactly, open_engine
from parlai_empathy.curation.recipe import Recipe
from parlai_empathy.errors import OptionError
from parlai_empathy.tasks.reddit.build import SAMPLE

pytest.importorskip("pyspark")
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("Spark needs Java", allow_module_level=True)

OneLine = Callable[..., None]

# The data are small: most of the time would go to Spark's distribution of work over many machines.
SETTINGS = {
    "spark.sql.shuffle.partitions": 2,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A session that all tests share."""
    settings = " ".join(f"--conf {name}='{value}'" for name, value in SETTINGS.items())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", f"{settings} pyspark-shell")
        engine = open_engine("spark", tmp_path_factory.mktemp("spark"), "1GB", 2, "local[2]")
        yield engine
        engine.close()


def both(spark: Engine, dumps: list[Path], folder: Path, **options: Any) -> tuple[Curated, Curated]:
    """Curate the same dumps with DuckDB and Spark, in two folders."""
    recipe = options.pop("recipe", {"kappa": KAPPA})
    plan = Plan(dumps, folder / "spark", Recipe(**recipe), with_ids=True, memory="1GB", threads=1, **options)
    return run(dumps, folder / "duckdb", recipe=recipe, **options), _curate(plan, spark, lambda: None)


def assert_same(folder: Path, duckdb: Curated, spark: Curated) -> None:
    """Assert that both data sets are identical, and so are the numbers of their cards."""
    assert records(folder / "spark") == records(folder / "duckdb")
    assert (folder / "spark" / "red.parquet").read_bytes() == (folder / "duckdb" / "red.parquet").read_bytes()
    names = ("fates", "measures", "chosen", "subreddits", "histogram", "scorers", "added")
    assert {name: getattr(spark, name) for name in names} == {name: getattr(duckdb, name) for name in names}
    for label, means in duckdb.classes.items():
        assert spark.classes[label] == pytest.approx(means, rel=1e-12)


def test_spark_matches_duckdb_with_scorers_and_negative_samples(
    spark: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With text scorers and negative samples, in batches that do not fit the data, in a folder with an odd name."""
    monkeypatch.setattr(selection, "_ROWS", 7)
    monkeypatch.setattr(text_scores, "BATCH", 50)
    dumps = [*sorted(SAMPLE.glob("*.jsonl")), write_dump(tmp_path / "a{1}[*].jsonl", random_posts(2 * LARGE, seed=9))]
    scorers = {"emotion": ByLength(), "toxicity": ByLength("toxic")}
    recipe = {"kappa": KAPPA, "toxic_above": 0.99, "subreddits": ("Baking", "TRAINS", "cooking"), "valid_share": 0.3}
    folder = tmp_path / "out [1] {a,b} *"
    found = both(spark, dumps, folder, negatives=0.4, recipe=recipe, **scorers)
    assert_same(folder, *found)
    assert min(found[0].added.values()) > 0
    assert found[0].fates["chosen"] > 20
    assert found[0].fates["read twice"] > 0


def test_spark_matches_duckdb_on_many_dumps(spark: Engine, tmp_path: Path) -> None:
    posts = random_posts(2 * LARGE, seed=3)
    dumps = [write_dump(tmp_path / f"RC_{n}.jsonl", posts[n::8]) for n in range(8)]
    assert_same(tmp_path, *both(spark, dumps, tmp_path))


def test_spark_matches_duckdb_on_real_dumps(spark: Engine, tmp_path: Path, real_data: Path) -> None:
    dumps = sorted((real_data / "reddit").glob("R[CS]_*"))
    found = both(spark, dumps, tmp_path, recipe={"kappa": 1.0})
    assert_same(tmp_path, *found)
    assert found[0].fates["chosen"] > 100


def test_tables_views_and_batches_return_expected_rows(spark: Engine, tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"n": range(10), "s": list("abcdefghij")}), tmp_path / "numbers.parquet")
    spark.view("numbers", [tmp_path / "numbers.parquet"])
    spark.table("twice", "SELECT 2 * n AS n, s FROM numbers")
    spark.view_of("half", "SELECT n, s FROM twice WHERE n < 10")
    assert sorted(spark.rows("SELECT n, s FROM half")) == [(0, "a"), (2, "b"), (4, "c"), (6, "d"), (8, "e")]
    query = "SELECT n, s FROM twice ORDER BY n DESC"
    tables = list(spark.batches(query, 4))
    assert [len(table) for table in tables] == [4, 4, 2]
    assert pyarrow.concat_tables(tables).to_pylist() == [{"n": 18 - 2 * n, "s": "jihgfedcba"[n]} for n in range(10)]
    assert [len(table) for table in exactly(spark, query, 3)] == [3, 3, 3, 1]
    assert list(spark.batches("SELECT n FROM numbers WHERE n > 99", 4)) == []


def test_view_reads_local_files_despite_default_file_system(spark: Engine, tmp_path: Path) -> None:
    file = tmp_path / "a [b]{c}*%20.parquet"
    parquet.write_table(pyarrow.table({"n": [1, 2]}), file)
    settings = spark._session.sparkContext._jsc.hadoopConfiguration()  # type: ignore[attr-defined]
    before = settings.get("fs.defaultFS")
    settings.set("fs.defaultFS", "hdfs://nowhere.invalid:9")
    try:
        spark.view("numbers", [file])
        assert sorted(spark.rows("SELECT n FROM numbers")) == [(1,), (2,)]
    finally:
        settings.set("fs.defaultFS", before)


def test_spark_failures_raise_one_line_option_error(spark: Engine, tmp_path: Path, assert_one_line: OneLine) -> None:
    ways: list[Callable[[], object]] = [
        lambda: spark.rows("SELECT n FROM nothing"),
        lambda: spark.rows("SELECT raise_error('a\\nb')"),
        lambda: list(spark.batches("SELECT raise_error('a\\nb')", 4)),
        lambda: spark.view("none", [tmp_path / "none.parquet"]),
        lambda: spark.view_of("none", "SELECT"),
        lambda: spark.table("none", "SELECT n FROM nothing"),
    ]
    for way in ways:
        with pytest.raises(OptionError) as caught:
            way()
        assert_one_line(caught.value, "--engine spark: Spark fails (", "spark.driver.memory")
