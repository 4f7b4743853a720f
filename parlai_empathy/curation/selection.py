"""Select the posts far above and far below the mean, equally many of each, with their texts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parlai_empathy.curation.engagement import UNITS, Measures
from parlai_empathy.curation.engine import Engine, exactly
from parlai_empathy.curation.negative_samples import KINDS, negative_sample
from parlai_empathy.curation.recipe import DIMENSIONS, Recipe
from parlai_empathy.curation.sql import double
from parlai_empathy.errors import NotComputableError
from parlai_empathy.files.whole_file import whole_file
from parlai_empathy.tasks.red.records import CLASSES, REACTION, TEXTS
from parlai_empathy.tasks.reddit.cleaning import clean

_ROWS = 10_000  # posts per table that is written
_MAY_CHANGE = r"\]\(|  |^ | $|[^ -~]"  # a link, irregular spaces, or a character that may be white space


@dataclass(frozen=True)
class Chosen:
    """The numbers of posts at the two ends.

    :param ends: number of posts that are not engaging, and number of engaging posts.
    :param each: number of posts chosen from each end.
    """

    ends: tuple[int, int]
    each: int


def choose(engine: Engine, recipe: Recipe, measures: Measures) -> Chosen:
    """Create the table ``chosen`` from the table ``engagement``, with the column ``class``: 1 for engaging, 0 for not.

    The larger class is sampled down at random. The sample depends only on the seed and the posts' names.

    :raises NotComputableError: if one end is empty.
    """
    distance = recipe.kappa * measures.deviation
    low, high = (double(measures.mean + sign * distance) for sign in (-1, 1))
    engine.table(
        "ends",
        f"""SELECT *, row_number() OVER (PARTITION BY class ORDER BY drawn, name) AS turn
        FROM (SELECT *, CASE WHEN engagement > {high} THEN 1 ELSE 0 END AS class,
                     md5(concat('{recipe.seed} ', name)) AS drawn
              FROM engagement WHERE engagement > {high} OR engagement < {low}) AS far""",
    )
    counts = dict(engine.rows("SELECT class, count(*) FROM ends GROUP BY class"))
    ends = (counts.get(0, 0), counts.get(1, 0))
    if not all(ends):
        empty = CLASSES[ends.index(0)]
        raise NotComputableError(
            f"none of {measures.posts:,} posts counts as {empty!r}: none is {recipe.kappa:g} standard deviation(s) "
            "from the mean on that side. Lower --kappa, or give more dumps"
        )
    engine.table("chosen", f"SELECT * FROM ends WHERE turn <= {min(ends)}")
    return Chosen(ends, min(ends))


def chosen_posts(engine: Engine, recipe: Recipe, measures: Measures, negatives: float, with_ids: bool) -> Iterator[Any]:
    """Yield the chosen posts in random order, determined by the seed, as pyarrow tables of some thousand rows each.

    Reads the tables ``chosen``, ``posts`` and ``toxic``; the last has the names of posts that are not to be repeated.
    Words inserted into negative samples come from the posts of the same table and fold. All engines make the same
    tables.

    :param negatives: share of the posts for which a negative sample is added, after the posts of its table.
    """
    import pyarrow

    # Finding these few texts takes a scan of all texts, so posts and parents are looked up together.
    engine.table(
        "originals",
        """SELECT p.place, p.name, p.text, p.thread, p.subreddit FROM posts p SEMI JOIN (
            SELECT place FROM chosen UNION ALL SELECT parent_place FROM chosen
        ) c ON p.place = c.place""",
    )
    is_valid = f"substr(md5(concat('{recipe.seed} fold ', own.thread)), 1, 8) < '{_hex(recipe.valid_share)}'"
    # A copy of an engaging post would be an example with both labels.
    engaging = f"""SELECT DISTINCT {_spaceless("o.text")} AS text
        FROM chosen c JOIN originals o ON c.place = o.place WHERE c.class = 1"""
    query = f"""
        SELECT own.text AS post, other.text AS parent, c.class, {is_valid} AS is_valid, own.subreddit, c.name AS id,
               engaging.text IS NULL AND toxic.name IS NULL AS may_copy,
               {", ".join(f"CAST(c.{name} AS DOUBLE) AS {name}" for name in measures.columns)}
        FROM chosen c JOIN originals own ON c.place = own.place JOIN originals other ON c.parent_place = other.place
        LEFT JOIN ({engaging}) engaging ON {_spaceless("other.text")} = engaging.text
        LEFT JOIN toxic ON other.name = toxic.name
        ORDER BY c.drawn, c.name"""
    taken = 0
    for found in exactly(engine, query, _ROWS):
        columns = _columns(found, measures)
        tables = [pyarrow.table(columns, schema=schema(True))]
        if negatives:
            added = _negatives(columns, found["may_copy"].to_pylist(), recipe, negatives, taken)
            taken += len(added["post"])
            tables.append(pyarrow.table(added, schema=schema(True)))
        yield pyarrow.concat_tables(tables).select(schema(with_ids).names)


def _spaceless(text: str) -> str:
    """Return SQL for a text without white space, which cleaning may change."""
    return f"translate({text}, ' \t\n\r\u00a0', '')"


def _hex(share: float) -> str:
    """Return the value below which the first eight hexadecimal digits of this share of all hashes are."""
    return "g" if share == 1 else f"{int(share * (1 << 32)):08x}"


def _columns(found: Any, measures: Measures) -> dict[str, Any]:
    """Return the columns of ``red.parquet``, from the result of an engine's query."""
    columns: dict[str, Any] = {name: clean_all(found[name].combine_chunks()) for name in ("post", "parent")}
    columns["label"] = [CLASSES[place] for place in found["class"].to_pylist()]
    columns["fold"] = ["valid" if is_valid else "train" for is_valid in found["is_valid"].to_pylist()]
    columns["subreddit"], columns["id"] = found["subreddit"], found["id"]
    columns["source"] = [REACTION] * len(found)
    columns |= {column: [None] * len(found) for name in DIMENSIONS for column in (name, f"{name}_norm")}
    columns |= {column: found[column].to_numpy() / UNITS.get(column, 1) for column in measures.columns}
    columns["z"] = (found["engagement"].to_numpy() - measures.mean) / measures.deviation
    return columns


