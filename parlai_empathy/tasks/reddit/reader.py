"""Read pairs of a comment and its context from Pushshift's dumps, in bounded memory."""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from parlai_empathy.tasks.reddit.cleaning import as_context, clean, decoded, flaw_of, reply_flaw_of
from parlai_empathy.tasks.reddit.lines import BrokenFileError, read_lines
from parlai_empathy.tasks.reddit.records import BadLine, Post, post_of_line
from parlai_empathy.tasks.reddit.reordering import reordered
from parlai_empathy.tasks.reddit.tally import Tally
from parlai_empathy.tasks.reddit.window import Turn, Window

_MONTH = re.compile(r"R[CS]_(?:v2_)?(\d{4}-\d{2}(?:-\d{2})?)")
_KIND = re.compile(r"_(?:comments|submissions|posts)\b")  # tea_comments.zst: dumps of one subreddit
_COMMENTS = re.compile(r"^RC_|_comments\b")
_TOO_LONG = BadLine("too long a line")
NEARBY = 1 << 16  # posts
"""How far a file may be out of order. Some are by hours; those of the first years begin with the newest submission."""


@dataclass(frozen=True)
class Limits:
    """The reader's limits.

    :param window: number of latest posts in which a parent is looked up.
    :param min_words: minimum number of words of a reply.
    :param max_words: maximum number of words of a reply; the context's turns are truncated to this many.
    :param history: maximum number of turns of the context; -1 for all that are known.
    """

    window: int
    min_words: int
    max_words: int
    history: int


@dataclass(frozen=True)
class Pair:
    """A reply and the turns before it, oldest first.

    :param comment: full name of the reply.
    :param thread: full name of the thread's submission.
    :param turn: the reply's position in the thread, the submission's being 1; the lowest possible one if some earlier
        turns are not in the window.
    """

    context: tuple[str, ...]
    reply: str
    comment: str
    thread: str
    subreddit: str
    turn: int


def read_reddit(
    files: Iterable[Path], limits: Limits, is_wanted: Callable[[str], bool], tally: Tally
) -> Iterator[Pair]:
    """Yield the pairs of the dumps, in chronological order.

    :param files: dumps of comments and of submissions. Those of the same month or subreddit are merged by time.
    :param is_wanted: whether to read a thread, given its submission's full name.
    :param tally: counts what is read and left out.
    :raises DataError: if a file cannot be opened. A broken file is read as far as possible.
    :raises MissingDependencyError: for a ``.zst`` file, if zstandard is not installed.
    """
    window = Window(limits.window)
    for position, post in enumerate(posts_of(files, tally), start=1):
        if not is_wanted(post.thread):
            tally.elsewhere += 1
            continue
        window.move_to(position)
        if post.name in window:
            tally.left_out["read twice"] += 1
        else:
            pair = _pair(post, position, window, limits)
            if isinstance(pair, Pair):
                tally.pairs += 1
                yield pair
            elif pair is None:
                tally.submissions += 1
            else:
                tally.left_out[pair] += 1


def _pair(post: Post, position: int, window: Window, limits: Limits) -> Pair | str | None:
    """Add a post to the window. Return its pair, or why it gives none, or None for a submission."""
    parent = window.get(post.parent)
    text = decoded(post.text)
    flaw = flaw_of(text, post.author)
    depth = _depth(post, parent)
    kept = "" if flaw else as_context(text, limits.max_words)
    window.add(post.name, Turn(position, post.parent, kept, flaw, depth))
    if post.parent is None:
        return None
    reason = flaw or reply_flaw_of(text, limits.min_words, limits.max_words)
    if reason:
        return reason
    if parent is None:
        return "to an unknown submission" if post.parent.startswith("t3_") else "to an unknown comment"
    if parent.flaw:
        return f"to one that is {parent.flaw}"
    turns = itertools.islice(window.turns_up_to(parent), None if limits.history == -1 else limits.history)
    context = tuple(turn.text for turn in turns)[::-1]
    return Pair(context, clean(text), post.name, post.thread, post.subreddit, depth)


def _depth(post: Post, parent: Turn | None) -> int:
    if post.parent is None:
        return 1
    if parent:
        return parent.depth + 1
    return 2 if post.parent.startswith("t3_") else 3


def posts_of(files: Iterable[Path], tally: Tally) -> Iterator[Post]:
    """Yield the posts of all files, month by month or subreddit by subreddit, within which they are merged by time."""
    for month in by_month(files):
        yield from heapq.merge(*(_by_time(path, tally) for path in month), key=attrgetter("created"))


def by_month(files: Iterable[Path]) -> list[Sequence[Path]]:
    """Group the files by month, in order. Files without a month in their names come last, grouped by subreddit.

    Within a group, dumps of comments come last, so that of two posts of the same second a submission comes first.
    """
    files = sorted(files, key=lambda path: (_when(path), bool(_COMMENTS.search(path.name)), path.name))
    return [list(group) for _, group in itertools.groupby(files, key=_when)]


def _when(path: Path) -> tuple[int, str]:
    found = _MONTH.match(path.name)
    return (0, found[1]) if found else (1, _KIND.sub("", path.name))


def _by_time(path: Path, tally: Tally) -> Iterator[Post]:
    latest = 0.0
    for post in reordered(_posts(path, tally), NEARBY, key=attrgetter("created")):
        if post.created < latest:
            tally.late[str(path)] += 1
        latest = max(latest, post.created)
        yield post


def _posts(path: Path, tally: Tally) -> Iterator[Post]:
    try:
        for number, line in read_lines(path):
            if line is not None and not line.strip():
                continue
            tally.lines += 1
            post = _TOO_LONG if line is None else post_of_line(line)
            if isinstance(post, BadLine):
                tally.add_bad(path, number, post)
            else:
                yield post
    except BrokenFileError as error:
        tally.broken.append(str(error))
