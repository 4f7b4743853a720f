"""A HUMOD-like set from any dialogues: contexts with their true reply and with a random one, to be rated by people.

HUMOD was made in the same way from film dialogues (Merdivan et al. 2020, section 3): sample contexts, and for each draw
a second reply at random from all others.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.files.user_path import user_path
from parlai_empathy.files.whole_file import remedy, write_whole


@dataclass(frozen=True)
class Reply:
    """A reply and its context, oldest turn first."""

    context: tuple[str, ...]
    text: str


def replies_of(messages: Iterable[Mapping[str, Any]]) -> Iterator[Reply]:
    """Yield the replies of a ParlAI task, each with the whole conversation before it.

    If a message has several labels, each is a reply, and the conversation continues with the first.

    :param messages: a teacher's messages, in order, with ``text`` (one turn per line), ``labels`` and
        ``episode_done``.
    """
    turns: list[str] = []
    for message in messages:
        turns += _not_blank((message.get("text") or "").split("\n"))
        labels = _not_blank(message.get("labels") or message.get("eval_labels") or ())
        if turns:
            yield from (Reply(tuple(turns), label) for label in labels)
        turns = [] if message.get("episode_done") else [*turns, *labels[:1]]


def _not_blank(texts: Iterable[str]) -> list[str]:
    """Return the texts that are not blank, each on one line."""
    return [" ".join(text.split()) for text in texts if text.strip()]


def make_items(replies: Sequence[Reply], contexts: int, turns: range, seed: int) -> list[dict[str, Any]]:
    """Return two items per context, in the layout that the HUMOD reader reads.

    :param contexts: number of different contexts to sample.
    :param turns: the allowed numbers of turns of a context.
    :param seed: seed of the sample.
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
    """Draw a reply from the pool, uniformly, that never follows this context, ignoring case and punctuation."""
    known = set(map(_plain, true))
    if all(_plain(text) in known for text in pool):
        raise DataError("the task has no other reply to draw: use a larger task")
    while _plain(text := draw.choice(pool)) in known:
        pass
    return text


def _plain(text: str) -> str:
    """Return the text without case and punctuation; unchanged if nothing would be left."""
    return "".join(filter(str.isalnum, text.casefold())) or text


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
    """Write items atomically, one JSON object per line.

    :raises OptionError: if the file cannot be written.
    """
    path = user_path(path)
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
        write_whole(path, lines)
    except OSError as error:
        advice = remedy(error, "name another file")
        raise OptionError(f"--out {path} cannot be written ({error.strerror}): {advice}") from error
