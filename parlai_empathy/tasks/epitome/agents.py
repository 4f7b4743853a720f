"""The teachers of EPITOME: how much of each mechanism of empathy does a response show?

Each example is an episode of its own: a post in the text's first line, a response to it in the second.
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
from parlai_empathy.tasks.whole_teacher import WholeTeacher


class EpitomeTeacher(WholeTeacher):
    """What the teachers below share: options, files, fold. Each says which mechanisms it asks for."""

    mechanisms: ClassVar[tuple[str, ...]] = MECHANISMS

    title = "EPITOME"
    build = staticmethod(build)

    def setup_data(self, datafile: str) -> Iterator[tuple[Message, bool]]:
        """Yield one message a pair of the fold, each the start of a new episode."""
        pairs = list(read_epitome(datafile))
        if lost := [quotation for pair in pairs for quotation in pair.lost]:
            logging.info(f"{datafile}: {len(lost)} quotation(s) of all folds are not in their response, and left out")
        given = split_pairs(pairs)[self.fold]
        if not given:
            raise DataError(f"{datafile}: it gives no pair to the {self.fold} fold")
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
    """What ``-t empathy:epitome`` asks for: the levels of all three mechanisms at once."""


class EmotionalReactionsTeacher(EpitomeTeacher):
    """The level of emotional reactions alone: warmth, compassion and concern."""

    mechanisms = ("emotional_reactions",)


class InterpretationsTeacher(EpitomeTeacher):
    """The level of interpretations alone: an understanding of feelings and experiences."""

    mechanisms = ("interpretations",)


class ExplorationsTeacher(EpitomeTeacher):
    """The level of explorations alone: questions about what the post does not tell."""

    mechanisms = ("explorations",)
