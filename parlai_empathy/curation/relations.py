"""Who answers whom: each comment beside what it answers, and beside the reactions that it got.

Of each comment exactly one thing becomes, its ``fate``: null while it may still be chosen, or the reason why it is left
out. A reply has to be later than what it answers, by its time and then by its name, which Reddit counts up: so a circle
of comments that answer each other loses at least one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from parlai_empathy.curation.engine import Engine
from parlai_empathy.curation.recipe import Recipe

# Replies that say nothing of how people took to a post: nobody's, or a machine's.
_NO_REACTION = "('deleted', 'empty', 'by a bot')"
_LINES = 1 << 40  # more than any dump has


def gather(engine: Engine, parts: Sequence[Path]) -> None:
    """Make the view ``posts`` of parts: their posts, each with its ``place``, a number that no other one has.

    Tables are joined faster by numbers than by names. In which order the parts are given makes no difference.

    :param parts: the files of at least one part.
    """
    queries = []
    for order, part in enumerate(sorted(parts, key=lambda part: part.stem)):
        engine.view(f"part_{order}", [part])
        queries.append(f"SELECT *, {order * _LINES} + number AS place FROM part_{order} WHERE bad IS NULL")
    engine.view_of("posts", " UNION ALL ".join(queries))


def relate(engine: Engine, recipe: Recipe) -> None:
    """Make the tables ``comments`` and ``reactions`` of the view ``posts``.

    ``comments`` have what is counted of them, ``parent_place`` and ``parent_score`` of what they answer, and their
    ``fate``. What else is asked of the few that are chosen is found by their ``place``: a table of all comments should
    be narrow. ``reactions`` have for each post that was replied to its ``place``, ``replies``, ``longest`` (content
    words of the longest reply) and ``edits``.
    """
    engine.table("names_twice", "SELECT name FROM posts GROUP BY name HAVING count(*) > 1")
    columns = "name, parent, subreddit, created, score, controversial, edited, words, flaw, place"
    engine.view_of("once", _once(columns, engine.rows("SELECT count(*) FROM names_twice")[0][0]))
    engine.table(
        "comments",
        f"""SELECT r.name, r.place, r.score, r.controversial, r.edited, r.words,
            p.place AS parent_place, p.score AS parent_score,
            CASE WHEN r.time_read > 1 THEN 'read twice'
                 WHEN r.flaw IS NOT NULL THEN r.flaw
                 WHEN p.name IS NULL AND substr(r.parent, 1, 2) = 't3' THEN 'to an unknown submission'
                 WHEN p.name IS NULL THEN 'to an unknown comment'
                 WHEN NOT {_is_later("r", "p")} THEN 'not later than what it answers'
                 WHEN p.flaw <> 'quote' THEN concat('to one that is ', p.flaw)
                 WHEN NOT ({_is_wanted(recipe)}) THEN 'in another subreddit'
            END AS fate,
            coalesce(r.time_read = 1 AND {_is_later("r", "p")}
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


def _once(columns: str, names_twice: int) -> str:
    """The posts with ``time_read``: 1, or more for one that has been there before."""
    if not names_twice:
        return f"SELECT {columns}, 1 AS time_read FROM posts"
    return f"""SELECT {columns}, 1 AS time_read FROM posts ANTI JOIN names_twice USING (name)
        UNION ALL
        SELECT {columns}, row_number() OVER (PARTITION BY name ORDER BY place) AS time_read
        FROM posts SEMI JOIN names_twice USING (name)"""


def _is_later(reply: str, post: str) -> str:
    r, p = reply, post
    return f"""({r}.created > {p}.created OR ({r}.created = {p}.created AND (substr({p}.name, 1, 2) = 't3'
        OR length({r}.name) > length({p}.name) OR (length({r}.name) = length({p}.name) AND {r}.name > {p}.name))))"""


def _is_wanted(recipe: Recipe) -> str:
    if not recipe.subreddits:
        return "true"
    listed = ", ".join("'" + name.lower().replace("'", "''") + "'" for name in recipe.subreddits)
    return f"lower(r.subreddit) IN ({listed})"
