"""The pairs of dumps: which post a comment replies to, reasons for exclusion, bounded memory, and random dumps."""

from __future__ import annotations

import bz2
import html
import json
import sys
import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import run, succeeded

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.reddit import reader
from parlai_empathy.tasks.reddit.folds import thread_filter
from parlai_empathy.tasks.reddit.reader import Limits, Pair, by_month, posts_of, read_reddit
from parlai_empathy.tasks.reddit.tally import Tally

LIMITS = Limits(window=1_000, min_words=2, max_words=9, history=4)


def submission(name: str, title: str, **more: Any) -> dict[str, Any]:
    rest = {"author": "a", "subreddit": "tea", "created_utc": 1, "selftext": ""}
    return {**rest, "id": name, "title": title, **more}


def comment(name: str, parent: str, body: str, **more: Any) -> dict[str, Any]:
    rest = {"author": "a", "subreddit": "tea", "created_utc": 2, "link_id": "t3_s"}
    return {**rest, "id": name, "parent_id": parent, "body": body, **more}


THREAD = [
    submission("s", "How long?"),
    comment("a", "t3_s", "Two minutes."),
    comment("b", "t1_a", "No, four."),
    comment("c", "t1_a", "Not at all."),
    comment("d", "t1_b", "With cold water?"),
    comment("e", "t1_d", "With any water."),
]


def write(path: Path, records: Iterable[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def pairs(path: Path, tally: Tally | None = None, **changes: int) -> list[Pair]:
    limits = Limits(**{**LIMITS.__dict__, **changes})
    return list(read_reddit([path], limits, lambda _: True, tally or Tally()))


def short(found: Iterable[Pair]) -> list[tuple[str, str]]:
    return [(" / ".join(pair.context), pair.reply) for pair in found]


# --- which post a comment replies to ----------------------------------------------------------------------------------


def test_pairs_hold_each_comment_with_the_preceding_turns(tmp_path: Path) -> None:
    assert pairs(write(tmp_path / "a.jsonl", THREAD)) == [
        Pair(("How long?",), "Two minutes.", "t1_a", "t3_s", "tea", 2),
        Pair(("How long?", "Two minutes."), "No, four.", "t1_b", "t3_s", "tea", 3),
        Pair(("How long?", "Two minutes."), "Not at all.", "t1_c", "t3_s", "tea", 3),
        Pair(("How long?", "Two minutes.", "No, four."), "With cold water?", "t1_d", "t3_s", "tea", 4),
        Pair(
            ("How long?", "Two minutes.", "No, four.", "With cold water?"), "With any water.", "t1_e", "t3_s", "tea", 5
        ),
    ]


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (1, "With cold water?"),
        (2, "No, four. / With cold water?"),
        (-1, "How long? / Two minutes. / No, four. / With cold water?"),
    ],
)
def test_history_limits_the_context_turns(tmp_path: Path, history: int, expected: str) -> None:
    assert short(pairs(write(tmp_path / "a.jsonl", THREAD), history=history))[-1][0] == expected


def test_turn_numbers_are_kept_if_the_submission_is_missing(tmp_path: Path) -> None:
    """A reply to a missing submission has no context, but the reply to it is known to be the third turn."""
    tally = Tally()
    found = pairs(write(tmp_path / "a.jsonl", THREAD[1:]), tally)
    assert [(pair.comment, pair.turn) for pair in found] == [("t1_b", 3), ("t1_c", 3), ("t1_d", 4), ("t1_e", 5)]
    assert tally.left_out == {"to an unknown submission": 1}


def test_turn_after_a_missing_comment_is_the_lowest_possible(tmp_path: Path) -> None:
    """``a``, at least the second turn, is missing: ``b`` is at least the third, and its answer ``d`` the fourth."""
    found = pairs(write(tmp_path / "RC_2010-01", [THREAD[0], *THREAD[2:]]))
    assert [(pair.comment, pair.turn) for pair in found] == [("t1_d", 4), ("t1_e", 5)]


def test_parents_outside_the_window_are_unknown(tmp_path: Path) -> None:
    others = [comment(f"x{n}", "t3_z", "Hello there.", link_id="t3_z") for n in range(5)]
    path = write(tmp_path / "a.jsonl", [THREAD[0], *others, comment("a", "t3_s", "Two minutes.")])
    assert short(pairs(path, window=7)) == short(pairs(path, window=6)) == [("How long?", "Two minutes.")]
    tally = Tally()
    assert pairs(path, tally, window=5) == []
    assert tally.left_out == {"to an unknown submission": 6}


