"""Speed and memory of curating RED with ``parlai_empathy.curation``, against a plain Python loop on the same dump.

    python benchmarks/curation.py [--comments 2000000] [--growth 1000000 2000000 5000000 10000000] [--memory 1GB]

A dump is generated, and curated by ``parlai_empathy.curation`` and by ``benchmarks/plain_curation.py``, alternately and
each time in a new process; both must choose the same posts. The time to start Python and to import libraries is not
counted. ``--growth`` then curates dumps of increasing size, and prints the peak memory of each run.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
import plain_curation
from timing import ROUNDS

from parlai_empathy.metrics.specificity import common_words

_DUMP = """
COPY (
    WITH words AS (
        SELECT list(CASE WHEN n % 5 < 2 THEN common[1 + n % 12] ELSE 'w' || base36(n) END) AS all_words
        FROM (SELECT unnest(range(4000)) AS n,
                     ['the', 'of', 'and', 'to', 'a', 'in', 'is', 'it', 'you', 'that', 'was', 'for'] AS common)
    ), bodies AS (
        SELECT list(body) AS all_bodies FROM (
            SELECT array_to_string(list_transform(range(3 + draw(n, 58)), lambda i:
                all_words[1 + draw(n * 64 + i, 4000)]
                || CASE draw(n * 64 + i + 7, 40) WHEN 0 THEN ',' WHEN 1 THEN '.' WHEN 2 THEN '!' ELSE '' END), ' ')
                || CASE draw(n + 3, 25) WHEN 0 THEN chr(10) || '> that' WHEN 1 THEN ' http://e.x/y' ELSE '' END AS body
            FROM (SELECT unnest(range(100000)) AS n), words)
    )
    SELECT 'user' || draw(n + 1, 100000) AS author, base36(10000000 + n) AS id,
           CASE WHEN n > 10 AND draw(n + 2, 5) < 3
                THEN 't1_' || base36(10000000 + n - 1 - draw(n + 3, least(n, 2000)))
                ELSE 't3_' || base36(1000000 + n // 50) END AS parent_id,
           't3_' || base36(1000000 + n // 50) AS link_id,
           CASE WHEN draw(n + 4, 20) = 0 THEN to_json(1420070400) ELSE to_json(false) END AS edited,
           0 AS gilded, 1473820870 AS retrieved_on, NULL AS distinguished,
           CAST(draw(n + 5, 33) = 0 AS INTEGER) AS controversiality,
           CASE WHEN draw(n + 12, 50) = 0 THEN '[deleted]' ELSE all_bodies[1 + draw(n + 6, 100000)] END AS body,
           false AS stickied, 't5_6' AS subreddit_id, 'sub' || draw(n + 7, 200) AS subreddit,
           NULL AS author_flair_css_class, NULL AS author_flair_text, false AS score_hidden, false AS archived,
           0 AS downs, CAST(1420070400 + n // 10 AS VARCHAR) AS created_utc,
           draw(n + 8, 66) - 5 AS score, 't1_' || base36(10000000 + n) AS name
    FROM (SELECT unnest(range({comments})) AS n), bodies
) TO '{file}' (FORMAT json)
"""


def main() -> None:
    """Measure, and print comments per second, their ratio, and memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comments", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each variant is run")
    parser.add_argument("--growth", type=int, nargs="*", default=[], metavar="COMMENTS")
    parser.add_argument("--memory", default="1GB", help="memory limit of DuckDB")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.comments:
            _compare(Path(folder), arguments)
        for comments in arguments.growth:
            dump = _generate(Path(folder), comments)
            took, memory, posts = _measured(_ours, dump, arguments.memory)
            rate = f"{comments / took:9,.0f}/s  {memory:7,.0f} MB"
            print(f"{comments:11,} comments  {rate}  {len(posts):9,} posts", flush=True)
            dump.unlink()


def _compare(folder: Path, arguments: argparse.Namespace) -> None:
    dump = _generate(folder, arguments.comments)
    ours, plain = [], []
    for _ in range(arguments.rounds):
        took, memory, posts = _measured(_ours, dump, arguments.memory)
        ours.append(took)
        took, plain_memory, plain_posts = _measured(_plain, dump, arguments.memory)
        plain.append(took)
        assert posts == plain_posts, "the chosen posts differ"
    dump.unlink()
    one, other = statistics.median(plain), statistics.median(ours)
    print(f"{arguments.comments:,} comments, {len(posts):,} posts chosen; medians of {arguments.rounds} rounds")
    print(f"plain loop  {arguments.comments / one:9,.0f} comments/s  {plain_memory:7,.0f} MB")
    print(f"curation    {arguments.comments / other:9,.0f} comments/s  {memory:7,.0f} MB")
    ratios = [a / b for a, b in zip(plain, ours, strict=True)]
    print(f"ratio       {statistics.median(ratios):9.1f}  ({min(ratios):.1f} to {max(ratios):.1f})", flush=True)


def _generate(folder: Path, comments: int) -> Path:
    import duckdb

    file = folder / f"RC_{comments}.jsonl"
    with duckdb.connect(config={"memory_limit": "2GB"}) as database:
        database.execute("SET preserve_insertion_order = true")
        database.execute("CREATE MACRO draw(of_what, below) AS CAST(hash(of_what) % below AS BIGINT)")
        database.execute("CREATE MACRO base36(number) AS lower(to_base(number, 36))")
        database.execute(_DUMP.format(comments=comments, file=file))
    return file


def _measured(way: Callable[[Path, str], Any], dump: Path, memory: str) -> tuple[float, float, list[Any]]:
    """Run ``way`` in a new process; return the seconds, the peak memory in megabytes, and the chosen posts."""
    spawning = multiprocessing.get_context("spawn")
    # A spawned process does not inherit the log's level.
    with ProcessPoolExecutor(1, spawning, logging.set_log_level, ("ERROR",)) as process:
        found: tuple[float, float, list[Any]] = process.submit(way, dump, memory).result()
    return found


def _peak() -> float:
    """Return the peak memory of this process, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _ours(dump: Path, memory: str) -> tuple[float, float, list[Any]]:
    import duckdb  # noqa: F401  # imported before the clock starts
    import pyarrow.compute  # noqa: F401
    from pyarrow import parquet

    from parlai_empathy.curation.curate import FILE, Plan, curate
    from parlai_empathy.curation.recipe import Recipe

    common_words()
    with tempfile.TemporaryDirectory(dir=dump.parent) as folder:
        plan = Plan([dump], Path(folder), Recipe(), with_ids=True, memory=memory, threads=os.cpu_count() or 1)
        begin = time.perf_counter()
        curate(plan)
        took, peak = time.perf_counter() - begin, _peak()  # before the posts are read back
        table = parquet.read_table(plan.folder / FILE, columns=["id", "label"])
    return took, peak, [tuple(row.values()) for row in table.to_pylist()]


def _plain(dump: Path, memory: str) -> tuple[float, float, list[Any]]:
    common_words()
    begin = time.perf_counter()
    with dump.open(encoding="utf-8") as lines:
        posts = plain_curation.curate(lines)
    took, peak = time.perf_counter() - begin, _peak()
    return took, peak, [(post["id"], post["label"]) for post in posts]


if __name__ == "__main__":
    main()
