"""SQL that parses the lines of a dump: which of them are posts, why the others are not, and the posts' content.

It does for many lines at once what :mod:`parlai_empathy.tasks.reddit.records` and
:mod:`parlai_empathy.tasks.reddit.cleaning` do for one line, with the same patterns. DuckDB's regular expressions (RE2)
have Python's syntax, but another notion of white space and word boundaries. They do not recognise letters that are
newer than DuckDB's Unicode (15.0).
"""

from __future__ import annotations

import re

from parlai_empathy.curation.content_words import ready_to_count
from parlai_empathy.curation.sql import quoted
from parlai_empathy.tasks.reddit import cleaning

FIELDS = {
    "id": "VARCHAR",
    "parent_id": "VARCHAR",
    "link_id": "VARCHAR",
    "author": "VARCHAR",
    "subreddit": "VARCHAR",
    "body": "VARCHAR",
    "title": "VARCHAR",
    "selftext": "VARCHAR",
    "created_utc": "VARCHAR",
    "score": "BIGINT",
    "ups": "BIGINT",
    "controversiality": "BIGINT",
    "edited": "VARCHAR",
}
"""The fields that are read, and their types. A field is null if it is missing or cannot be converted to its type."""


def posts_query() -> str:
    """Return the query that parses the lines of the view ``lines`` into posts; blank lines are skipped.

    ``lines`` must have the columns of :func:`~parlai_empathy.curation.blocks.lines_of`, and the function
    :func:`~parlai_empathy.curation.content_words.count_content_words` must be registered. Columns of the result:

    - ``bad``: why a line is not a post, with the field in ``detail``; null for a post.
    - ``flaw``: why a post can be neither chosen nor a context, as in
      :func:`~parlai_empathy.tasks.reddit.cleaning.flaw_of`; or ``quote``, for a post that can only be a context.
    - ``text``: the text without quoted and deleted lines; null if there is a flaw other than ``quote``.
    - ``words``: number of content words; 0 for posts that do not answer a comment, for which it is not needed.
    - ``parent``: null for submissions.
    - ``subreddit``: of a user's profile, whose name has the user's after ``u_``, only ``u_``.
    """
    spec = ", ".join(f'"{name}":"{kind}"' for name, kind in FIELDS.items())
    return f"""
    WITH read AS (
        SELECT number, line, unreadable, TRY(json_transform(line, '{{{spec}}}')) AS o
        FROM lines WHERE unreadable IS NOT NULL OR NOT regexp_full_match(line, '\\s*')
    ), named AS (
        SELECT number, o, o.title IS NOT NULL AS begins, {_bad()} AS wrong, {_decoded(_RAW)} AS text FROM read
    ), looked_at AS (
        SELECT *, CASE WHEN {_has_signs("text", "o.author")} THEN text END AS odd FROM named
    ), kept AS (
        SELECT *, {_without("odd", cleaning.DELETED_LINE, "]")} AS left_over FROM looked_at
    ), bare AS (
        SELECT *, {_unlinked("left_over")} AS unlinked, {_unquoted("left_over")} AS unquoted FROM kept
    ), judged AS (
        SELECT *, {_FLAW} AS flaw FROM bare
    ), posts AS (
        SELECT number,
               CASE WHEN begins THEN 't3_' ELSE 't1_' END || o.id AS name,
               CASE WHEN NOT begins THEN o.parent_id END AS parent,
               CASE WHEN begins THEN 't3_' || o.id ELSE o.link_id END AS thread,
               CASE WHEN starts_with(o.subreddit, 'u_') THEN 'u_' ELSE o.subreddit END AS subreddit,
               TRY_CAST(o.created_utc AS DOUBLE) AS created,
               coalesce(o.score, o.ups) AS score,
               coalesce(o.controversiality, 0) > 0 AS controversial,
               coalesce(o.edited, 'false') NOT IN ('false', '0', '0.0', '') AS edited,
               flaw, split_part(wrong, '|', 1) AS bad, split_part(wrong, '|', 2) AS detail,
               CASE WHEN coalesce(flaw, 'quote') = 'quote' THEN coalesce(unquoted, text) END AS text
        FROM judged
    )
    SELECT *, coalesce(CASE WHEN parent LIKE 't1%' THEN count_content_words({ready_to_count("text")}) END, 0) AS words
    FROM posts
    """