def test_window_counts_posts_of_other_readers(tmp_path: Path) -> None:
    """This gives a fold the same pairs, however many processes share it."""
    others = [comment(f"x{n}", "t3_z", "Hello there.", link_id="t3_z") for n in range(5)]
    path = write(tmp_path / "a.jsonl", [THREAD[0], *others, comment("a", "t3_s", "Two minutes.")])
    tally = Tally()
    found = list(read_reddit([path], Limits(5, 2, 9, 4), lambda thread: thread == "t3_s", tally))
    assert (found, tally.elsewhere) == ([], 5)


def test_too_short_reply_is_still_a_context(tmp_path: Path) -> None:
    thread = [THREAD[0], comment("a", "t3_s", "Why?"), comment("b", "t1_a", "Because I ask.")]
    assert short(pairs(write(tmp_path / "a.jsonl", thread))) == [("How long? / Why?", "Because I ask.")]


# --- what is left out ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "author", "reason", "of_answers"),
    [
        ("[deleted]", "[deleted]", "deleted", "to one that is deleted"),
        ("[removed]", "a", "deleted", "to one that is deleted"),
        ("", "a", "empty", "to one that is empty"),
        ("I am here", "AutoModerator", "by a bot", "to one that is by a bot"),
        ("http://example.org", "a", "links only", "to one that is links only"),
        ("&gt; How long?", "a", "quotes only", "to one that is quotes only"),
        ("&gt; How long?\n\nThree minutes.", "a", "quote", None),
        ("Three.", "a", "too short", None),
        ("a b c d e f g h i j", "a", "too long", None),
    ],
)
def test_exclusions_are_counted_by_reason(
    tmp_path: Path, body: str, author: str, reason: str, of_answers: str | None
) -> None:
    tally = Tally()
    thread = [THREAD[0], comment("a", "t3_s", body, author=author), comment("b", "t1_a", "What is that?")]
    found = pairs(write(tmp_path / "a.jsonl", thread), tally)
    expected = {reason: 1} | ({of_answers: 1} if of_answers else {})
    assert tally.left_out == expected
    assert [pair.reply for pair in found] == ([] if of_answers else ["What is that?"])


def test_context_stops_at_a_deleted_turn(tmp_path: Path) -> None:
    thread = [THREAD[0], comment("a", "t3_s", "[deleted]"), *THREAD[2:]]
    assert short(pairs(write(tmp_path / "a.jsonl", thread))) == [
        ("No, four.", "With cold water?"),
        ("No, four. / With cold water?", "With any water."),
    ]


def test_duplicate_posts_are_left_out(tmp_path: Path) -> None:
    tally = Tally()
    assert len(pairs(write(tmp_path / "a.jsonl", THREAD + THREAD), tally)) == 5
    assert tally.left_out == {"read twice": 6}


def test_bad_lines_are_counted_and_blank_lines_ignored(tmp_path: Path) -> None:
    (path := tmp_path / "a.jsonl").write_text(
        "\n".join(["{", json.dumps(THREAD[0]), "", "[]", "  ", json.dumps(THREAD[1]), '{"title": 1}', "{"])
    )
    tally = Tally()
    assert short(pairs(path, tally)) == [("How long?", "Two minutes.")]
    assert tally.bad == {"not JSON": 2, "no object": 1, "missing field": 1}
    assert tally.lines == 6


def test_overlong_line_is_counted_as_bad(tmp_path: Path) -> None:
    tally = Tally()
    pairs(write(tmp_path / "a.jsonl", [*THREAD[:2], comment("z", "t3_s", "x" * (1 << 22))]), tally)
    assert tally.bad == {"too long a line": 1}


def test_reading_continues_after_a_broken_file(tmp_path: Path) -> None:
    (tmp_path / "RC_2006-01.bz2").write_bytes(b"no archive")
    good = write(tmp_path / "RC_2006-02", THREAD)
    tally = Tally()
    found = list(read_reddit([tmp_path / "RC_2006-01.bz2", good], LIMITS, lambda _: True, tally))
    assert len(found) == 5
    (message,) = tally.broken
    assert message.startswith(f"{tmp_path / 'RC_2006-01.bz2'}: reading failed (")


def test_unopenable_file_raises_data_error(tmp_path: Path) -> None:
    (tmp_path / "RC_2006-01").mkdir()
    with pytest.raises(DataError, match="RC_2006-01 cannot be opened"):
        pairs(tmp_path / "RC_2006-01", Tally())


# --- several files ---------------------------------------------------------------------------------------------------


def test_files_are_ordered_by_month_then_name() -> None:
    files = map(
        Path,
        (
            *("x/b.jsonl", "RC_2011-02.zst", "RC_2010-12.bz2", "RS_2011-02.zst", "RS_v2_2010-12.xz", "a.jsonl"),
            *("tea_comments.zst", "r_teapots_posts.jsonl", "r_teapots_comments.jsonl", "tea_submissions.zst"),
        ),
    )
    assert [[path.name for path in month] for month in by_month(files)] == [
        ["RS_v2_2010-12.xz", "RC_2010-12.bz2"],  # Pushshift's name for submissions until 2010
        ["RS_2011-02.zst", "RC_2011-02.zst"],
        ["a.jsonl"],
        ["b.jsonl"],
        ["r_teapots_posts.jsonl", "r_teapots_comments.jsonl"],
        ["tea_submissions.zst", "tea_comments.zst"],
    ]


