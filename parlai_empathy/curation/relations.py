"""Join each comment with its parent, and count the reactions to it.

Each comment has exactly one ``fate``: null while it may still be chosen, or the reason why it is left out. A reply must
be later than its parent, by time and then by name, since Reddit's names are numbered consecutively. So of a circle of
comments that answer each other, at least one is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from parlai_empathy.curation.engine import Engine
from parlai_empathy.curation.recipe import Recipe
from parlai_empathy.curation.sql import quoted

# Flaws of replies that are not a person's reaction to a post.
_NO_REACTION = "('deleted', 'empty', 'by a bot')"
# Whether the reply r is later than the post p.
_IS_LATER = """(r.created > p.created OR (r.created = p.created AND (substr(p.name, 1, 2) = 't3'
        OR length(r.name) > length(p.name) OR (length(r.name) = length(p.name) AND r.name > p.name))))"""
_LINES = 1 << 40  # more than any dump has


def gather(engine: Engine, parts: Sequence[Path]) -> None:
    """Create the view ``posts``: the posts of all parts, each with a unique number, ``place``.

    Joins by number are faster than joins by name. The lowest number counts among copies of a post.

    :param parts: the parts' files, in the order in which posts are numbered; at least one.
    """
    queries = []
    for order, part in enumerate(parts):
        engine.view(f"part_{order}", [part])
        queries.append(f"SELECT *, {order * _LINES} + number AS place FROM part_{order} WHERE bad IS NULL")
    engine.view_of("posts", " UNION ALL ".join(queries))


def relate(engine: Engine, recipe: Recipe) -> None:
    """Create the tables ``comments`` and ``reactions`` from the view ``posts``.

    ``comments`` has the counts of each comment, its parent's ``parent_place`` and ``parent_score``, and its ``fate``.
    To keep the table narrow, other fields are looked up by ``place`` for the few comments that are chosen.
    ``reactions`` has a row for each post with replies: ``place``, ``replies`` (their number), ``longest`` (content
    words of the longest reply) and ``edits`` (number of edited replies).
    """
    engine.table("names_twice", "SELECT name FROM posts GROUP BY name HAVING count(*) > 1")
    engine.view_of("once", _once(engine.rows("SELECT count(*) FROM names_twice")[0][0]))
    engine.table(
        "comments",
        f"""SELECT r.name, r.place, r.score, r.controversial, r.edited, r.words,
            p.place AS parent_place, p.score AS parent_score,
            CASE WHEN r.time_read > 1 THEN 'read twice'
                 WHEN r.flaw IS NOT NULL THEN r.flaw
                 WHEN p.name IS NULL AND substr(r.parent, 1, 2) = 't3' THEN 'to an unknown submission'
                 WHEN p.name IS NULL THEN 'to an unknown comment'
                 WHEN NOT {_IS_LATER} THEN 'not later than what it answers'
                 WHEN p.flaw <> 'quote' THEN concat('to one that is ', p.flaw)
                 WHEN NOT ({_is_wanted(recipe)}) THEN 'in another subreddit'
            END AS fate,
            coalesce(r.time_read = 1 AND {_IS_LATER}
                     AND coalesce(r.flaw, '') NOT IN {_NO_REACTION}, false) AS is_reaction
        FROM once r LEFT JOIN (SELECT * FROM once WHERE time_read = 1) p ON r.parent = p.name
        WHERE r.parent IS NOT NULL""",
    )
    engine.table(
        "reactions",
        """SELECT parent_place AS place, count(*) AS replies, max(words) AS longest,
                  sum(CASE WHEN edited THEN 1 ELSE 0 END) AS edits
        FROM comments WHERE is_reaction GROUP BY parent_place""",
    )


def _once(names_twice: int) -> str:
    """Return SQL for the posts with ``time_read``: 1 for the first post of a name, 2 for the second, and so on."""
    columns = "name, parent, subreddit, created, score, controversial, edited, words, flaw, place"
    if not names_twice:
        return f"SELECT {columns}, 1 AS time_read FROM posts"
    return f"""SELECT {columns}, 1 AS time_read FROM posts ANTI JOIN names_twice USING (name)
        UNION ALL
        SELECT {columns}, row_number() OVER (PARTITION BY name ORDER BY place) AS time_read
        FROM posts SEMI JOIN names_twice USING (name)"""


def _is_wanted(recipe: Recipe) -> str:
    if not recipe.subreddits:
        return "true"
    listed = ", ".join(quoted(name.lower()) for name in recipe.subreddits)
    return f"lower(r.subreddit) IN ({listed})"
