"""The whole pipeline from dumps to RED: against a plain Python loop, on random threads, and on invalid dumps."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from full_disk import full_disk
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tiny_dumps import (
    AUTHORS,
    GOOD,
    LARGE,
    ByLength,
    comment,
    lines,
    plain_reactions,
    plainly,
    random_posts,
    records,
    run,
    submission,
    write_dump,
)

from parlai_empathy.curation import blocks, curate, text_scores, unpack
from parlai_empathy.curation.curate import Curated, Plan
from parlai_empathy.curation.engine import Engine
from parlai_empathy.errors import DataError, NotComputableError, OptionError
from parlai_empathy.tasks.reddit.lines import read_lines

OneLine = Callable[..., None]
POSTS = random_posts(LARGE, seed=2)


def assert_same(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """Assert that the rows of ``red.parquet`` are the plain loop's posts, in its order."""
    assert [row["id"] for row in found] == [post["id"] for post in expected]
    for row, post in zip(found, expected, strict=True):
        numbers = {name: value for name, value in post.items() if isinstance(value, float)}
        assert {name: row[name] for name in numbers} == pytest.approx(numbers, rel=1e-9)
        others = post.keys() - numbers
        assert {name: row[name] for name in others} == {name: post[name] for name in others}


def assert_all_counted(curated: Curated) -> None:
    """Assert that each non-blank line is counted once."""
    bad = sum(sum(account.bad.values()) for account in curated.accounts)
    assert sum(curated.fates.values()) + bad == sum(account.lines for account in curated.accounts)


# --- against a plain loop --------------------------------------------------------------------------------------------


