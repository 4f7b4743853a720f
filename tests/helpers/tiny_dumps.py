"""Small, invented dumps of Reddit, and the plain Python curation that serves as the reference."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import json
import lzma
import random
import statistics
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray
from pyarrow import parquet

from parlai_empathy.curation.curate import FILE, Curated, Plan, curate
from parlai_empathy.curation.recipe import Recipe

PACKERS = {
    ".bz2": bz2.compress,
    ".gz": partial(gzip.compress, mtime=0),  # the same bytes each time: parallel test runs compare parameters
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}
KAPPA = 0.3217  # low enough that small dumps give posts; no post is at exactly this distance
LARGE = 160  # posts; enough that some are always chosen

GOOD = (
    "The cat sat on the mat in Rome.",
    "Bread rises slowly, cake rises quickly, soup never rises.",
    "Is it?",
    "Nobody expected such weather at our garden party!",
    "Tea &amp; cakes taste wonderful",
    "Z\u00fcrich\u00a0rocks",
    "[Look here](http://e.example/a) at these seven purple lanterns",
    "one two three",
)
ODD = (
    "[deleted]",
    "[removed]",
    "&gt; somebody said this\nand this answers them",
    "> nothing but a quote",
    "http://e.example/only",
    "[only](http://e.example/link)",
    "",
    "?!",
    "I'm a bot, beep boop",
)
AUTHORS = ("xqanna", "xqberta", "xqcarl", None, "[deleted]", "AutoModerator", "xqweather_bot")


class ByLength:
    """A text scorer: the longer a text, the higher its score."""

    def __init__(self, signature: str = "by length") -> None:
        self.signature = signature

    def score(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the scores, ``(n,)``."""
        return np.array([min(1.0, len(text) / 60) for text in texts])


def comment(name: str, parent: str, **changes: Any) -> dict[str, Any]:
    """Return a comment in the format of dumps. ``parent`` is a full name."""
    return {
        "id": name,
        "parent_id": parent,
        "link_id": "t3_s0",
        "author": "xqanna",
        "subreddit": "baking",
        "body": "Bread rises slowly.",
        "created_utc": 100,
        "score": 1,
        "controversiality": 0,
        "edited": False,
        **changes,
    }


def submission(name: str, **changes: Any) -> dict[str, Any]:
    """Return a submission in the format of dumps."""
    return {
        "id": name,
        "title": "How does bread rise?",
        "selftext": "",
        "author": "xqberta",
        "subreddit": "baking",
        "created_utc": 10,
        "score": 3,
        **changes,
    }


def random_posts(count: int, seed: int = 1, draw: random.Random | None = None) -> list[dict[str, Any]]:
    """Return random threads: replies to anything, at any time, by anybody, with duplicates, as real dumps may have."""
    draw = draw or random.Random(seed)
    posts: list[dict[str, Any]] = []
    for number in range(count):
        again = draw.random() < 0.04 and number
        name = f"p{draw.randrange(number) if again else number:x}"
        made: dict[str, Any] = {"author": draw.choice(AUTHORS if draw.random() < 0.2 else AUTHORS[:3])}
        made["created_utc"] = draw.randrange(2 * count) if draw.random() < 0.1 else number // 3
        made["score"] = draw.randint(-3, 12)
        made["subreddit"] = draw.choice(("baking", "Gardening", "trains"))
        text = draw.choice(ODD if draw.random() < 0.12 else GOOD)
        if draw.random() < 0.08:
            selftext = draw.choice(("", "[removed]", *GOOD, None))
            posts.append(submission(name, **made, title=text or "No text", selftext=selftext))
            continue
        # Mostly a reply to a recent post; sometimes to any post, even to itself or to a later one.
        other = draw.randrange(count) if draw.random() < 0.1 else max(0, number - draw.randint(1, 12))
        kind = "t3_" if other < len(posts) and "title" in posts[other] else "t1_"
        made["created_utc"] = draw.choice((made["created_utc"], str(made["created_utc"])))
        made |= {"edited": draw.choice((False, False, False, True, 1136074029, None))}
        made |= {"controversiality": int(draw.random() < 0.1), "link_id": f"t3_s{number % 7}"}
        posts.append(comment(name, f"{kind}p{other:x}", **made, body=text))
    return posts


def lines(posts: Iterable[dict[str, Any]]) -> list[str]:
    """Return posts as the lines of a dump."""
    return [json.dumps(post) for post in posts]


def write_dump(path: Path, posts: Iterable[dict[str, Any]]) -> Path:
    """Write a dump, compressed according to its suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(f"{line}\n" for line in lines(posts)).encode()
    path.write_bytes(PACKERS.get(path.suffix, bytes)(content))
    return path


def run(dumps: Sequence[Path], folder: Path, **options: Any) -> Curated:
    """Curate dumps into a folder. ``recipe`` has the recipe's constants; other options are for the plan."""
    recipe = Recipe(**{"kappa": KAPPA, **options.pop("recipe", {})})
    plan = Plan(dumps, folder, recipe, **{"with_ids": True, "memory": "1GB", "threads": 1, **options})
    return curate(plan)


def records(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of ``red.parquet``."""
    found: list[dict[str, Any]] = parquet.read_table(folder / FILE).to_pylist()
    return found


def plainly(dumped: Iterable[str], kappa: float = KAPPA, seed: int = 0) -> list[dict[str, Any]]:
    """Return the posts that the plain Python loop chooses; none if a median is 0, or posts are too few or all equal."""
    try:
        found: list[dict[str, Any]] = _oracle().curate(dumped, kappa, seed)
    except (ZeroDivisionError, statistics.StatisticsError):
        return []
    return found


def plain_reactions(dumped: Iterable[str]) -> dict[str, list[Any]]:
    """Return the reactions to each post, by its name, that the plain Python loop finds."""
    found: dict[str, list[Any]] = _oracle().reactions(_oracle().read(dumped))
    return found


def _oracle() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "plain_curation.py"
    spec = importlib.util.spec_from_file_location("plain_curation", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
