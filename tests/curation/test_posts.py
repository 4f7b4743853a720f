"""The queries over lines agree with plain Python, and count lines that are not posts by reason."""

from __future__ import annotations

import functools
import json
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from line_reader import LineReader, Read
from tiny_dumps import comment, submission

from parlai_empathy.curation.blocks import Block
from parlai_empathy.curation.duck import connect
from parlai_empathy.metrics.specificity import specificity
from parlai_empathy.tasks.reddit import cleaning
from parlai_empathy.tasks.reddit.lines import read_lines
from parlai_empathy.tasks.reddit.records import Post, post_of_line

FIRST = 2  # the number of a test's first line: line 1 may start with a byte order mark


@pytest.fixture(scope="module")
def reader() -> LineReader:
    return LineReader()


def read(reader: LineReader, lines: Sequence[bytes]) -> Read:
    return reader.read(Block(b"\n".join(lines), FIRST))


def read_records(reader: LineReader, records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the posts of valid records, in their order."""
    found = read(reader, [json.dumps(record).encode() for record in records])
    assert not found.bad
    posts: list[dict[str, Any]] = found.posts.sort_by("number").to_pylist()
    assert len(posts) == len(records)
    return posts


# --- texts -----------------------------------------------------------------------------------------------------------


def plain(text: str, author: str) -> tuple[str | None, str | None, int]:
    """Return a post's flaw, text and number of content words, applying one pattern after another."""
    text = cleaning.decoded(text)
    left = cleaning.DELETED_LINE.sub("", text)
    own = cleaning.QUOTED_LINE.sub("", left)
    flaw = cleaning.flaw_of(text, author) or ("quote" if own != left else None)
    return (flaw, own, specificity(own)) if flaw in (None, "quote") else (flaw, None, 0)


def assert_agree(reader: LineReader, texts: Sequence[tuple[str, str]]) -> None:
    """Assert that the queries agree with plain Python on the given texts and authors."""
    records = [comment(f"{place:x}", "t1_zz", body=text, author=author) for place, (text, author) in enumerate(texts)]
    for post, (text, author) in zip(read_records(reader, records), texts, strict=True):
        assert (post["flaw"], post["text"], post["words"]) == plain(text, author), (text, author)


@functools.cache
def characters() -> frozenset[str]:
    """Return the characters assigned in both Python's and DuckDB's version of Unicode; Python's versions differ."""
    known = [c for n in range(sys.maxunicode + 1) if unicodedata.category(c := chr(n)) not in ("Cs", "Cn", "Co")]
    with connect("1GB", 1) as database:
        database.register("known", pyarrow.table({"c": known}))
        query = r"SELECT c FROM known WHERE regexp_matches(c, '(?s)[\pL\pM\pN\pP\pS\pZ\pC]')"
        return frozenset(c for (c,) in database.sql(query).fetchall())


# Texts that the patterns match, whole and in parts, in any letter case, and all kinds of white space.
PIECES = st.sampled_from(
    [
        *("[deleted]", "[Removed by Reddit]", "[ removed ]", "[", "]", "(", ")", "](", "[a](b)", "[a](b(c)d)"),
        *(">", ">!", "&gt;", "&amp;", "&lt;", "&nbsp;", "&#X200B;", "\u200b", "^", "_", "'", "!", "\0"),
        *("http://e.f/g", "HTTPS://", "://", "wWw.e.f", "www.", "I'm a bot", "I am  a robot", "\u00e9I'm a bot"),
        *("bott", "b^ot", "beep boop", "performed automatically", "words", "The", "is.", "*it*"),
        *("\n", "\n\n", "\r", "\t", " ", "\x0b", "\x1c", "\x85", "\u00a0", "\u2003", "\u2028", "\u3000"),
        *("\u0130s", "\u03a3\u0391\u03a3", "\u212aeep", "\u017fo", "\u00df", "\u4e00", "\u0665", "\u00b2"),
    ]
)
TEXTS = st.lists(PIECES, max_size=5).map("".join) | st.text(
    st.characters(exclude_categories=("Cs", "Cn")).filter(
        lambda c: unicodedata.category(c) == "Co" or c in characters()
    ),
    max_size=20,
)
NAMES = st.sampled_from(
    [
        "anna",
        "AutoModerator",
        "weather_bot",
        "bot-x",
        "Bot",
        "xBot7",
        "xbot",
        "robot",
        "a_bot9",
        "[deleted]",
        "",
        "\u00e9Bot",
    ]
) | st.from_regex(r"[a-zB_-]{0,4}[bB]ot[0-9_a-]{0,3}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "flaw", "words"),
    [
        ("wWw.e.f", "links only", 0),
        ("I am a b^o^t", "by a bot", 0),
        ("I'm\u00a0a\u3000bot", "by a bot", 0),
        ("\u00e9I'm a bot", None, 2),  # to Python é is a word character, so this is not "I'm a bot"
        ("http://e.f\u00a0lanterns", None, 1),  # a no-break space also ends an address
        ("\u00a0[deleted]\u2003", "deleted", 0),
        ("\u3000> a quote\nlanterns", "quote", 1),
        ("\u3000\u2028", "empty", 0),
        ("\u0130s", None, 1),  # its lower case is an i, a combining dot above, and an s
    ],
)
def test_unicode_letters_and_spaces_match_plain_python(
    reader: LineReader, text: str, flaw: str | None, words: int
) -> None:
    (post,) = read_records(reader, [comment("a", "t1_b", body=text)])
    assert (post["flaw"], post["words"]) == (flaw, words) == plain(text, "anna")[::2]


def test_quote_with_only_links_matches_plain_python(reader: LineReader) -> None:
    texts = [("> a quote\nhttp://e.f", "anna"), ("[](/smile)\n> a quote", "anna")]
    assert {plain(text, author)[0] for text, author in texts} == {"quotes only"}
    assert_agree(reader, texts)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(TEXTS, NAMES), min_size=1, max_size=40))
