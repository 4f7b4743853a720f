"""The whole curation, from dumps to RED."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import parlai.utils.logging as logging

from parlai_empathy.curation.duck import clear_errors, stoppable
from parlai_empathy.curation.engagement import MILLION, UNITS, Measures, measure
from parlai_empathy.curation.engine import Engine, open_engine
from parlai_empathy.curation.folder_lock import locked
from parlai_empathy.curation.negative_samples import KINDS
from parlai_empathy.curation.recipe import DIMENSIONS, Recipe
from parlai_empathy.curation.relations import gather, relate
from parlai_empathy.curation.selection import Chosen, choose, chosen_posts, write
from parlai_empathy.curation.text_scores import TextScorer, score_texts
from parlai_empathy.curation.unpack import Account, Part, unpack
from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.files.text_file import as_unicode, has_half_characters
from parlai_empathy.tasks.red.records import CLASSES

FILE = "red.parquet"


@dataclass(frozen=True)
class Curated:
    """The result of a curation.

    :param accounts: what became of the lines, one account per dump.
    :param fates: number of posts by outcome: each line that is a post is counted once.
    :param classes: for each label the mean of each column.
    :param subreddits: for each subreddit the number of chosen posts by label.
    :param histogram: for each hundredth of engagement the number of posts far enough below the mean, near it, and far
        enough above it.
    :param scorers: signatures of the text scorers.
    :param added: number of negative samples by kind.
    """

    accounts: list[Account]
    fates: dict[str, int]
    measures: Measures
    chosen: Chosen
    classes: dict[str, dict[str, float]]
    subreddits: dict[str, dict[str, int]]
    histogram: dict[int, tuple[int, int, int]]
    scorers: dict[str, str]
    added: dict[str, int]


@dataclass(frozen=True)
class Plan:
    """The inputs of a curation.

    :param dumps: in any order: it has no influence on which posts are chosen.
    :param folder: for ``red.parquet``, and for ``work`` with the files that another run can reuse.
    :param emotion: scores how positive replies are; None leaves emotional engagement out.
    :param toxicity: scores how toxic posts are; None keeps all posts.
    :param negatives: share of the posts for which a negative sample is added.
    :param engine: one of :data:`~parlai_empathy.curation.names.ENGINES`.
    :param spark_master: Spark's master; None uses Spark's own settings.
    :raises OptionError: if only emotional engagement has a weight, but it is not measured; or if the folder's path is
        not UTF-8.
    """

    dumps: Sequence[Path]
    folder: Path
    recipe: Recipe
    emotion: TextScorer | None = None
    toxicity: TextScorer | None = None
    negatives: float = 0.0
    with_ids: bool = False
    memory: str = "4GB"
    threads: int = 2
    engine: str = "duckdb"
    spark_master: str | None = None

    def __post_init__(self) -> None:
        if not any(self.recipe.weights.get(name) for name in self.dimensions):
            raise OptionError(
                "--weights: only ee has a weight, and it is not measured: name an --emotion-model, or give ae, be or "
                "re a weight"
            )
        if has_half_characters(str(self.folder.resolve())):
            raise OptionError(
                f"--out {as_unicode(str(self.folder))}: DuckDB can write only to paths that are UTF-8: name another "
                "folder"
            )

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions that are measured."""
        return tuple(name for name in DIMENSIONS if name != "ee" or self.emotion)

    @property
    def work(self) -> Path:
        """The folder of the files that another run can reuse."""
        return self.folder / "work"


def curate(
    plan: Plan,
    finish: Callable[[Curated], object] = lambda curated: None,
    discard: Callable[[], object] = lambda: None,
) -> Curated:
    """Write ``red.parquet``.

    :param finish: called with the result before another run may write to the folder.
    :param discard: called just before ``red.parquet`` is replaced, to remove what describes the former one.
    :raises DataError: if no dump holds a post, another run writes to the folder, or the folder cannot be written to.
    :raises OptionError: if DuckDB's memory limit is too low, or for an engine that does not start.
    :raises MissingDependencyError: if the engine is not installed.
    :raises NotComputableError: if there are too few posts to choose from.
    :raises KeyboardInterrupt: on Ctrl-C, whichever step is running.
    """
    with locked(plan.work):
        opened = open_engine(plan.engine, plan.work / "engine", plan.memory, plan.threads, plan.spark_master)
        with closing(opened) as engine, stoppable(), clear_errors(plan.memory, plan.folder):
            curated = _curate(plan, engine, discard)
        finish(curated)
    return curated


