"""Cleaning of texts, and flaws that make a post unusable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.tasks.reddit.cleaning import as_context, clean, decoded, flaw_of, reply_flaw_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  two\n\nlines \t and  more ", "two lines and more"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"),
        ("write &amp;lt; for it", "write &lt; for it"),  # unescaped once
        ("a&amp;nbsp;b &amp;#x200B; c\u200bd", "a b c d"),
        ("see [this page](http://example.org/a_(b)) now", "see this page now"),
        ("see http://example.org now", "see http://example.org now"),
        ("[a] (b) [c", "[a] (b) [c"),
        ("**bold** and *not*", "**bold** and *not*"),  # Markdown emphasis stays
        ("", ""),
    ],
)
def test_clean(text: str, expected: str) -> None:
    assert clean(decoded(text)) == expected


def test_only_entities_used_by_reddit_are_decoded() -> None:
    assert decoded("&lt;b&gt; &amp;amp; &eacute;") == "<b> &amp; &eacute;"


@given(st.text())
def test_clean_text_is_one_line_with_single_spaces(text: str) -> None:
    found = clean(text)
    assert found == " ".join(found.split())


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("[deleted]", "deleted"),
        ("[removed]", "deleted"),
        (" [Deleted] \n", "deleted"),
        ("[deleted by user]", "deleted"),
        ("[ Removed by Reddit ]", "deleted"),
        ("[deleted by user]\n[removed]", "deleted"),  # a submission's title and text
        ("A title\n[removed]", None),
        ("I [deleted] that file.", None),
        ("", "empty"),
        (" \n&amp;#x200B;\n", "empty"),
        ("?!", "empty"),
        ("&gt; you said this", "quotes only"),
        ("&gt; one\n\n  &gt;two", "quotes only"),
        ("&gt; one\nSo what?", None),
        ("&gt;!The gardener did it.!&lt;", None),  # a spoiler
        ("&gt;\n&gt; !one", "quotes only"),
        ("&gt; one\n\nhttp://example.org/a", "quotes only"),
        ("[](/smile)\n&gt; one", "quotes only"),  # without this flaw, its context would be an empty line
        ("I &gt; you", None),
        ("http://example.org/a", "links only"),
        ("www.example.org http://example.org", "links only"),
        ("[here](http://example.org)", "links only"),
        ("Look: http://example.org/a", None),
        ("I am a bot, and this action was performed automatically.", "by a bot"),
        ("^I'm ^a ^bot", "by a bot"),
        ("*beep boop*", "by a bot"),
        ("I am a botanist.", None),
        ("Hello there", None),
        ("\u00e7a va", None),
        ("\u3042\u308a\u304c\u3068\u3046", None),
    ],
)
def test_flaw_of(text: str, flaw: str | None) -> None:
    assert flaw_of(decoded(text), "somebody") == flaw


@pytest.mark.parametrize(
    ("author", "is_bot"),
    [
        ("AutoModerator", True),
        ("RemindMeBot", True),
        ("haiku-bot", True),
        ("gif_bot2", True),
        ("bot_of_the_day", True),
        ("Abbot", False),
        ("talbot", False),
        ("robotics_fan", False),
        ("Bottle", False),
        ("[deleted]", False),  # deleted accounts, whose posts may still exist
        ("", False),
    ],
)
def test_bots_are_detected_by_author_name(author: str, is_bot: bool) -> None:
    assert (flaw_of("Hello there", author) == "by a bot") == is_bot


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("one", "too short"),
        ("one two", None),
        ("a b c d e", None),
        ("a b c d e f", "too long"),
        ("x" * 50 + " " + "x" * 49, None),  # 100 characters for 5 words, 20 each
        ("x" * 50 + " " + "x" * 50, "too long"),
        ("&gt; you said\nyes I did", "quote"),
        ("&gt;!it was him!&lt;", None),
        ("a [b c d](http://example.org) e", None),
    ],
)
def test_reply_flaw_of(text: str, flaw: str | None) -> None:
    assert reply_flaw_of(decoded(text), min_words=2, max_words=5) == flaw


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b c d e f", "a b c d"),
        ("&gt; quoted\nown words", "own words"),
        ("A title\n[removed]", "A title"),
        ("x" * 200, "x" * 80),  # 20 characters for each of 4 words
    ],
)
def test_context_is_truncated_and_quotes_removed(text: str, expected: str) -> None:
    assert as_context(decoded(text), max_words=4) == expected


@given(st.text(), st.integers(1, 9))
def test_context_respects_length_limits_and_is_nonempty_unless_flawed(text: str, max_words: int) -> None:
    found = as_context(text, max_words)
    assert len(found.split(" ")) <= max_words
    assert len(found) <= 20 * max_words
    assert found or flaw_of(text, "somebody")


@pytest.mark.parametrize(
    "part", ["\n", " ", "[", "](", "&gt;", "&gt;\n", "&amp;", "http://", "I am a", "[a](b", "^", "(("]
)
def test_cleaning_of_long_repetitive_texts(part: str) -> None:
    """40,000 characters are Reddit's limit. A pattern with excessive backtracking would take minutes."""
    found = decoded(part * (40_000 // len(part)))
    assert flaw_of(found, "somebody") in ("empty", "quotes only", "links only", None)
    assert reply_flaw_of(found, 2, 100) in ("too short", "too long", "quote")
    assert len(as_context(found, 100)) <= 2_000