@pytest.mark.parametrize("names", [("RC_2011-02", "RS_2011-02"), ("tea_comments.jsonl", "tea_submissions.jsonl")])
def test_comments_and_submissions_of_a_month_or_subreddit_are_merged_by_time(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    """A submission is thus read shortly before its comments, and need not stay in the window for a month."""
    submissions = [submission(f"s{n}", "How long?", created_utc=str(10 * n)) for n in range(20)]
    comments = [comment(f"c{n}", f"t3_s{n}", "Two minutes.", link_id=f"t3_s{n}", created_utc=10 * n) for n in range(20)]
    files = [write(tmp_path / names[0], comments), write(tmp_path / names[1], submissions)]
    assert [post.name for post in posts_of(files, Tally())][:4] == ["t3_s0", "t1_c0", "t3_s1", "t1_c1"]
    found = list(read_reddit(files, Limits(2, 2, 9, 4), lambda _: True, Tally()))
    assert len(found) == 20


def test_dump_that_begins_with_the_newest_submission_gives_all_pairs(tmp_path: Path) -> None:
    """As the submissions of 2006 do. Each comment comes a second after the submission that it answers."""
    submissions = [submission(f"s{n}", f"Title {n}", created_utc=10 * n) for n in range(20)]
    comments = [
        comment(f"c{n}", f"t3_s{n}", "Two minutes.", link_id=f"t3_s{n}", created_utc=10 * n + 1) for n in range(20)
    ]
    files = [write(tmp_path / "RS_2006-02", submissions[::-1]), write(tmp_path / "RC_2006-02", comments)]
    tally = Tally()
    found = list(read_reddit(files, LIMITS, lambda _: True, tally))
    assert [(pair.comment, pair.context) for pair in found] == [(f"t1_c{n}", (f"Title {n}",)) for n in range(20)]
    assert not tally.late


def test_posts_too_far_out_of_order_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two posts to choose from, 5 4 3 2 1 is read as 4 3 2 1 5: three are earlier than the one before."""
    monkeypatch.setattr(reader, "NEARBY", 1)
    posts = [submission(f"s{n}", f"Title {n}", created_utc=n) for n in range(5, 0, -1)]
    path = write(tmp_path / "RS_2006-02", posts)
    tally = Tally()
    assert [post.name for post in posts_of([path], tally)] == ["t3_s4", "t3_s3", "t3_s2", "t3_s1", "t3_s5"]
    assert tally.late == {str(path): 3}


def test_threads_continue_across_months(tmp_path: Path) -> None:
    files = [write(tmp_path / "RC_2011-01", THREAD[1:3]), write(tmp_path / "RC_2011-02", THREAD[3:])]
    found = list(read_reddit(files, LIMITS, lambda _: True, Tally()))
    assert [pair.comment for pair in found] == ["t1_b", "t1_c", "t1_d", "t1_e"]


# --- memory ----------------------------------------------------------------------------------------------------------


def long_dump(lines: int) -> Iterator[str]:
    """Yield comments, each of which replies to the one 50 lines before it."""
    text = "some words that are the same in each line but for a number " * 2
    for n in range(lines):
        yield (
            f'{{"id":"{n}","parent_id":"t1_{max(0, n - 50)}","link_id":"t3_{n % 50}","author":"a","subreddit":"s",'
            f'"body":"{text}{n}","created_utc":{n}}}\n'
        )


READ = """
import resource, sys
from pathlib import Path
from parlai_empathy.tasks.reddit import reader
from parlai_empathy.tasks.reddit.reader import Limits, read_reddit
from parlai_empathy.tasks.reddit.tally import Tally

reader.NEARBY = 1_000
limits = Limits(window=500, min_words=2, max_words=50, history=4)
for number, _ in enumerate(read_reddit([Path(sys.argv[1])], limits, lambda _: True, Tally()), start=1):
    if number == 3_000:
        early = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(number, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - early)
"""


def test_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    """The peak memory of the process after 100,000 lines (25 MB) is within 4 MB of that after 3,000."""
    with (path := tmp_path / "a.jsonl").open("w") as file:
        file.writelines(long_dump(100_000))
    result = succeeded(run([sys.executable, "-c", READ, path], tmp_path))
    number, kilobytes = map(int, result.stdout.split())
    assert number == 99_999  # the first replies to itself
    assert kilobytes < 4_000


def peak_of_reading(path: Path, lines: int) -> int:
    """Return Python's peak memory in bytes while reading a dump of ``lines`` lines."""
    with path.open("w") as file:
        file.writelines(long_dump(lines))
    tracemalloc.start()
    number = sum(1 for _ in read_reddit([path], Limits(100, 2, 50, 4), lambda _: True, Tally()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert number == lines - 1
    return peak


def test_peak_memory_does_not_exceed_the_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """4,500 more lines of 250 bytes each are more than a megabyte; a window of 100 posts takes less than 100 KB."""
    monkeypatch.setattr(reader, "NEARBY", 100)
    peaks = [peak_of_reading(tmp_path / "a.jsonl", lines) for lines in (1_500, 6_000)]
    assert peaks[1] - peaks[0] < 100_000


# --- random dumps -----------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "c", "d"])
FULL_NAMES = st.builds(lambda kind, name: f"{kind}_{name}", st.sampled_from(["t1", "t3"]), NAMES)
BODIES = st.sampled_from(["Hello there.", "[deleted]", "", "&gt; a", "&gt; a\nb c", "x", "http://a.b"]) | st.text()
RECORDS = st.one_of(
    st.builds(submission, NAMES, BODIES),
    st.builds(comment, NAMES, FULL_NAMES, BODIES, link_id=FULL_NAMES, author=st.sampled_from(["a", "a_bot", None])),
    st.sampled_from([{}, [], None, 1]),
)


@settings(max_examples=150)
@given(st.lists(RECORDS, max_size=12), st.integers(1, 6), st.sampled_from([-1, 1, 2]), st.integers(1, 3))
def test_every_line_is_counted_exactly_once(records: list[Any], window: int, history: int, shares: int) -> None:
    limits = Limits(window, 2, 9, history)
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "a.jsonl", records)
        tallies = [Tally() for _ in range(3 * shares)]
        folds = [(fold, share) for fold in ("train", "valid", "test") for share in range(shares)]
        for tally, (fold, share) in zip(tallies, folds, strict=True):
            for pair in read_reddit([path], limits, thread_filter(fold, share, shares), tally):
                assert pair.context
                assert all(pair.context)
                assert pair.reply
                total[pair.comment] += 1
    for tally in tallies:
        others = tally.submissions + tally.elsewhere + tally.left_out.total() + tally.bad.total()
        assert tally.pairs + others == tally.lines == len(records)
    # Each valid line belongs to exactly one of the readers.
    assert sum(tally.lines - tally.elsewhere - tally.bad.total() for tally in tallies) == sum(
        tally.lines - tally.bad.total() for tally in tallies[:1]
    )
    assert total.total() == sum(tally.pairs for tally in tallies)


# --- real dumps ------------------------------------------------------------------------------------------------------


def test_pairs_of_a_real_dump_agree_with_a_plain_search(real_data: Path) -> None:
    """Compared with a plain search for each comment's parent among the comments before it, without filters."""
    path = real_data / "reddit" / "RC_2006-01.bz2"
    before: dict[str, str] = {}
    answers = set()
    for line in bz2.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n"):
        record = json.loads(line)
        if "[deleted]" not in (record["body"], before.get(record["parent_id"], "[deleted]")):
            answers.add("t1_" + record["id"])
        before["t1_" + record["id"]] = record["body"]
    tally = Tally()
    found = {pair.comment for pair in pairs(path, tally, window=10**6, min_words=1, max_words=10**6)}
    assert found <= answers
    assert len(found) > 0.8 * len(answers)
    known = {"deleted", "to one that is deleted", "to an unknown submission", "to an unknown comment"}
    filtered = sum(count for reason, count in tally.left_out.items() if reason not in known)
    assert len(answers) - len(found) <= filtered


def test_comments_of_real_dumps_find_the_submissions_that_they_answer(real_data: Path) -> None:
    """The files of submissions begin with the newest one. Compared with a search among all, whatever their order."""
    files = [real_data / "reddit" / f"{kind}_2006-0{month}.bz2" for kind in ("RC", "RS") for month in (1, 2)]
    records = [json.loads(line) for file in files for line in bz2.decompress(file.read_bytes()).splitlines()]
    titles = {f"t3_{record['id']}": record["title"] for record in records if "title" in record}
    answered = {
        f"t1_{record['id']}": titles[record["parent_id"]]
        for record in records
        if record.get("parent_id") in titles and record["body"] != "[deleted]"
    }
    found = read_reddit(files, Limits(10**6, 1, 10**6, 4), lambda _: True, Tally())
    contexts = {pair.comment: pair.context for pair in found if pair.comment in answered}
    assert len(contexts) > 0.8 * len(answered)
    assert all(words(context[0])[:3] == words(answered[name])[:3] for name, context in contexts.items())


def words(text: str) -> list[str]:
    return html.unescape(text).split()