def _curate(plan: Plan, engine: Engine, discard: Callable[[], object]) -> Curated:
    parts = unpack(plan.dumps, plan.work / "posts", plan.memory, plan.threads)
    if not any(part.account.lines - sum(part.account.bad.values()) for part in parts):
        raise DataError(f"{', '.join(map(str, plan.dumps))}: no line is a post: {_reasons(parts)}")
    gather(engine, [part.file for part in parts])
    logging.info("joining comments with their parents")
    relate(engine, plan.recipe)
    fates: Counter[str] = Counter(dict(engine.rows("SELECT fate, count(*) FROM comments GROUP BY fate")))
    fates["submission"] = engine.rows("SELECT count(*) FROM posts WHERE parent IS NULL")[0][0]
    scorers = _make_candidates(engine, plan, parts, fates)
    logging.info("computing engagement")
    measures = measure(engine, plan.recipe, plan.dimensions, fates)
    chosen = choose(engine, plan.recipe, measures)
    fates["neither engaging nor not"] = measures.posts - sum(chosen.ends)
    fates["more than the other class has"] = sum(chosen.ends) - 2 * chosen.each
    fates["chosen"] = 2 * chosen.each
    posts = chosen_posts(engine, plan.recipe, measures, plan.negatives, plan.with_ids)
    sources = write(posts, plan.folder / FILE, plan.with_ids, discard)
    return Curated(
        [part.account for part in parts],
        {name: count for name, count in fates.items() if count},
        measures,
        chosen,
        _classes(engine, measures),
        _subreddits(engine),
        _histogram(engine),
        scorers,
        {kind: count for kind, count in sources.items() if kind in KINDS},
    )


def _make_candidates(engine: Engine, plan: Plan, parts: Sequence[Part], fates: Counter[str]) -> dict[str, str]:
    """Create the table ``candidates``: posts with reactions, and their counts; and the view ``toxic``.

    :returns: the signatures of the text scorers.
    """
    recipe, scorers = plan.recipe, {}
    engine.table("eligible", _eligible(recipe))
    count = _count(engine, "eligible")
    waiting = fates.pop(None, 0)  # type: ignore[call-overload]  # SQL's null
    few = f"fewer than {recipe.min_replies} replies" if recipe.min_replies > 1 else "no reply"
    fates[f"with {few}"] = waiting - count
    # The lines are part of the key: of a broken dump more may be read next time, into a part of the same name.
    read = sorted((part.file.name, part.account.lines) for part in parts)
    seen = json.dumps([read, recipe.min_replies, recipe.subreddits])
    if plan.toxicity:
        scorers["toxicity"] = _find_toxic(engine, plan, plan.toxicity, seen)
        engine.table("harmless", "SELECT e.* FROM eligible e ANTI JOIN toxic t ON e.name = t.name")
        fates["toxic"] = count - _count(engine, "harmless")
        seen += f"{scorers} {recipe.toxic_above}"
    else:
        engine.view_of("toxic", "SELECT name FROM eligible WHERE false")
        engine.view_of("harmless", "SELECT * FROM eligible")
    if not plan.emotion:
        engine.view_of("candidates", "SELECT *, CAST(0 AS BIGINT) AS ee FROM harmless")
        return scorers
    texts = f"""SELECT c.name, p.text FROM comments c JOIN harmless h ON c.parent_place = h.place {_TEXT.format("c")}
        WHERE c.is_reaction AND p.text IS NOT NULL"""
    scorers["emotion"] = _score(engine, plan, "emotion", texts, plan.emotion, seen)
    engine.table(
        "candidates",
        """SELECT h.*, CAST(coalesce(s.value, 0) AS BIGINT) AS ee FROM harmless h LEFT JOIN (
            SELECT c.parent_place AS place, sum(e.value) AS value
            FROM emotion e JOIN comments c ON e.name = c.name WHERE c.is_reaction GROUP BY c.parent_place
        ) s ON h.place = s.place""",
    )
    return scorers