def test_flaws_texts_and_word_counts_match_plain_python(reader: LineReader, texts: list[tuple[str, str]]) -> None:
    assert_agree(reader, texts)


def test_characters_across_unicode_match_plain_python(reader: LineReader) -> None:
    known = sorted(characters())
    wide = [c for c in known if c < "\u3400" or c.isspace() or len(c.lower()) > 1 or len(c.casefold()) > 1]
    assert len(known) > 100_000
    assert_agree(reader, [(c, "anna") for c in known if c < "\uac00" or c > "\ud7ff"])
    around = ("[deleted]{}", "{}> quote\na b", "http://e.f{}words", "{}I'm{}a{}bot{}", "is{}it", "t{}hi{}s")
    for template in around:
        assert_agree(reader, [(template.replace("{}", c), "anna") for c in wide])


def test_submission_text_is_title_and_selftext(reader: LineReader) -> None:
    found = read_records(
        reader,
        [
            submission("a", title="Tea &amp; cake", selftext="Which?\n> a quote"),
            submission("b", selftext=""),
            submission("c", selftext=None),
            {name: value for name, value in submission("d").items() if name != "selftext"},
            submission("e", title="[deleted]", selftext="[removed]"),
            submission("f", title="7", selftext="true"),
            submission("g", selftext="[removed]"),
            submission("h", selftext="> a quote\n[deleted]\nWhich?"),
        ],
    )
    assert [(post["text"], post["flaw"]) for post in found] == [
        ("Tea & cake\nWhich?\n", "quote"),
        *[("How does bread rise?", None)] * 3,
        (None, "deleted"),
        ("7\ntrue", None),
        ("How does bread rise?\n", None),
        ("How does bread rise?\n\n\nWhich?", "quote"),
    ]
    assert [(post["name"], post["parent"], post["thread"]) for post in found[:2]] == [
        ("t3_a", None, "t3_a"),
        ("t3_b", None, "t3_b"),
    ]


def test_words_of_replies_to_submissions_are_not_counted(reader: LineReader) -> None:
    """They are never used: only the words of replies to comments count."""
    found = read_records(reader, [comment("a", "t3_s0"), comment("b", "t1_a")])
    assert [post["words"] for post in found] == [0, 3]  # bread, rises, slowly.


def test_real_comments_match_plain_python(reader: LineReader, real_data: Path) -> None:
    texts = []
    for dump in sorted((real_data / "reddit").glob("RC_*")):
        for _, line in read_lines(dump):
            record = json.loads(line or b"{}")
            texts.append((record["body"], record["author"] or ""))
    assert len(texts) > 10_000
    assert_agree(reader, texts)


# --- fields ----------------------------------------------------------------------------------------------------------


def changed(name: str, text: str) -> bytes:
    """Return a comment's line with the given JSON text as a field's value."""
    return json.dumps(comment("a1", "t1_a0", **{name: "@"})).replace('"@"', text).encode()


def without(name: str) -> bytes:
    return json.dumps({key: value for key, value in comment("a1", "t1_a0").items() if key != name}).encode()


