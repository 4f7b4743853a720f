"""Contexts with all replies to them, and the new dialogues that can be recombined from these."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from parlai_empathy.tasks.humod.records import Pair


@dataclass(frozen=True)
class Exchange:
    """A context with its pairs: that of the film's own reply, and that of a random reply."""

    context: tuple[str, ...]
    original: Pair | None
    random: Pair | None

    @property
    def human_replies(self) -> list[str]:
        """The distinct replies that the raters of both pairs wrote, in file order, without empty ones."""
        pairs = [pair for pair in (self.original, self.random) if pair]
        return list(dict.fromkeys(text for pair in pairs for text in pair.human_replies if text))


def exchanges(pairs: Iterable[Pair]) -> list[Exchange]:
    """Group the pairs by context, in file order.

    A context that occurs several times in the films yields several exchanges: its first original reply is combined with
    its first random one, and so on.
    """
    by_context: dict[tuple[str, ...], tuple[list[Pair], list[Pair]]] = defaultdict(lambda: ([], []))
    for pair in pairs:
        by_context[pair.context][0 if pair.is_original else 1].append(pair)
    return [
        Exchange(context, *(of_kind[n] if n < len(of_kind) else None for of_kind in kinds))
        for context, kinds in by_context.items()
        for n in range(max(map(len, kinds)))
    ]


def alternatives(dialogues: Iterable[Exchange]) -> dict[tuple[str, ...], list[str]]:
    """Return the human replies to each context."""
    replies: dict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
    for exchange in dialogues:
        replies[exchange.context].update(dict.fromkeys(exchange.human_replies))
    return {context: list(texts) for context, texts in replies.items()}


def choices(exchange: Exchange, known: Mapping[tuple[str, ...], Sequence[str]]) -> list[list[str]]:
    """Return the possible texts of each turn of a dialogue, including its last reply (Merdivan et al. 2020, Figure 4).

    If the turns before a turn are a context of the data set, these are the turn itself and the human replies to that
    context; otherwise only the turn itself.

    :param known: the result of :func:`alternatives`.
    """
    reply = [exchange.original.reply] if exchange.original else []
    turns = [*exchange.context, *reply]
    return [list(dict.fromkeys([turn, *known.get(tuple(turns[:n]), [])])) for n, turn in enumerate(turns)]


def recombine(turns: Sequence[Sequence[str]], limit: int, seed: str = "") -> list[tuple[str, ...]]:
    """Return dialogues with one of the possible texts at each turn: all, or ``limit`` sampled without replacement.

    :param turns: the possible texts of each turn, all different.
    """
    count = math.prod(map(len, turns))
    numbers = range(count) if count <= limit else _draw(count, limit, random.Random(seed))
    return [_combination(turns, number) for number in numbers]


def _draw(count: int, limit: int, draw: random.Random) -> Iterable[int]:
    """Return ``limit`` different numbers below ``count``, which may be too large for :func:`random.sample`."""
    drawn: dict[int, None] = {}
    while len(drawn) < limit:
        drawn[draw.randrange(count)] = None
    return drawn


def _combination(turns: Sequence[Sequence[str]], number: int) -> tuple[str, ...]:
    """Return the ``number``-th of all combinations. The last turn varies fastest."""
    chosen = []
    for texts in reversed(turns):
        number, index = divmod(number, len(texts))
        chosen.append(texts[index])
    return tuple(reversed(chosen))
