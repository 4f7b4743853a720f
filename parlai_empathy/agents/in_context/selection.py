"""Selects examples for a conversation (Lee et al. 2022): at random, or by similarity.

============= =========================================================================================================
``random``    at random; the same for the same conversation, regardless of order and batching
``context``   those whose turns before the last reply are most similar to the conversation's
``sitsm``     those whose situation is most similar to the conversation's, which only an oracle knows
``emositsm``  like ``sitsm``, among those with the conversation's emotion; without an oracle, like ``context``, among
              those with the emotion that a classifier predicts from the turns
============= =========================================================================================================

Similarity is the cosine of the texts' sentence vectors.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.agents.in_context.example_source import LONGEST_CONTEXT, Conversation
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.encoders.sentence_encoder import Vectors

SELECTIONS = ("context", "random", "sitsm", "emositsm")


class Query(NamedTuple):
    """A conversation that needs examples.

    :param turns: oldest first; the last one is the person's.
    :param conv_id: its id in the data set, if any, so that it is not its own example.
    :param situation: known only with an oracle, otherwise None; likewise ``emotion``.
    """

    turns: tuple[str, ...]
    conv_id: str | None = None
    situation: str | None = None
    emotion: str | None = None

    @property
    def context(self) -> str:
        """The text that is compared with the contexts of examples."""
        return "\n".join(self.turns[-LONGEST_CONTEXT:])


class Chosen(NamedTuple):
    """The examples selected for a conversation.

    :param examples: the most similar one last; fewer than requested if there are no more.
    :param emotion: the emotion that they share, if they were selected by it.
    """

    examples: tuple[Conversation, ...]
    emotion: str | None = None


@dataclass(frozen=True)
class Selector:
    """Selects examples.

    :param conversations: the candidates.
    :param count: number of examples, at least 1.
    :param selection: one of :data:`SELECTIONS`.
    :param oracle: whether queries contain their situation and emotion. Not for ``random`` and ``context``.
    :param seed: for ``random``.
    :param vectors: of the conversations' situations with an oracle, of their contexts without: ``(n, dim)``, of unit
        length. None for ``random``. The queries' vectors come from ``encode``.
    :param predict: predicts the emotion of each text; for ``emositsm`` without an oracle.
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
        """Select examples for each query.

        :raises OptionError: if there is an oracle, but a query lacks its situation or emotion.
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
            Chosen(self._most_similar(query, emotion, row), emotion)
            for query, emotion, row in zip(queries, emotions, likeness, strict=True)
        ]

    def _drawn(self, query: Query) -> Chosen:
        draw = random.Random(f"{self.seed}\n{query.context}")
        # Draw one more than needed, because the conversation itself may be among them.
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

    def _most_similar(
        self, query: Query, emotion: str | None, likeness: NDArray[np.float32]
    ) -> tuple[Conversation, ...]:
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
            f"--oracle true: a message of this task has no {name}; use -t empathy:empathetic_dialogues:LastReply, or "
            "--oracle false --select context"
        )
    return value