_RAW = "CASE WHEN o.title IS NULL THEN o.body ELSE concat_ws(chr(10), o.title, nullif(o.selftext, '')) END"


# --- checks ----------------------------------------------------------------------------------------------------------


def _bad() -> str:
    """Return SQL for why a line is not a post and the field that shows it, separated by a bar; null for a post."""
    checks = [
        ("o IS NULL AND NOT json_valid(line)", "not JSON"),
        ("o IS NULL OR o.id IS NULL AND json_type(line) <> 'OBJECT'", "no object"),
        *(_field("id", r"[0-9a-z]{1,16}")),
        *((f"o.title IS NULL AND {check}", why) for name in ("parent_id", "link_id") for check, why in _name(name)),
        *(_field("subreddit")),
        *((f"o.title IS NULL AND {check}", why) for check, why in _text("body")),
        *((f"o.title IS NOT NULL AND {check}", why) for check, why in (*_text("title")[2:], *_text("selftext")[2:])),
        *(_field("created_utc", r"[0-9]{1,12}(\.[0-9]*)?([eE][+]?[0-9]{1,2})?")),
        ("TRY_CAST(o.created_utc AS DOUBLE) >= 17179869184", "wrong type|created_utc"),  # in the year 2514
        ("coalesce(o.score, o.ups) IS NULL AND json_exists(line, '$.score')", "wrong type|score"),
        ("coalesce(o.score, o.ups) IS NULL", "missing field|score"),
        # Scores beyond a billion are invalid; sums of smaller ones cannot overflow.
        ("coalesce(o.score, o.ups) NOT BETWEEN -1000000000 AND 1000000000", "wrong type|score"),
    ]
    cases = " ".join(f"WHEN {check} THEN '{why}'" for check, why in checks)
    return f"CASE WHEN unreadable IS NOT NULL THEN unreadable {cases} END"


def _name(name: str) -> list[tuple[str, str]]:
    return _field(name, r"t[13]_[0-9a-z]{1,16}")


def _field(name: str, pattern: str = r"[^\[{].*") -> list[tuple[str, str]]:
    """Return the checks of a required field that must match a pattern."""
    return [
        (f"o.{name} IS NULL AND json_type(line, '$.{name}') IS NULL", f"missing field|{name}"),
        (f"o.{name} IS NULL", f"wrong type|{name}"),
        (f"NOT regexp_full_match(o.{name}, '{pattern}')", f"wrong type|{name}"),
    ]


def _text(name: str) -> list[tuple[str, str]]:
    """Return the checks of a required text. Only values that look like another type have their JSON type checked."""
    looks_strange = f"regexp_matches(o.{name}, '(?i)^(?:[\\[{{0-9-]|(?:true|false|nan|inf|infinity)$)')"
    return [
        *_field(name)[:2],
        (f"{looks_strange} AND json_type(line, '$.{name}') <> 'VARCHAR'", f"wrong type|{name}"),
    ]


def _has_signs(text: str, author: str) -> str:
    """Return SQL for whether a text shows a sign of a flaw: a fast test, which rules out most texts.

    A text that is empty or has only links has no letter before its first address, unless brackets make it a link.
    """
    signs = " OR ".join(f"contains(lower({text}), '{sign}')" for sign in _SIGNS)
    begins = rf"regexp_matches({text}, '^[^\pL\pN]*(?:(?i:https?://|www\.)|\z)')"
    return f"{signs} OR contains({author}, 'ot') OR {author} = 'AutoModerator' OR {begins}"


_SIGNS = ("[", ">", "bot", "automatically", "beep", "^")


