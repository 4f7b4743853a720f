"""Which post a comment replies to: small threads, with results derived by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_dumps import comment, submission, write_dump

from parlai_empathy.curation.engine import open_engine
from parlai_empathy.curation.recipe import Recipe
from parlai_empathy.curation.relations import gather, relate
from parlai_empathy.curation.unpack import unpack

Found = tuple[dict[str, str | None], dict[str, tuple[Any, ...]]]
Related = Callable[..., Found]


@pytest.fixture
def related(tmp_path: Path) -> Related:
    """A function that maps posts to the fate of each comment and the reactions to each post."""

    def found(*posts: dict[str, Any], recipe: Recipe | None = None) -> Found:
        parts = unpack([write_dump(tmp_path / "a.jsonl", posts)], tmp_path / "parts", "1GB", 1)
        engine = open_engine("duckdb", tmp_path / "engine", "1GB", 1)
        gather(engine, [part.file for part in parts])
        relate(engine, recipe or Recipe())
        fates: dict[str, str | None] = {}
        for name, fate in engine.rows("SELECT substr(name, 4), fate FROM comments ORDER BY place"):
            fates[f"{name} again" if name in fates else name] = fate
        reactions = engine.rows(
            "SELECT substr(p.name, 4), replies, longest, edits FROM reactions r JOIN posts p ON r.place = p.place"
        )
        engine.close()
        return fates, {name: tuple(rest) for name, *rest in reactions}

    return found


def test_thread_yields_expected_reactions(related: Related) -> None:
    fates, reactions = related(
        submission("s0"),
        comment("a", "t3_s0"),
        comment("b", "t1_a", created_utc=101, body="Cake rises quickly and soup never does."),
        comment("c", "t1_a", created_utc=102, edited=True, body="It is."),
        comment("d", "t1_b", created_utc=103),
    )
    assert fates == dict.fromkeys("abcd")
    # The longer reply's content words are "cake", "rises", "quickly", "soup" and "does."; "and" and "never" are not
    assert reactions == {"s0": (1, 0, 0), "a": (2, 5, 1), "b": (1, 3, 0)}


@pytest.mark.parametrize(
    ("parent", "fate"),
    [
        ({"body": "[deleted]"}, "to one that is deleted"),
        ({"body": ""}, "to one that is empty"),
        ({"body": "http://e.example/a"}, "to one that is links only"),
        ({"body": "> a quote"}, "to one that is quotes only"),
        ({"author": "AutoModerator"}, "to one that is by a bot"),
        ({"body": "> a quote\nand an answer"}, None),
    ],
)
def test_flawed_parent_excludes_the_reply(related: Related, parent: dict[str, Any], fate: str | None) -> None:
    fates, reactions = related(submission("s0"), comment("a", "t3_s0", **parent), comment("b", "t1_a", created_utc=101))
    assert fates["b"] == fate
    assert reactions["a"] == (1, 3, 0)  # bread, rises, slowly.


@pytest.mark.parametrize(
    ("reply", "fate", "is_reaction"),
    [
        ({"body": "[removed]"}, "deleted", False),
        ({"body": "?!"}, "empty", False),
        ({"body": "I'm a bot, friends"}, "by a bot", False),
        ({"body": "http://e.example/a"}, "links only", True),
        ({"body": "> a quote"}, "quotes only", True),
        ({"body": "> a quote\nand an answer"}, "quote", True),
        ({"created_utc": 99}, "not later than what it answers", False),
        ({"parent_id": "t1_b"}, "not later than what it answers", False),  # itself
        ({"parent_id": "t1_zz"}, "to an unknown comment", False),
        ({"parent_id": "t3_zz"}, "to an unknown submission", False),
        ({"subreddit": "trains"}, "in another subreddit", True),
    ],
)
def test_excluded_reply_has_a_reason_and_may_count_as_reaction(
    related: Related, reply: dict[str, Any], fate: str, is_reaction: bool
) -> None:
    recipe = Recipe(subreddits=("Baking",))  # letter case is ignored
    posts = submission("s0"), comment("a", "t3_s0"), comment("b", "t1_a", **{"created_utc": 101, **reply})
    fates, reactions = related(*posts, recipe=recipe)
    assert fates == {"a": None, "b": fate}
    assert ("a" in reactions) == is_reaction


@pytest.mark.parametrize(
    ("first", "second", "is_later"),
    [("a", "b", True), ("b", "a", False), ("z", "10", True), ("10", "z", False)],
)
def test_comments_in_the_same_second_are_ordered_by_id(
    related: Related, first: str, second: str, is_later: bool
) -> None:
    """Reddit's ids are numbers in base 36 that count up, so a longer one is later."""
    fates, reactions = related(submission("s0"), comment(first, "t3_s0"), comment(second, f"t1_{first}"))
    assert fates == {first: None, second: None if is_later else "not later than what it answers"}
    assert (first in reactions) == is_later


def test_comment_in_the_same_second_is_later_than_its_submission(related: Related) -> None:
    fates, reactions = related(submission("zzz", created_utc=100), comment("a", "t3_zzz"))
    assert (fates, reactions) == ({"a": None}, {"zzz": (1, 0, 0)})


def test_cycle_of_comments_is_broken(related: Related) -> None:
    times = {"a": 100, "b": 101, "c": 102}
    answers = {"a": "c", "b": "a", "c": "b"}
    posts = [comment(name, f"t1_{answers[name]}", created_utc=time) for name, time in times.items()]
    fates, reactions = related(*posts)
    assert fates == {"a": "not later than what it answers", "b": None, "c": None}
    assert reactions.keys() == {"a", "b"}


def test_duplicate_posts_count_once_as_first_read(related: Related) -> None:
    fates, reactions = related(
        submission("s0"),
        comment("a", "t3_s0"),
        comment("b", "t1_a", created_utc=101, body="One"),
        comment("b", "t1_a", created_utc=101, body="Two three bread rises.", edited=True),
        submission("s0", title="Again"),
    )
    assert fates == {"a": None, "b": None, "b again": "read twice"}
    assert reactions == {"s0": (1, 0, 0), "a": (1, 0, 0)}  # "one" is a stop word


def test_reply_may_precede_its_parent_in_the_dump(related: Related) -> None:
    fates, reactions = related(comment("b", "t1_a", created_utc=101), comment("a", "t3_s0"), submission("s0"))
    assert fates == {"a": None, "b": None}
    assert reactions.keys() == {"s0", "a"}


def test_quotes_in_subreddit_names_are_escaped(related: Related) -> None:
    fates, _ = related(submission("s0"), comment("a", "t3_s0"), recipe=Recipe(subreddits=("it's", "x' OR '1'='1")))
    assert fates == {"a": "in another subreddit"}


def test_places_are_unique_and_in_part_order(tmp_path: Path) -> None:
    names = [["a", "b", "c"], ["d"], ["e", "f"]]
    dumps = [
        write_dump(tmp_path / f"{place}.jsonl", [comment(name, "t3_s0") for name in some])
        for place, some in enumerate(names)
    ]
    dumps[1].write_text("no JSON\n" + dumps[1].read_text())
    parts = [part.file for part in unpack(dumps, tmp_path / "parts", "1GB", 1)]
    engine = open_engine("duckdb", tmp_path / "engine", "1GB", 1)
    gather(engine, parts)
    found = engine.rows("SELECT place, substr(name, 4) FROM posts ORDER BY place")
    engine.close()
    assert [name for _, name in found] == list("abcdef")  # no bad line
    assert [place % (1 << 40) for place, _ in found] == [1, 2, 3, 2, 1, 2]  # the line's number
    assert len({place for place, _ in found}) == 6
