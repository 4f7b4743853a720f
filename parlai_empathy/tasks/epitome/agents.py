"""Teachers of EPITOME: the level of each mechanism of empathy in a response.

Each example is an episode of its own: the text's first line is a post, the second a response to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import ClassVar

import parlai.utils.logging as logging
from parlai.core.message import Message

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.epitome.build import build
from parlai_empathy.tasks.epitome.mechanisms import LEVELS, MECHANISMS, in_words
from parlai_empathy.tasks.epitome.reader import Pair, read_epitome
from parlai_empathy.tasks.epitome.splits import split_pairs
from parlai_empathy.tasks.in_memory_teacher import WholeTeacher


class EpitomeTeacher(WholeTeacher):
    """Base class: options, files and fold. Subclasses select the mechanisms to predict."""

    mechanisms: ClassVar[tuple[str, ...]] = MECHANISMS

    title = "EPITOME"
    build = staticmethod(build)

    def setup_data(self, datafile: str) -> Iterator[tuple[Message, bool]]:
        """Yield one message per pair of the fold, each the start of a new episode."""
        pairs = list(read_epitome(datafile))
        if lost := [quotation for pair in pairs for quotation in pair.lost]:
            logging.info(
                f"{datafile}: {len(lost)} quotation(s) of all folds were not found in their responses and are left out"
            )
        given = split_pairs(pairs)[self.fold]
        if not given:
            raise DataError(f"{datafile}: it has no pair for the {self.fold} fold")
        all_levels = product(LEVELS, repeat=len(self.mechanisms))
        candidates = [in_words(dict(zip(self.mechanisms, levels, strict=True))) for levels in all_levels]
        for pair in given:
            yield self._message(pair, candidates), True

    def _message(self, pair: Pair, candidates: list[str]) -> Message:
        levels = {mechanism: pair.levels[mechanism] for mechanism in self.mechanisms}
        return Message(
            {
                "text": f"{pair.seeker}\n{pair.response}",
                "labels": [in_words(levels)],
                "label_candidates": candidates,
                "levels": levels,
                "rationales": {name: [list(span) for span in pair.rationales[name]] for name in levels},
                "pair_id": f"{pair.seeker_id}/{pair.response_id}",
                "fold": self.fold,
            }
        )


class DefaultTeacher(EpitomeTeacher):
    """The default of ``-t empathy:epitome``: the levels of all three mechanisms at once."""


class EmotionalReactionsTeacher(EpitomeTeacher):
    """Only the level of emotional reactions: warmth, compassion and concern."""

    mechanisms = ("emotional_reactions",)


class InterpretationsTeacher(EpitomeTeacher):
    """Only the level of interpretations: an understanding of feelings and experiences."""

    mechanisms = ("interpretations",)


class ExplorationsTeacher(EpitomeTeacher):
    """Only the level of explorations: questions about what the post does not say."""

    mechanisms = ("explorations",)
