"""Creating a set for rating: the replies of a task, the sampling of random replies, and the file."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.tasks.humod.items import Reply, make_items, replies_of, write_items
from parlai_empathy.tasks.humod.reader import read_humod
from parlai_empathy.tasks.humod.records import Pair

ANY = range(1, 100)


def message(text: str | None, *labels: str, done: bool = False, key: str = "labels") -> dict[str, Any]:
    return {"text": text, key: labels, "episode_done": done}


def replies(*messages: dict[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    return [(reply.context, reply.text) for reply in replies_of(messages)]


# --- the replies of a task -------------------------------------------------------------------------------------------


def test_reply_context_holds_all_previous_turns() -> None:
    assert replies(
        message("hi", "hello"),
        message("how are you?", "fine", done=True),
        message("bye", "see you", done=True, key="eval_labels"),
    ) == [(("hi",), "hello"), (("hi", "hello", "how are you?"), "fine"), (("bye",), "see you")]


def test_text_lines_are_turns() -> None:
    found = replies(message("a\n\n b  c\r\nd\t", "e\nf", done=False), message("g", "h", done=True))
    assert found == [(("a", "b c", "d"), "e f"), (("a", "b c", "d", "e f", "g"), "h")]


def test_each_label_is_a_reply_and_the_first_continues_the_dialogue() -> None:
    found = replies(message("a", "b", " ", "c"), message("d", "e", done=True))
    assert found == [(("a",), "b"), (("a",), "c"), (("a", "b", "d"), "e")]


@pytest.mark.parametrize(
    "empty",
    [
        {"episode_done": True},
        message(None, "b", done=True),
        message("  \n", "b", done=True),
        message("a", done=True),
        message("a", "", done=True),
        {"text": "a", "labels": None, "episode_done": True},
    ],
)
def test_message_without_context_or_label_gives_no_reply(empty: dict[str, Any]) -> None:
    assert replies(empty) == []
    assert replies(empty, message("x", "y", done=True)) == [(("x",), "y")]


def test_messages_giving_no_reply_still_add_turns() -> None:
    assert replies(message("a"), message("b", "c", done=True)) == [(("a", "b"), "c")]
    assert replies(message("", "a"), message("b", "c", done=True)) == [(("a", "b"), "c")]


# --- the sampled items ------------------------------------------------------------------------------------------------

SMALL = [Reply((f"context {n}",), f"reply {n}") for n in range(6)]


def drawn(
    found: list[Reply], contexts: int, turns: range = ANY, seed: int = 0
) -> list[tuple[tuple[str, ...], str, str]]:
    """Return the context, true and random reply of each pair of items, after checking the items' other fields."""
    items = make_items(found, contexts, turns, seed)
    assert [item["id"] for item in items] == [f"item_{number:05d}" for number in range(2 * contexts)]
    assert [item["reply_kind"] for item in items] == ["original", "random_distractor"] * contexts
    assert all(item["human_replies"] == [] and item["human_relevance_mean"] is None for item in items)
    assert all(one["context"] == other["context"] for one, other in zip(items[::2], items[1::2], strict=True))
    return [
        (tuple(one["context"]), one["reply"], other["reply"])
        for one, other in zip(items[::2], items[1::2], strict=True)
    ]


def test_each_context_gets_its_true_reply_and_another_one() -> None:
    found = drawn(SMALL, 6)
    assert sorted(context for context, _, _ in found) == sorted(reply.context for reply in SMALL)
    for (context,), original, other in found:
        assert original == context.replace("context", "reply")
        assert other in {reply.text for reply in SMALL} - {original}


def test_items_depend_only_on_seed() -> None:
    assert drawn(SMALL, 3, seed=5) == drawn(SMALL, 3, seed=5)
    assert len({tuple(drawn(SMALL, 3, seed=seed)) for seed in range(10)}) > 5


def test_contexts_and_random_replies_are_drawn_uniformly() -> None:
    contexts: Counter[str] = Counter()
    others: Counter[str] = Counter()
    # One of the six replies follows three contexts; the pool has it once, so it is as probable as the others.
    found = [*SMALL, Reply(("twice",), "reply 1"), Reply(("thrice",), "reply 1")]
    for seed in range(3000):
        ((context, original, other),) = drawn(found, 1, seed=seed)
        contexts[context[0]] += 1
        if original == "reply 0":
            others[other] += 1
    # With fixed seeds the counts are fixed; the bounds are those of a test at the level of 0.001.
    assert len(contexts) == 8
    assert stats.chisquare(list(contexts.values())).pvalue > 0.001
    assert set(others) == {f"reply {n}" for n in range(1, 6)}
    assert stats.chisquare(list(others.values())).pvalue > 0.001


def test_random_replies_come_from_all_contexts() -> None:
    found = [Reply(("short",), "a"), Reply(("long", "x", "y"), "b"), Reply(("short too",), "c")]
    others = {other for seed in range(40) for _, _, other in drawn(found, 1, range(1, 2), seed)}
    assert others == {"a", "b", "c"}


