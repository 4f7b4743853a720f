"""Contexts with all that was said next, and the new dialogues that can be put together from them."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from parlai_empathy.tasks.humod.reader import Pair


@dataclass(frozen=True)
class Exchange:
    """A context and its pairs: with the film's own reply, and with a random one."""

    context: tuple[str, ...]
    original: Pair | None
    random: Pair | None

    @property
    def human_replies(self) -> list[str]:
        """What the raters of both pairs would have said, in the file's order, each once; empty ones are left out."""
        pairs = [pair for pair in (self.original, self.random) if pair]
        return list(dict.fromkeys(text for pair in pairs for text in pair.human_replies if text))


def exchanges(pairs: Iterable[Pair]) -> list[Exchange]:
    """Put the pairs of each context together, in the order of the file.

    A context that occurs several times in the films gives several exchanges: its first original reply goes with its
    first random one, and so on.
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
    """Each context with the human replies to it."""
    replies: dict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
    for exchange in dialogues:
        replies[exchange.context].update(dict.fromkeys(exchange.human_replies))
    return {context: list(texts) for context, texts in replies.items()}


def choices(exchange: Exchange, known: Mapping[tuple[str, ...], Sequence[str]]) -> list[list[str]]:
    """What could be said at each turn of a dialogue, its last reply included (Merdivan et al. 2020, Figure 4).

    At a turn whose turns before are a context of the data set, these are the turn itself and the human replies to that
    context; at any other it is the turn alone.

    :param known: :func:`alternatives`.
    """
    reply = [exchange.original.reply] if exchange.original else []
    turns = [*exchange.context, *reply]
    return [list(dict.fromkeys([turn, *known.get(tuple(turns[:n]), [])])) for n, turn in enumerate(turns)]


def recombine(turns: Sequence[Sequence[str]], limit: int, seed: str = "") -> list[tuple[str, ...]]:
    """Dialogues that take one of the possible texts at each turn: all of them, or ``limit`` drawn without repetition.

    :param turns: the possible texts of each turn, all different.
    """
    count = math.prod(map(len, turns))
    numbers = range(count) if count <= limit else _draw(count, limit, random.Random(seed))
    return [_combination(turns, number) for number in numbers]


def _draw(count: int, limit: int, draw: random.Random) -> Iterable[int]:
    """``limit`` different numbers below ``count``, which may be too large for :func:`random.sample`."""
    drawn: dict[int, None] = {}
    while len(drawn) < limit:
        drawn[draw.randrange(count)] = None
    return drawn


def _combination(turns: Sequence[Sequence[str]], number: int) -> tuple[str, ...]:
    """The ``number``-th of all combinations, as a clock counts: the last turn changes the fastest."""
    chosen = []
    for texts in reversed(turns):
        number, index = divmod(number, len(texts))
        chosen.append(texts[index])
    return tuple(reversed(chosen))