GOOD_LINE = json.dumps(comment("a1", "t1_a0")).encode()
LONE = rb'"\ud800 alone"'  # half of a surrogate pair: not a character


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"not JSON", "not JSON"),
        (b"{", "not JSON"),
        (GOOD_LINE + b"}", "not JSON"),
        (GOOD_LINE + b"\0", "not JSON"),
        (b"\0\0\0", "not JSON"),
        (b"\xef\xbb\xbf" + GOOD_LINE, "not JSON"),  # a byte order mark is valid only at the start of a file
        (changed("body", LONE.decode()), "not JSON"),
        (changed("body", '"a\tb"'), "not JSON"),  # JSON requires control characters to be escaped
        (b"[" * 200_000, "not JSON"),
        (b"null", "no object"),
        (b"[1, 2]", "no object"),
        (b'"text"', "no object"),
        (b"17", "no object"),
        (b"[" * 50_000 + b"]" * 50_000, "no object"),
        (b"{}", "missing field (id)"),
        *((without(name), f"missing field ({name})") for name in ("id", "parent_id", "link_id", "subreddit", "body")),
        (without("created_utc"), "missing field (created_utc)"),
        (without("score"), "missing field (score)"),
        (GOOD_LINE.replace(b'"body"', b'"text"'), "missing field (body)"),
        (changed("id", "null"), "wrong type (id)"),
        (changed("id", '"t1_a1"'), "wrong type (id)"),
        (changed("id", '""'), "wrong type (id)"),
        (changed("parent_id", "null"), "wrong type (parent_id)"),
        (changed("parent_id", "17"), "wrong type (parent_id)"),
        (changed("parent_id", '"a0"'), "wrong type (parent_id)"),
        (changed("link_id", '{"t3": "s0"}'), "wrong type (link_id)"),
        (changed("subreddit", '["baking"]'), "wrong type (subreddit)"),
        (changed("subreddit", '""'), "wrong type (subreddit)"),
        (changed("body", "null"), "wrong type (body)"),
        (changed("body", "true"), "wrong type (body)"),
        (changed("body", "12"), "wrong type (body)"),
        (changed("body", "-1.5"), "wrong type (body)"),
        (changed("body", "9" * 400), "wrong type (body)"),
        (changed("body", "NaN"), "wrong type (body)"),
        (changed("body", "Infinity"), "wrong type (body)"),
        (changed("body", '["words"]'), "wrong type (body)"),
        (changed("body", "[" * 50_000 + "]" * 50_000), "wrong type (body)"),
        (changed("created_utc", '"today"'), "wrong type (created_utc)"),
        (changed("created_utc", "true"), "wrong type (created_utc)"),
        (changed("created_utc", "null"), "wrong type (created_utc)"),
        (changed("created_utc", "-1"), "wrong type (created_utc)"),
        (changed("created_utc", "NaN"), "wrong type (created_utc)"),
        (changed("created_utc", "1e400"), "wrong type (created_utc)"),
        (changed("created_utc", "17179869184"), "wrong type (created_utc)"),  # 2 ** 34, in the year 2514
        (changed("created_utc", '"2006-01-01"'), "wrong type (created_utc)"),
        (changed("score", "null"), "wrong type (score)"),
        (changed("score", '"many"'), "wrong type (score)"),
        (changed("score", "[]"), "wrong type (score)"),
        (changed("score", "1e400"), "wrong type (score)"),
        (changed("score", str(10**40)), "wrong type (score)"),
        (changed("score", str(-(2**63))), "wrong type (score)"),
        (changed("score", str(2**63 - 1)), "wrong type (score)"),
        (changed("score", "1000000001"), "wrong type (score)"),
        (changed("score", "-1000000001"), "wrong type (score)"),
        (json.dumps(submission("a", title=7)).encode(), "wrong type (title)"),
        (json.dumps(submission("a", title=["x"])).encode(), "wrong type (title)"),
        (json.dumps(submission("a", selftext=7)).encode(), "wrong type (selftext)"),
        (json.dumps(submission("a", selftext={})).encode(), "wrong type (selftext)"),
        (json.dumps(submission("a", id=None)).encode(), "wrong type (id)"),
    ],
)
def test_bad_lines_are_counted_by_reason(reader: LineReader, line: bytes, reason: str) -> None:
    found = read(reader, [GOOD_LINE, line, b"", GOOD_LINE, line])
    why, _, detail = reason.partition(" (")
    assert found.bad == {why: 2}
    assert found.places == [f"{FIRST + place}{detail and f' ({detail}'}" for place in (1, 4)]
    assert found.posts["number"].to_pylist() == [FIRST, FIRST + 3]