@settings(max_examples=8, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(25, 90), st.integers(0, 3))
def test_random_threads_match_plain_loop(
    tmp_path_factory: pytest.TempPathFactory, draw: random.Random, count: int, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("random")
    posts = random_posts(count, draw=draw)
    expected = plainly(lines(posts), seed=seed)
    half = draw.randrange(count)
    dumps = [write_dump(folder / "a.jsonl", posts[:half]), write_dump(folder / "b.zst", posts[half:])]
    if not expected:
        with pytest.raises(NotComputableError):
            run(dumps, folder / "out", recipe={"seed": seed})
        return
    curated = run(dumps, folder / "out", recipe={"seed": seed})
    assert_same(records(folder / "out"), expected)
    assert curated.fates["chosen"] == len(expected)
    assert_all_counted(curated)


@pytest.mark.parametrize("seed", range(3))
def test_large_threads_match_plain_loop(tmp_path: Path, seed: int) -> None:
    posts = random_posts(5 * LARGE, seed=seed)
    curated = run([write_dump(tmp_path / "a.jsonl", posts)], tmp_path / "out")
    assert_same(records(tmp_path / "out"), plainly(lines(posts)))
    assert_all_counted(curated)
    assert len(records(tmp_path / "out")) > LARGE / 2


def test_real_dumps_match_plain_loop(tmp_path: Path, real_data: Path) -> None:
    dumps = sorted((real_data / "reddit").glob("R[CS]_*"))
    dumped = [(line or b"").decode() for dump in dumps for _, line in read_lines(dump)]
    curated = run(dumps, tmp_path, threads=2, recipe={"kappa": 1.0})
    assert_same(records(tmp_path), plainly(dumped, kappa=1.0))
    assert_all_counted(curated)
    assert len(records(tmp_path)) > 100


# --- what changes the result, and what does not -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("dumps")
    return [write_dump(folder / f"RC_{n}.jsonl", POSTS[n::2]) for n in range(2)]


@pytest.fixture(scope="module")
def rows(dumps: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("rows")
    run(dumps, folder)
    return records(folder)


@pytest.mark.parametrize(("order", "threads", "size"), [((1, 0), 1, 1 << 24), ((0, 1), 3, 99), ((1, 0), 2, 5000)])
def test_dump_order_threads_and_block_size_do_not_change_rows(
    dumps: list[Path],
    rows: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    order: tuple[int, ...],
    threads: int,
    size: int,
) -> None:
    monkeypatch.setattr(unpack, "read_blocks", lambda dump, seen: blocks.read_blocks(dump, size, seen))
    run([dumps[place] for place in order], tmp_path, threads=threads)
    assert records(tmp_path) == rows


def test_red_parquet_is_byte_identical_across_thread_counts(dumps: list[Path], tmp_path: Path) -> None:
    scored = {"emotion": ByLength(), "toxicity": ByLength("toxic"), "recipe": {"toxic_above": 0.99}, "negatives": 0.5}
    for name, threads in (("one", 1), ("other", 2)):
        run(dumps, tmp_path / name, threads=threads, **scored)
    assert (tmp_path / "one" / "red.parquet").read_bytes() == (tmp_path / "other" / "red.parquet").read_bytes()


def test_seed_changes_selected_posts_and_folds(dumps: list[Path], rows: list[dict[str, Any]], tmp_path: Path) -> None:
    run(dumps, tmp_path, recipe={"seed": 1})
    found = records(tmp_path)
    assert len(found) == len(rows)
    assert [row["id"] for row in found] != [row["id"] for row in rows]
    folds = {row["id"]: row["fold"] for row in rows}
    both = [row for row in found if row["id"] in folds]
    assert len(both) > 10
    assert any(row["fold"] != folds[row["id"]] for row in both)


def test_dump_named_twice_is_read_once(dumps: list[Path], rows: list[dict[str, Any]], tmp_path: Path) -> None:
    curated = run([*dumps, dumps[1], dumps[1].parent / ".." / dumps[1].parent.name / dumps[1].name], tmp_path)
    assert records(tmp_path) == rows
    assert len(curated.accounts) == 2
    assert_all_counted(curated)


def test_posts_of_a_copied_dump_are_counted_as_read_twice(
    dumps: list[Path], rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    copy = tmp_path / "copy" / dumps[0].name
    copy.parent.mkdir()
    copy.write_bytes(dumps[0].read_bytes())
    before = run(dumps, tmp_path / "before").fates
    curated = run([*dumps, copy], tmp_path / "out")
    assert records(tmp_path / "out") == rows
    assert sum(curated.fates.values()) == sum(before.values()) + len(POSTS[0::2])
    assert curated.fates["read twice"] > before["read twice"]
    assert_all_counted(curated)


def test_output_contains_no_author_names(dumps: list[Path], tmp_path: Path) -> None:
    profiles = [{**post, "id": f"{post['id']}p", "subreddit": f"u_{post['author']}"} for post in POSTS]
    dumps, out = [*dumps, write_dump(tmp_path / "RC.jsonl", profiles)], tmp_path / "out"
    run(dumps, out, emotion=ByLength(), toxicity=ByLength("toxic"), recipe={"toxic_above": 0.99}, negatives=0.5)
    files = [path for path in out.rglob("*") if path.is_file()]
    parts = [json.dumps(parquet.read_table(path).to_pylist()) for path in files if path.suffix == ".parquet"]
    kept = "".join([*parts, *(path.read_text() for path in files if path.suffix != ".parquet")])
    assert len(parts) == 7  # three dumps, three kinds of scores, and red.parquet
    assert [author for author in AUTHORS if author and author[0] == "x" and author in kept] == []


# --- scorers of texts ------------------------------------------------------------------------------------------------


def test_emotion_scores_of_replies_are_summed(tmp_path: Path) -> None:
    posts = random_posts(5 * LARGE, seed=3)
    curated = run([write_dump(tmp_path / "a.jsonl", posts)], tmp_path / "out", emotion=ByLength())
    found = records(tmp_path / "out")
    assert curated.measures.dimensions == ("ee", "ae", "be", "re")
    assert curated.scorers == {"emotion": "by length"}
    reactions = plain_reactions(lines(posts))
    for row in found:
        texts = [reply.text for reply in reactions[row["id"]] if reply.flaw in (None, "quote")]
        assert row["ee"] == pytest.approx(sum(round(min(1, len(text) / 60), 6) for text in texts), abs=1e-9)
    assert any(row["ee"] > 0 for row in found)


def test_toxic_posts_are_excluded(dumps: list[Path], tmp_path: Path) -> None:
    longest = max(GOOD[:4], key=len)
    curated = run(dumps, tmp_path, toxicity=ByLength("toxic"), recipe={"toxic_above": (len(longest) - 1) / 60})
    assert curated.fates["toxic"] > 0
    assert curated.scorers == {"toxicity": "toxic"}
    assert longest not in {row["post"] for row in records(tmp_path)}
    assert_all_counted(curated)
    at_limit = run(dumps, tmp_path, toxicity=ByLength("toxic"), recipe={"toxic_above": len(longest) / 60})
    assert at_limit.fates["toxic"] < curated.fates["toxic"]
    with pytest.raises(NotComputableError, match=r"^0 post\(s\)"):
        run(dumps, tmp_path / "all", toxicity=ByLength("toxic"), recipe={"toxic_above": 0.0})


def test_toxic_parents_are_not_repeated_as_negative_samples(tmp_path: Path) -> None:
    longest = 40  # characters; longer texts are toxic
    dump = write_dump(tmp_path / "a.jsonl", random_posts(4 * LARGE, seed=8))
    options = {"recipe": {"toxic_above": longest / 60}, "negatives": 1.0}
    run([dump], tmp_path / "all", **options)
    run([dump], tmp_path / "out", toxicity=ByLength(), **options)
    copies, left = (
        [row["post"] for row in records(tmp_path / name) if row["source"] == "copy"] for name in ("all", "out")
    )
    assert any(len(text) > longest for text in copies)
    assert left
    assert [text for text in left if len(text) > longest] == []
    assert any(len(row["parent"]) > longest for row in records(tmp_path / "out"))  # what a post answers may be toxic


def test_post_that_is_also_a_parent_is_scored_once(dumps: list[Path], tmp_path: Path) -> None:
    run(dumps, tmp_path, toxicity=ByLength(), recipe={"toxic_above": 0.99}, negatives=1.0)
    files = [*(tmp_path / "work").glob("*toxicity-*/*.parquet")]
    names = [name for file in files for name in parquet.read_table(file)["name"].to_pylist()]
    assert len(files) == 2
    assert len(names) == len(set(names)) > 20


def test_score_cache_depends_on_texts_and_scorer(dumps: list[Path], tmp_path: Path) -> None:
    for name, changes in (("a", {}), ("a", {"kappa": 0.2}), ("b", {}), ("b", {"min_replies": 2})):
        run(dumps, tmp_path, emotion=ByLength(name), recipe=changes)
    assert len(list((tmp_path / "work").glob("emotion-*"))) == 3


@pytest.mark.parametrize("changes", [{"toxic_above": 0.5}, {"min_replies": 2}, {"subreddits": ("baking",)}])
def test_scores_of_another_selection_are_not_mixed_up(
    dumps: list[Path], tmp_path: Path, changes: dict[str, Any]
) -> None:
    scorers = {"emotion": ByLength(), "toxicity": ByLength("toxic")}
    run(dumps, tmp_path / "one", recipe={"toxic_above": 0.9, **changes}, **scorers)  # fewer posts
    for folder in ("one", "other"):
        run(dumps, tmp_path / folder, recipe={"toxic_above": 0.9}, **scorers)
    assert records(tmp_path / "one") == records(tmp_path / "other")


def test_score_cache_ignores_order_of_dumps(dumps: list[Path], tmp_path: Path) -> None:
    run(dumps, tmp_path, emotion=ByLength(), toxicity=ByLength())
    run(dumps[::-1], tmp_path, emotion=ByLength(), toxicity=ByLength())
    assert len(list((tmp_path / "work").glob("emotion-*"))) == 1


def test_texts_missed_by_a_read_error_are_scored_next_time(
    dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(path: Path, seen: object) -> Iterator[bytes]:
        yield path.read_bytes()[: path.stat().st_size // 2]
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(blocks, "read_bytes", failing)
        first = run(dumps, tmp_path / "out", emotion=ByLength(), toxicity=ByLength())
    assert any(account.broken for account in first.accounts)
    again = run(dumps, tmp_path / "out", emotion=ByLength(), toxicity=ByLength())
    assert again.measures.posts > first.measures.posts
    run(dumps, tmp_path / "new", emotion=ByLength(), toxicity=ByLength())
    assert records(tmp_path / "out") == records(tmp_path / "new")


# --- several runs ----------------------------------------------------------------------------------------------------


def test_second_run_in_same_folder_is_refused_and_leaves_the_first_alone(
    dumps: list[Path],
    rows: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    assert_one_line: OneLine,
) -> None:
    def with_a_second(plan: Plan, engine: Engine, discard: Callable[[], object]) -> Curated:
        (kept := plan.work / "engine" / "spilled").touch()
        with pytest.raises(DataError) as caught:
            run(dumps, tmp_path)
        assert_one_line(caught.value, f"another run writes to {tmp_path / 'work'}: wait for it to end")
        assert kept.exists()
        return first(plan, engine, discard)

    first = curate._curate
    monkeypatch.setattr(curate, "_curate", with_a_second)
    run(dumps, tmp_path)
    assert records(tmp_path) == rows
    assert not (tmp_path / "work" / "engine").exists()


# --- constants -------------------------------------------------------------------------------------------------------


def test_other_subreddits_are_excluded(dumps: list[Path], tmp_path: Path) -> None:
    curated = run(dumps, tmp_path, recipe={"subreddits": ("GARDENING", "trains")})
    assert {row["subreddit"] for row in records(tmp_path)} == {"Gardening", "trains"} == curated.subreddits.keys()
    assert curated.fates["in another subreddit"] > 10
    assert_all_counted(curated)


def test_posts_with_too_few_replies_are_excluded(dumps: list[Path], tmp_path: Path) -> None:
    curated = run(dumps, tmp_path, recipe={"min_replies": 2})
    assert min(row["re"] for row in records(tmp_path)) >= 2
    assert curated.fates["with fewer than 2 replies"] > 10
    assert_all_counted(curated)


def test_card_tables_match_the_rows(dumps: list[Path], rows: list[dict[str, Any]], tmp_path: Path) -> None:
    curated = run(dumps, tmp_path)
    for label, means in curated.classes.items():
        of_class = [row for row in rows if row["label"] == label]
        expected = {name: np.mean([row[name] for row in of_class]) for name in means}
        assert means == pytest.approx(expected)
    names = {row["subreddit"] for row in rows}
    assert curated.subreddits == {
        name: {
            label: sum((row["subreddit"], row["label"]) == (name, label) for row in rows) for label in curated.classes
        }
        for name in names
    }
    below, near, above = (sum(column) for column in zip(*curated.histogram.values(), strict=True))
    assert (below, above) == curated.chosen.ends
    assert below + near + above == curated.measures.posts
    assert curated.fates["neither engaging nor not"] + sum(curated.chosen.ends) == curated.measures.posts


def test_emotion_as_only_weight_requires_an_emotion_scorer(
    dumps: list[Path], tmp_path: Path, assert_one_line: OneLine
) -> None:
    run(dumps, tmp_path, emotion=ByLength(), recipe={"weights": {"ee": 1.0}})
    assert records(tmp_path)
    with pytest.raises(OptionError) as caught:
        run(dumps, tmp_path / "none", recipe={"weights": {"ee": 1.0, "re": 0.0}})
    assert_one_line(caught.value, "--weights: only ee has a weight", "--emotion-model")


# --- invalid dumps ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"", ("they are empty",)),
        (b"\n\n", ("they are empty",)),
        (b"no JSON\n{}\n[]\n", ("1 not JSON", "1 missing field", "1 no object")),
        (b"\xff\xfe\n", ("1 not UTF-8",)),
    ],
)
def test_dump_without_posts_raises_data_error(
    tmp_path: Path, content: bytes, parts: tuple[str, ...], assert_one_line: OneLine
) -> None:
    (dump := tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(DataError) as caught:
        run([dump], tmp_path / "out")
    assert_one_line(caught.value, f"{dump}: no line is a post: ", *parts)


def test_missing_dump_raises_data_error(dumps: list[Path], tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        run([*dumps, tmp_path / "none.zst"], tmp_path / "out")
    assert_one_line(caught.value, f"{tmp_path / 'none.zst'} cannot be opened (No such file or directory): check its")


def test_corrupt_archive_without_posts_raises_data_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    (dump := tmp_path / "a.zst").write_bytes(b"none at all")
    with pytest.raises(DataError) as caught:
        run([dump], tmp_path / "out")
    assert_one_line(caught.value, "no line is a post", "reading failed")


@pytest.mark.parametrize(
    "posts", [[submission("s0")], [comment("a", "t3_zz")], [submission("s0"), comment("a", "t3_s0")]]
)
def test_dump_without_measurable_posts_raises_not_computable_error(
    tmp_path: Path, posts: list[dict[str, Any]], assert_one_line: OneLine
) -> None:
    with pytest.raises(NotComputableError) as caught:
        run([write_dump(tmp_path / "a.jsonl", posts)], tmp_path / "out")
    assert_one_line(caught.value, "0 post(s)", "RS_")
    assert not (tmp_path / "out" / "red.parquet").exists()


def test_bad_lines_and_truncated_archives_are_accounted_for(tmp_path: Path) -> None:
    content = b"\n".join([b"\xff", b"?", b"{}", *(line.encode() for line in lines(POSTS)), b"x" * (5 << 20), b"null"])
    (dump := tmp_path / "a.jsonl").write_bytes(content)
    curated = run([dump], tmp_path / "out")
    assert_same(records(tmp_path / "out"), plainly(lines(POSTS)))
    assert_all_counted(curated)
    reasons = ("not UTF-8", "not JSON", "missing field", "too long a line", "no object")
    assert curated.accounts[0].bad == dict.fromkeys(reasons, 1)
    (cut := write_dump(tmp_path / "b.bz2", random_posts(20_000, seed=4))).write_bytes(cut.read_bytes()[:-1_000])
    curated = run([dump, cut], tmp_path / "both")
    assert [bool(account.broken) for account in curated.accounts] == [False, True]
    assert_all_counted(curated)


@settings(max_examples=3, deadline=None)
@given(st.lists(st.binary(max_size=40) | st.sampled_from([b"null", b"{}", b"[", b'{"id": "a"}', b" "]), max_size=25))
def test_arbitrary_lines_do_not_affect_valid_posts(
    tmp_path_factory: pytest.TempPathFactory, strange: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("strange")
    assume(b"\xef\xbb\xbf" not in b"".join(strange))
    content = b"\n".join([*strange, *(line.encode() for line in lines(POSTS)), *strange])
    (folder / "a.jsonl").write_bytes(content)
    curated = run([folder / "a.jsonl"], folder / "out")
    assert_same(records(folder / "out"), plainly(lines(POSTS)))
    assert_all_counted(curated)
    assert curated.accounts[0].lines == sum(bool(line.strip(b" \t\r\f")) for line in content.split(b"\n"))


# --- disks and memory ------------------------------------------------------------------------------------------------


def test_too_little_memory_raises_option_error(dumps: list[Path], tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(OptionError) as caught:
        run(dumps, tmp_path, memory="1MB")
    assert_one_line(caught.value, "--memory 1MB: too little for DuckDB")


def test_file_in_place_of_a_folder_raises_data_error(
    dumps: list[Path], tmp_path: Path, assert_one_line: OneLine
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "posts").write_text("a file")
    with pytest.raises(DataError) as caught:
        run(dumps, tmp_path)
    assert_one_line(caught.value, tmp_path / "work" / "posts", "cannot be written")


@pytest.mark.parametrize("done", [False, True])
def test_full_disk_raises_data_error_and_next_run_succeeds(
    dumps: list[Path], rows: list[dict[str, Any]], tmp_path: Path, done: bool, assert_one_line: OneLine
) -> None:
    """Simulate it with a limit of 300 bytes a file, first while dumps are unpacked, then for red.parquet."""
    if done:
        run(dumps, tmp_path)
        (tmp_path / "red.parquet").unlink()
    with full_disk(300), pytest.raises(DataError) as caught:
        run(dumps, tmp_path)
    assert_one_line(caught.value, tmp_path, "cannot be written", "make room, or name another folder")
    assert [path.name for path in tmp_path.iterdir()] == ["work"]
    assert [path for path in tmp_path.rglob("*") if path.suffix == ".unfinished"] == []
    run(dumps, tmp_path)
    assert records(tmp_path) == rows


def test_folder_with_non_utf8_name_raises_option_error(
    dumps: list[Path], tmp_path: Path, assert_one_line: OneLine
) -> None:
    with pytest.raises(OptionError) as caught:
        run(dumps, Path(os.fsdecode(os.fsencode(tmp_path) + b"/out_\xff")))
    assert_one_line(caught.value, f"--out {tmp_path / 'out_?'}: DuckDB can write only to paths that are UTF-8")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="whoever may write anywhere meets no such folder")
def test_read_only_folder_raises_data_error(dumps: list[Path], tmp_path: Path, assert_one_line: OneLine) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(DataError) as caught:
        run(dumps, tmp_path / "out")
    assert_one_line(caught.value, tmp_path / "out")


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tiny_dumps import ByLength, run
from parlai_empathy.curation import curate, text_scores

moment, out, *dumps = sys.argv[2:]
text_scores.BATCH = 8

def die():
    os.kill(os.getpid(), signal.SIGKILL)

class Dying(ByLength):
    batches = 0
    def score(self, texts):
        self.batches += 1
        return die() if (self.signature, self.batches) == (moment, 2) else super().score(texts)

def dying(tables):
    yield next(tables)
    die()

if moment == "write":
    write = curate.write
    curate.write = lambda tables, *others: write(dying(tables), *others)
recipe = {"toxic_above": 0.99}
run([*map(Path, dumps)], Path(out), emotion=Dying("emotion"), toxicity=Dying("toxicity"), recipe=recipe)
"""


@pytest.mark.parametrize("moment", ["toxicity", "emotion", "write"])
def test_killed_run_resumes_to_identical_output(
    dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    monkeypatch.setattr(text_scores, "BATCH", 8)
    helpers, out = Path(__file__).parents[1] / "helpers", tmp_path / "killed"
    arguments = [sys.executable, "-c", KILLED, *map(str, (helpers, moment, out, *dumps))]
    assert subprocess.run(arguments, capture_output=True, check=False).returncode == -signal.SIGKILL
    assert not (out / "red.parquet").exists()
    kept = {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")}
    assert len(kept) > 2  # two parts, and batches of scores
    options: dict[str, Any] = {"emotion": ByLength("emotion"), "toxicity": ByLength("toxicity")}
    for folder in (out, tmp_path / "whole"):
        run(dumps, folder, recipe={"toxic_above": 0.99}, **options)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert (out / "red.parquet").read_bytes() == (tmp_path / "whole" / "red.parquet").read_bytes()
    assert [path for path in out.rglob("*") if path.suffix == ".unfinished"] == []
