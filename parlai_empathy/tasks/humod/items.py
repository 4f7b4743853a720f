"""A HUMOD-like set from any dialogues: contexts with their true reply and with a random one, to be rated by people.

This is how HUMOD was made of film dialogues (Merdivan et al. 2020, section 3): sample contexts, and draw to each a
second reply at random from all others.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError


@dataclass(frozen=True)
class Reply:
    """A reply in its context, oldest turn first."""

    context: tuple[str, ...]
    text: str


def replies_of(messages: Iterable[Mapping[str, Any]]) -> Iterator[Reply]:
    """The replies of a ParlAI task, each with the whole conversation before it.

    :param messages: a teacher's, in order: ``text``, one turn a line, ``labels``, and ``episode_done``.
    """
    turns: list[str] = []
    for message in messages:
        turns += [line.strip() for line in (message.get("text") or "").split("\n") if line.strip()]
        label = next(iter(message.get("labels") or message.get("eval_labels") or ()), "").strip()
        if turns and label:
            yield Reply(tuple(turns), " ".join(label.split()))
        turns = [] if message.get("episode_done") else [*turns, *([label] if label else [])]


def make_items(replies: Sequence[Reply], contexts: int, turns: range, seed: int) -> list[dict[str, Any]]:
    """Two items a context, in the layout that the HUMOD reader takes.

    :param contexts: how many contexts to draw, each different.
    :param turns: how many turns a context may have.
    :param seed: decides what is drawn.
    :raises DataError: if there are too few contexts, or no other reply to draw.
    """
    draw = random.Random(seed)
    true: dict[tuple[str, ...], list[str]] = {}
    for reply in replies:
        true.setdefault(reply.context, []).append(reply.text)
    eligible = [context for context in true if len(context) in turns]
    if len(eligible) < contexts:
        raise DataError(
            f"the task has {len(eligible)} different contexts of {turns.start} to {turns.stop - 1} turns, not "
            f"{contexts}: ask for fewer, or for other numbers of turns"
        )
    pool = list(dict.fromkeys(reply.text for reply in replies))
    items = []
    for number, context in enumerate(draw.sample(eligible, contexts)):
        original = draw.choice(true[context])
        other = _other(pool, true[context], draw)
        items += [
            _item(2 * number, context, original, "original"),
            _item(2 * number + 1, context, other, "random_distractor"),
        ]
    return items


def _other(pool: Sequence[str], true: Sequence[str], draw: random.Random) -> str:
    """A reply from the pool, each as probable, that does not follow this context anywhere."""
    if len(set(pool) - set(true)) == 0:
        raise DataError("the task has no other reply to draw: take a larger one")
    while (text := draw.choice(pool)) in true:
        pass
    return text


def _item(number: int, context: tuple[str, ...], reply: str, kind: str) -> dict[str, Any]:
    return {
        "id": f"item_{number:05d}",
        "context": list(context),
        "reply": reply,
        "reply_kind": kind,
        "human_replies": [],
        "human_relevance_mean": None,
    }


def write_items(items: Sequence[dict[str, Any]], path: str | Path) -> None:
    """Write items, one JSON object a line: whole, or not at all."""
    path = Path(path)
    beside = path.with_name(path.name + ".part")
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        beside.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise DataError(f"--out {path} cannot be written ({error.strerror}): name another file") from error