@pytest.mark.parametrize(
    ("name", "text", "column", "expected"),
    [
        ("edited", "false", "edited", False),
        ("edited", "null", "edited", False),
        ("edited", "0", "edited", False),
        ("edited", '""', "edited", False),
        ("edited", "true", "edited", True),
        ("edited", "1136074029", "edited", True),
        ("edited", "1136074029.0", "edited", True),
        ("edited", '"1136074029"', "edited", True),
        ("edited", "1" * 40, "edited", True),
        ("controversiality", "null", "controversial", False),
        ("controversiality", "1", "controversial", True),
        ("controversiality", "true", "controversial", True),
        ("controversiality", '"0"', "controversial", False),
        ("controversiality", '"?"', "controversial", False),
        ("created_utc", '"1136074029"', "created", 1136074029.0),
        ("created_utc", "1136074029.5", "created", 1136074029.5),
        ("created_utc", "1.136e9", "created", 1.136e9),
        ("created_utc", "0", "created", 0.0),
        ("score", "-1000000000", "score", -1_000_000_000),
        ("score", '"12"', "score", 12),
        ("author", "null", "flaw", None),
        ("author", "{}", "flaw", None),
        ("body", r'"a\u0000b"', "text", "a\0b"),
        ("body", r'"\ud83d\ude00 x"', "text", "\U0001f600 x"),
        ("body", '"NaN"', "text", "NaN"),
        ("body", '"[1]"', "text", "[1]"),
        ("id", "17", "name", "t1_17"),  # an id of digits alone, which some program converted to a number
        ("unknown", "[" * 50_000 + "]" * 50_000, "name", "t1_a1"),
        ("unknown", str(10**40), "name", "t1_a1"),
    ],
)
def test_fields_of_varying_types_are_converted(
    reader: LineReader, name: str, text: str, column: str, expected: Any
) -> None:
    found = read(reader, [changed(name, text)])
    assert not found.bad
    assert found.posts[column].to_pylist() == [expected]


def test_ups_replace_a_missing_score(reader: LineReader) -> None:
    old = {name: value for name, value in comment("a", "t1_b").items() if name != "score"} | {"ups": 5}
    assert [post["score"] for post in read_records(reader, [old, comment("b", "t1_b", ups=5)])] == [5, 1]


def test_duplicate_fields_yield_one_post(reader: LineReader) -> None:
    found = read(reader, [GOOD_LINE[:-1] + b', "body": "something else", "id": "b2"}'])
    assert (len(found.bad), len(found.posts)) == (0, 1)


def test_crlf_line_endings_and_byte_order_mark_are_accepted(reader: LineReader) -> None:
    found = reader.read(Block(b"\xef\xbb\xbf" + b"\r\n".join([GOOD_LINE, b"", b"  ", GOOD_LINE]) + b"\r\n", 1))
    assert not found.bad
    assert found.posts["number"].to_pylist() == [1, 4]


# --- anything --------------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=4), inside, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from([*comment("a", "t1_b"), "title", "selftext", "ups"])


@st.composite
def broken_lines(draw: st.DrawFn) -> bytes:
    """Draw a post's line with some fields changed or missing, and perhaps some bytes replaced."""
    post = draw(st.sampled_from([comment("a", "t1_b"), submission("c")]))
    post |= draw(st.dictionaries(FIELDS, JSON, max_size=3))
    for name in draw(st.lists(FIELDS, max_size=1)):
        post.pop(name, None)
    line = json.dumps(post, ensure_ascii=draw(st.booleans())).encode(errors="surrogatepass")
    start = draw(st.integers(0, len(line)))
    return line if draw(st.booleans()) else line[:start] + draw(st.binary(max_size=3)) + line[start + 2 :]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.binary(max_size=30) | broken_lines(), max_size=30))
def test_every_non_blank_line_is_a_post_or_bad(reader: LineReader, lines: list[bytes]) -> None:
    lines = b"\n".join(lines).split(b"\n")  # drawn lines may contain line feeds
    found = read(reader, lines)
    lines_read = len(found.posts) + found.bad.total()
    assert lines_read == sum(bool(line.strip(b" \t\r\f")) for line in lines)


@settings(max_examples=25, deadline=None)
@given(st.lists(broken_lines(), min_size=1, max_size=30))
def test_lines_accepted_by_plain_python_yield_the_same_post(reader: LineReader, lines: list[bytes]) -> None:
    lines = [line for line in lines if b"\n" not in line]
    found = {post["number"] - FIRST: post for post in read(reader, lines).posts.to_pylist()}
    for place, line in enumerate(lines):
        post = post_of_line(line)
        if isinstance(post, Post) and is_plain(line):
            names = ("name", "parent", "thread", "subreddit", "created")
            assert {name: found[place][name] for name in names} == {name: getattr(post, name) for name in names}


def is_plain(line: bytes) -> bool:
    """Whether a line has a plausible score, a time of at least 1, and a one-line subreddit."""
    record = json.loads(line)
    score = record.get("score", record.get("ups"))
    has_score = isinstance(score, int) and abs(score) <= 1_000_000_000
    begins = record["subreddit"][:1]
    named = bool(begins) and begins not in "[{" and "\n" not in record["subreddit"]
    # Python treats null titles, repeated fields and half surrogate pairs differently.
    return has_score and named and float(record["created_utc"]) >= 1 and b"\\ud" not in line