def _unlinked(text: str) -> str:
    return _without(_without(text, cleaning.LINK, "]("), cleaning.ADDRESS, "://", "w.", "W.")


def _unquoted(text: str) -> str:
    return _without(text, cleaning.QUOTED_LINE, ">")


# --- texts -----------------------------------------------------------------------------------------------------------


def _decoded(text: str) -> str:
    """Return SQL for :func:`~parlai_empathy.tasks.reddit.cleaning.decoded`."""
    plain = text
    for entity, character in cleaning.ENTITIES.items():
        plain = f"replace({plain}, '{entity}', '{character}')"
    blanks = cleaning.BLANKS.pattern.replace(r"\u200b", "\u200b")
    return (
        f"CASE WHEN contains({text}, '&') OR contains({text}, '\u200b') "
        f"THEN regexp_replace({plain}, '(?i){blanks}', ' ', 'g') ELSE {text} END"
    )


def _without(text: str, pattern: re.Pattern[str], *signs: str) -> str:
    """Return SQL that removes all matches. Each contains one of ``signs``, which are faster to search for."""
    held = " OR ".join(f"contains({text}, '{sign}')" for sign in signs)
    return f"CASE WHEN {held} THEN regexp_replace({text}, {_pattern(pattern)}, '', 'g') ELSE {text} END"


def _matches(text: str, pattern: re.Pattern[str]) -> str:
    return f"regexp_matches({text}, {_pattern(pattern)})"


def _has_words(text: str) -> str:
    return rf"regexp_matches({text}, '[\p{{L}}\p{{N}}]')"


# Python's white space, and its \b where it begins or ends a pattern (elsewhere this would consume a character).
_SPACE = r"\x09-\x0d\x1c-\x20\x{85}\pZ"
_WORD_END = r"(?:^|$|[^\pL\pN_])"
_TOKEN = re.compile(r"\[\^\\S\\n\]|\[(?:\\.|[^\\\]])+\]|\\.")  # a character class, or an escape sequence


def _pattern(pattern: re.Pattern[str]) -> str:
    """Return a pattern as an SQL string with Python's flags and, as in Python, Unicode's white space and letters."""
    flags = "".join(letter for letter, flag in (("i", re.I), ("m", re.M)) if pattern.flags & flag)
    written = pattern.pattern if pattern.flags & re.ASCII else _TOKEN.sub(_in_unicode, pattern.pattern)
    return quoted((f"(?{flags})" if flags else "") + written)


def _in_unicode(token: re.Match[str]) -> str:
    """Return RE2's equivalent of a character class or escape sequence of Python."""
    blank = "[" + _SPACE.replace(r"\x09-\x0d", r"\x09\x0b-\x0d") + "]"
    whole = {r"[^\S\n]": blank, r"\s": f"[{_SPACE}]", r"\S": f"[^{_SPACE}]", r"\b": _WORD_END}
    return whole.get(token[0]) or token[0].replace(r"\s", _SPACE)


# As :func:`~parlai_empathy.tasks.reddit.cleaning.flaw_of`, or ``quote``. ``odd`` is null for texts without a sign of a
# flaw.
_FLAW = f"""CASE
    WHEN odd IS NULL THEN NULL
    WHEN NOT regexp_matches(left_over, '[^{_SPACE}]') THEN
        CASE WHEN regexp_matches(odd, '[^{_SPACE}]') THEN 'deleted' ELSE 'empty' END
    WHEN regexp_full_match(o.author, {_pattern(cleaning.BOT_NAME)}) THEN 'by a bot'
    WHEN {_matches("replace(left_over, '^', '')", cleaning.BOT_WORDS)} THEN 'by a bot'
    WHEN NOT {_has_words("unlinked")} THEN CASE WHEN unlinked = left_over THEN 'empty' ELSE 'links only' END
    WHEN NOT {_has_words(_unlinked("unquoted"))} THEN 'quotes only'
    WHEN unquoted <> left_over THEN 'quote'
END"""
