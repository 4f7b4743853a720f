"""Choosing examples for a conversation (Lee et al. 2022): at random, or by what they have in common with it.

============= =========================================================================================================
``random``    any; the same ones for the same conversation, whatever is asked before it or with it
``context``   those whose turns before the last reply are most like the conversation's
``sitsm``     those whose situation is most like the conversation's, which only an oracle knows
``emositsm``  of those with the conversation's emotion the same; without an oracle, of those with the emotion that a
              classifier reads from the turns, the ones whose turns are most alike
============= =========================================================================================================

Two texts are as much alike as the cosine of their sentence vectors says.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.agents.in_context.conversations import LONGEST_CONTEXT, Conversation
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.sentence_encoder import Vectors

SELECTIONS = ("context", "random", "sitsm", "emositsm")


class Query(NamedTuple):
    """A conversation that examples are wanted for.

    :param turns: oldest first, the person's last.
    :param conv_id: its name in the data set, where it has one: it is no example of itself.
    :param situation: what an oracle says; None where there is none. The same holds for ``emotion``.
    """

    turns: tuple[str, ...]
    conv_id: str | None = None
    situation: str | None = None
    emotion: str | None = None

    @property
    def context(self) -> str:
        """What is compared with an example's context."""
        return "\n".join(self.turns[-LONGEST_CONTEXT:])


class Chosen(NamedTuple):
    """Examples for a conversation.

    :param examples: the most similar one last; fewer than asked for where there are no more.
    :param emotion: the one that they all have, if they were chosen by it.
    """

    examples: tuple[Conversation, ...]
    emotion: str | None = None


@dataclass(frozen=True)
class Selector:
    """Chooses examples.

    :param conversations: to choose from.
    :param count: how many examples, at least 1.
    :param selection: one of :data:`SELECTIONS`.
    :param oracle: whether queries bring their situation and emotion. Not for ``random`` and ``context``.
    :param seed: of ``random``.
    :param vectors: of the conversations' situations with an oracle, of their contexts without: ``(n, dim)``, each of
        length 1. None for ``random``. Vectors of the queries' texts come from ``encode``.
    :param predict: the emotion that each of some texts tells of; for ``emositsm`` without an oracle.
    """

    conversations: Sequence[Conversation]
    count: int
    selection: str
    oracle: bool = False
    seed: int = 0
    vectors: Vectors | None = None
    encode: Callable[[Sequence[str]], Vectors] | None = None
    predict: Callable[[Sequence[str]], list[str]] | None = None

    def choose(self, queries: Sequence[Query]) -> list[Chosen]:
        """Examples for each query.

        :raises OptionError: if there is an oracle, and a query does not say what it knows.
        """
        if not queries:
            return []
        if self.selection == "random":
            return [self._drawn(query) for query in queries]
        emotions = self._emotions(queries) if self.selection == "emositsm" else [None] * len(queries)
        assert self.vectors is not None
        assert self.encode is not None
        likeness = self.encode([self._compared(query) for query in queries]) @ self.vectors.T  # (queries, n)
        return [
            Chosen(self._most_alike(query, emotion, row), emotion)
            for query, emotion, row in zip(queries, emotions, likeness, strict=True)
        ]

    def _drawn(self, query: Query) -> Chosen:
        draw = random.Random(f"{self.seed}\n{query.context}")
        # One more than wanted, because the conversation itself may be among them.
        drawn = draw.sample(range(len(self.conversations)), min(self.count + 1, len(self.conversations)))
        others = [self.conversations[place] for place in drawn if self.conversations[place].conv_id != query.conv_id]
        return Chosen(tuple(others[: self.count]))

    def _emotions(self, queries: Sequence[Query]) -> list[str]:
        if not self.oracle:
            assert self.predict is not None
            return self.predict([query.context for query in queries])
        return [_known(query.emotion, "emotion") for query in queries]

    def _compared(self, query: Query) -> str:
        return _known(query.situation, "situation") if self.oracle else query.context

    def _most_alike(self, query: Query, emotion: str | None, likeness: NDArray[np.float32]) -> tuple[Conversation, ...]:
        best: list[Conversation] = []
        for place in np.argsort(-likeness, kind="stable"):
            conversation = self.conversations[place]
            if conversation.conv_id != query.conv_id and emotion in (None, conversation.emotion):
                best.append(conversation)
            if len(best) == self.count:
                break
        return tuple(reversed(best))


def _known(value: str | None, name: str) -> str:
    if value is None:
        raise OptionError(
            f"--oracle true: a message of this task has no {name}; take -t empathy:empathetic_dialogues:LastReply, or "
            "--oracle false --select context"
        )
    return value