def clean_all(texts: Any) -> Any:
    """Apply :func:`~parlai_empathy.tasks.reddit.cleaning.clean` to the texts that it may change, which are few."""
    import pyarrow
    import pyarrow.compute as compute

    may_change = compute.match_substring_regex(texts, _MAY_CHANGE)
    changed = [clean(text) for text in texts.filter(may_change).to_pylist()]
    return compute.replace_with_mask(texts, may_change, pyarrow.array(changed, texts.type))


def _negatives(
    columns: dict[str, Any], may_copy: Sequence[bool], recipe: Recipe, share: float, taken: int
) -> dict[str, Any]:
    """Return negative samples for a share of the posts, as columns. The four kinds alternate.

    :param may_copy: whether the parent of each post may be a negative sample.
    """
    added: dict[str, Any] = {name: [] for name in ("post", "parent", "label", "fold", "subreddit", "id", "source")}
    posts, *others = (columns[name].to_pylist() for name in ("post", "parent", "subreddit", "id"))
    words: dict[str, list[str]] = {fold: [] for fold in columns["fold"]}
    for fold, post in zip(columns["fold"], posts, strict=True):
        words[fold] += post.split()
    for post, parent, subreddit, name, fold, can_copy in zip(posts, *others, columns["fold"], may_copy, strict=True):
        draw = random.Random(f"{recipe.seed} {name}")
        if draw.random() < share:
            kind = KINDS[(taken + len(added["post"])) % len(KINDS)]
            if kind == "deletion" and " " not in post:
                kind = "insertion"  # deletion would leave a post of one word unchanged
            if kind == "copy" and not can_copy:
                kind = "generic"
            text = negative_sample(kind, post, parent, words[fold], draw)
            for column, value in zip(added, (text, parent, CLASSES[0], fold, subreddit, name, kind), strict=True):
                added[column].append(value)
    return {**{name: [None] * len(added["post"]) for name in columns}, **added}


def schema(with_ids: bool) -> Any:
    """Return the schema of ``red.parquet``."""
    import pyarrow

    numbers = [*DIMENSIONS, *(f"{name}_norm" for name in DIMENSIONS), "engagement", "z"]
    columns = [(name, pyarrow.string()) for name in TEXTS] + [(name, pyarrow.float64()) for name in numbers]
    return pyarrow.schema([*columns, *([("id", pyarrow.string())] if with_ids else [])])


def write(
    tables: Iterator[Any], file: Path, with_ids: bool, discard: Callable[[], object] = lambda: None
) -> Counter[str]:
    """Write the posts to ``file``, atomically.

    :param discard: called when all are written, just before ``file`` is replaced.
    :returns: the number of posts by source.
    """
    import pyarrow.parquet as parquet

    sources = Counter[str]()
    options: dict[str, Any] = {"compression": "zstd", "write_page_checksum": True}
    with whole_file(file) as unfinished:
        with parquet.ParquetWriter(unfinished, schema(with_ids), **options) as writer:
            for table in tables:
                writer.write_table(table)
                sources.update(table["source"].to_pylist())
        discard()
    return sources