def test_only_contexts_within_turn_range_are_drawn() -> None:
    found = [Reply(tuple("abcdefg"[:n]), f"r{n}") for n in range(1, 8)]
    assert {len(context) for context, _, _ in drawn(found, 3, range(2, 5))} == {2, 3, 4}
    message = "^the task has 3 different contexts of 2 to 4 turns, not 4: ask for fewer, or for other numbers of turns$"
    with pytest.raises(DataError, match=message):
        make_items(found, 4, range(2, 5), 0)


def test_repeated_context_counts_once() -> None:
    found = [Reply(("hi",), "a"), Reply(("hi",), "b"), Reply(("ho",), "c")]
    with pytest.raises(DataError, match=r"^the task has 2 different contexts of 1 to 99 turns, not 3"):
        make_items(found, 3, ANY, 0)
    seen = {
        (original, other)
        for seed in range(40)
        for (word,), original, other in drawn(found, 2, seed=seed)
        if word == "hi"
    }
    assert seen == {("a", "c"), ("b", "c")}, "neither reply that follows the context is ever the random one"


def test_random_reply_is_never_another_spelling_of_true_reply() -> None:
    found = [Reply(("hi",), "Yes."), Reply(("ho",), "yes!"), Reply(("hu",), "?"), Reply(("ha",), "...")]
    pairs = {(original, other) for seed in range(60) for _, original, other in drawn(found, 4, seed=seed)}
    expected = {(a.text, b.text) for a in found for b in found if a is not b} - {("Yes.", "yes!"), ("yes!", "Yes.")}
    assert pairs == expected


@pytest.mark.parametrize(
    "found",
    [[Reply(("hi",), "a")], [Reply(("hi",), "a"), Reply(("ho",), "A!")], [Reply(("hi",), "a"), Reply(("hi",), "b")]],
)
def test_no_other_reply_to_draw_raises_data_error(found: list[Reply]) -> None:
    with pytest.raises(DataError, match=r"^the task has no other reply to draw: use a larger task$"):
        make_items(found, 1, ANY, 0)


def test_empty_task_raises_data_error() -> None:
    with pytest.raises(DataError, match=r"^the task has 0 different contexts of 1 to 6 turns, not 2: "):
        make_items([], 2, range(1, 7), 0)


letters = st.sampled_from(["a", "b", "c", "A", "d e"])


@given(
    found=st.lists(st.tuples(st.lists(letters, min_size=1, max_size=2).map(tuple), letters), min_size=1, max_size=12),
    seed=st.integers(0, 9),
)
def test_random_reply_never_follows_the_same_context(found: list[tuple[tuple[str, ...], str]], seed: int) -> None:
    known = [Reply(*one) for one in found]
    contexts = len({context for context, _ in found})
    try:
        items = drawn(known, contexts, seed=seed)
    except DataError:
        # Some context is followed by every reply.
        texts = {text.lower() for _, text in found}
        assert any({t.lower() for c, t in found if c == context} == texts for context, _ in found)
        return
    for context, original, other in items:
        assert (context, original) in found
        assert other in {text for _, text in found}
        assert other.lower() not in {text.lower() for followed, text in found if followed == context}


# --- the file ---------------------------------------------------------------------------------------------------------


def test_written_items_round_trip(tmp_path: Path) -> None:
    found = [Reply(("Grüß dich!", 'He said "hi"'), "Was?"), Reply(("a\u2028b",), "c"), Reply(("d",), "\U0001f642")]
    items = make_items(found, 3, ANY, 1)
    path = tmp_path / "new" / "items.jsonl"
    write_items(items, path)
    assert [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]] == items
    assert list(read_humod(path)) == [
        Pair(
            pair_id=item["id"],
            context=tuple(" ".join(turn.split()) for turn in item["context"]),
            reply=item["reply"],
            is_original=item["reply_kind"] == "original",
            ratings=(),
            mean_rating=None,
            human_replies=(),
        )
        for item in items
    ]
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "new", path]


def test_tilde_of_the_path_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write_items(make_items(SMALL, 2, ANY, 0), "~/items.jsonl")  # as --out=~/items.jsonl arrives from the shell
    assert len(list(read_humod(tmp_path / "items.jsonl"))) == 4


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_interrupted_write_keeps_previous_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text("before")
    write = Path.write_text

    def half(self: Path, text: str, **how: Any) -> int:
        write(self, text[: len(text) // 2], **how)
        raise error

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises((OptionError, KeyboardInterrupt)) as found:
        write_items(make_items(SMALL, 2, ANY, 0), path)
    if isinstance(error, OSError):
        message = f"--out {path} cannot be written (No space left on device): make room, or name another file"
        assert str(found.value) == message
    monkeypatch.undo()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("out", "reason"),
    [
        ("file/items.jsonl", "File exists|Not a directory"),
        ("folder", "Is a directory"),
        (".", ".+"),
        ("x" * 300, "File name too long"),
    ],
)
def test_unwritable_file_raises_option_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("folder").mkdir()
    with pytest.raises(OptionError) as error:
        write_items(make_items(SMALL, 2, ANY, 0), out)
    assert re.fullmatch(rf"--out {out} cannot be written \(({reason})\): name another file", str(error.value))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
