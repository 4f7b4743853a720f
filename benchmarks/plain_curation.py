"""Curation of RED in a plain Python loop: the reference for the results and the speed of ``parlai curate_red``.

It reads JSON lines with the standard library, keeps all posts in dictionaries, and computes the paper's formulas post
by post. It does not score emotion or toxicity, and raises an exception on an invalid line.
"""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from parlai_empathy.metrics.specificity import specificity
from parlai_empathy.tasks.reddit import cleaning

WEIGHTS = {"ae": 3.0, "be": 1.0, "re": 3.0}
ALPHAS = {"ae": 18.0, "be": 2.0, "re": 1.0}


class Post(NamedTuple):
    """A comment or a submission."""

    name: str
    parent: str | None
    thread: str
    subreddit: str
    created: float
    score: int
    controversial: bool
    edited: bool
    text: str
    flaw: str | None
    words: int


def curate(lines: Iterable[str], kappa: float = 1.0, seed: int = 0) -> list[dict[str, Any]]:
    """Return the posts of RED for the lines of dumps, one record each, in the order of ``red.parquet``."""
    posts = read(lines)
    found = list(_measured(posts, reactions(posts)))
    medians = {name: statistics.median(max(one[name], 0) for one in found) for name in ("ae", "be", "re", "pv")}
    for one in found:
        one["engagement"] = _engagement(one, medians)
    mean = statistics.fmean(one["engagement"] for one in found)
    deviation = statistics.pstdev([one["engagement"] for one in found], mean)
    return list(_chosen(found, posts, mean, deviation, kappa, seed))


def read(lines: Iterable[str]) -> dict[str, Post]:
    """Return the posts by name: of several with the same name, the first."""
    posts: dict[str, Post] = {}
    for line in lines:
        if line.strip():
            post = _read(json.loads(line))
            posts.setdefault(post.name, post)
    return posts


def reactions(posts: dict[str, Post]) -> dict[str, list[Post]]:
    """Return the replies that count as reactions to a post, by its name."""
    replies: dict[str, list[Post]] = defaultdict(list)
    for post in posts.values():
        parent = posts.get(post.parent or "")
        if parent and _is_later(post, parent) and post.flaw not in ("deleted", "empty", "by a bot"):
            replies[parent.name].append(post)
    return replies


def _read(record: dict[str, Any]) -> Post:
    begins = "title" in record
    raw = "\n".join(filter(None, (record["title"], record.get("selftext")))) if begins else record["body"]
    text = cleaning.decoded(raw)
    flaw = cleaning.flaw_of(text, record.get("author") or "")
    left = cleaning.DELETED_LINE.sub("", text) if "[" in text else text
    own = cleaning.QUOTED_LINE.sub("", left)
    flaw = flaw or ("quote" if own != left else None)
    name = ("t3_" if begins else "t1_") + record["id"]
    return Post(
        name,
        None if begins else record["parent_id"],
        name if begins else record["link_id"],
        "u_" if record["subreddit"].startswith("u_") else record["subreddit"],
        float(record["created_utc"]),
        int(record["score"] if "score" in record else record["ups"]),
        bool(record.get("controversiality")),
        bool(record.get("edited")),
        own,
        flaw,
        specificity(own) if flaw in (None, "quote") else 0,
    )


def _is_later(reply: Post, post: Post) -> bool:
    if post.name.startswith("t3_") and reply.created == post.created:
        return True
    return (reply.created, len(reply.name), reply.name) > (post.created, len(post.name), post.name)


def _measured(posts: dict[str, Post], replies: dict[str, list[Post]]) -> Iterator[dict[str, Any]]:
    for post in posts.values():
        parent, answers = posts.get(post.parent or ""), replies.get(post.name)
        if not (parent and answers) or post.flaw or parent.flaw not in (None, "quote") or not _is_later(post, parent):
            continue
        yield {
            "name": post.name,
            "ae": max(answer.words for answer in answers) + 10 * sum(answer.edited for answer in answers),
            "be": 0 if post.controversial else post.score,
            "re": len(answers),
            "pv": 2 * len(replies[parent.name]) + max(parent.score, 0),
        }


def _engagement(one: dict[str, Any], medians: dict[str, float]) -> float:
    total = 0.0
    for name, weight in WEIGHTS.items():
        x = max(one[name], 0)
        adjusted = x + medians["pv"] / medians[name] * (x / one["pv"]) * x
        one[f"{name}_norm"] = adjusted / (adjusted + ALPHAS[name])
        total += weight * one[f"{name}_norm"]
    return math.floor(total / sum(WEIGHTS.values()) * 1e6 + 0.5) / 1e6


def _chosen(
    found: list[dict[str, Any]], posts: dict[str, Post], mean: float, deviation: float, kappa: float, seed: int
) -> Iterator[dict[str, Any]]:
    for one in found:
        one["z"] = (one["engagement"] - mean) / deviation
        one["drawn"] = hashlib.md5(f"{seed} {one['name']}".encode()).hexdigest()
    found.sort(key=lambda one: (one["drawn"], one["name"]))
    ends = [[one for one in found if one["z"] < -kappa], [one for one in found if one["z"] > kappa]]
    each = min(map(len, ends))
    labels = {one["name"]: label for label, end in enumerate(ends) for one in end[:each]}
    for one in found:
        if one["name"] in labels:
            post = posts[one["name"]]
            thread = hashlib.md5(f"{seed} fold {post.thread}".encode()).hexdigest()
            yield {
                "post": cleaning.clean(post.text),
                "parent": cleaning.clean(posts[post.parent or ""].text),
                "label": ("not engaging", "engaging")[labels[post.name]],
                "fold": "valid" if int(thread[:8], 16) < int(0.2 * 2**32) else "train",
                "subreddit": post.subreddit,
                **{key: one[key] for key in one if key not in ("name", "pv", "drawn")},
                "id": post.name,
            }