def _find_toxic(engine: Engine, plan: Plan, scorer: TextScorer, seen: str) -> str:
    """Create the view ``toxic``: names of toxic posts, and of toxic parents if negative samples may repeat parents.

    :returns: the scorer's signature.
    """
    texts = {"toxicity": f"SELECT e.name, p.text FROM eligible e {_TEXT.format('e')}"}
    if plan.negatives:  # most parents are eligible themselves, and are not scored twice
        texts["parent_toxicity"] = """SELECT p.name, p.text FROM posts p SEMI JOIN (
            SELECT e.parent_place FROM eligible e ANTI JOIN eligible own ON e.parent_place = own.place
        ) c ON p.place = c.parent_place"""
    for name, query in texts.items():
        _score(engine, plan, name, query, scorer, seen)
    limit = round(plan.recipe.toxic_above * MILLION)
    engine.view_of("toxic", " UNION ALL ".join(f"SELECT name FROM {name} WHERE value > {limit}" for name in texts))
    return scorer.signature


_TEXT = "JOIN posts p ON {0}.place = p.place"


def _score(engine: Engine, plan: Plan, name: str, texts: str, scorer: TextScorer, seen: str) -> str:
    """Score texts and return the scorer's signature. Batches are cached by texts and scorer."""
    key = hashlib.sha256(f"{seen}\n{scorer.signature}".encode()).hexdigest()[:12]
    score_texts(engine, name, texts, scorer, plan.work / f"{name}-{key}")
    return scorer.signature


def _eligible(recipe: Recipe) -> str:
    # A comment that may be chosen is itself a reaction to its parent, so the inner join with "theirs" keeps it.
    return f"""
    SELECT c.name, c.place, c.parent_place, own.replies AS re, own.longest + {recipe.edited_reply} * own.edits AS ae,
           CASE WHEN c.controversial THEN 0 ELSE c.score END AS be,
           {recipe.parent_reply} * theirs.replies + greatest(c.parent_score, 0) AS pv
    FROM comments c JOIN reactions own ON c.place = own.place JOIN reactions theirs ON c.parent_place = theirs.place
    WHERE c.fate IS NULL AND own.replies >= {recipe.min_replies}
    """


def _count(engine: Engine, table: str) -> int:
    return int(engine.rows(f"SELECT count(*) FROM {table}")[0][0])


# --- contents of the data card ---------------------------------------------------------------------------------------


def _classes(engine: Engine, measures: Measures) -> dict[str, dict[str, float]]:
    means = ", ".join(f"avg(CAST({column} AS DOUBLE))" for column in measures.columns)
    return {
        CLASSES[place]: {name: mean / UNITS.get(name, 1) for name, mean in zip(measures.columns, found, strict=True)}
        for place, *found in engine.rows(f"SELECT class, {means} FROM chosen GROUP BY class ORDER BY class")
    }


def _subreddits(engine: Engine) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for name, place, count in engine.rows(
        """SELECT o.subreddit, c.class, count(*) FROM chosen c JOIN originals o ON c.place = o.place
        GROUP BY 1, 2 ORDER BY 1, 2"""
    ):
        found.setdefault(name, dict.fromkeys(CLASSES, 0))[CLASSES[place]] = count
    return dict(sorted(found.items(), key=lambda item: (-sum(item[1].values()), item[0])))


def _histogram(engine: Engine) -> dict[int, tuple[int, int, int]]:
    hundredth = f"CAST(floor(engagement / {MILLION // 100}) AS INT) AS place"
    every = dict(engine.rows(f"SELECT {hundredth}, count(*) FROM engagement GROUP BY 1 ORDER BY 1"))
    low, high = (
        dict(engine.rows(f"SELECT {hundredth}, count(*) FROM ends WHERE class = {end} GROUP BY 1")) for end in (0, 1)
    )
    ends = {place: (low.get(place, 0), high.get(place, 0)) for place in every}
    return {place: (below, every[place] - below - above, above) for place, (below, above) in ends.items()}


def _reasons(parts: Sequence[Part]) -> str:
    bad: Counter[str] = sum((part.account.bad for part in parts), Counter())
    broken = [part.account.broken for part in parts if part.account.broken]
    return "; ".join([*(f"{count:,} {reason}" for reason, count in bad.most_common()), *broken]) or "they are empty"
