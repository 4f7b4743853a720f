"""Teachers of EPITOME: the level of each mechanism of empathy in a response.

Each example is an episode of its own: the text's first line is a post, the second a response to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import parlai.utils.logging as logging

from parlai_empathy.task_kit.in_memory_teacher import InMemoryTeacher
from parlai_empathy.tasks.epitome.build import build
from parlai_empathy.tasks.epitome.mechanisms import LEVELS, MECHANISMS, in_words
from parlai_empathy.tasks.epitome.reader import read_epitome
from parlai_empathy.tasks.epitome.splits import split_pairs


class EpitomeTeacher(InMemoryTeacher):
    """Base class: options, files and fold. Subclasses select the mechanisms to predict."""

    mechanisms: ClassVar[tuple[str, ...]] = MECHANISMS

    title = "EPITOME"
    build = staticmethod(build)

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield one message per pair of the fold."""
        pairs = list(read_epitome(path))
        if lost := [quotation for pair in pairs for quotation in pair.lost]:
            logging.info(
                f"{path}: {len(lost)} quotation(s) of all folds were not found in their responses and are left out"
            )
        all_levels = product(LEVELS, repeat=len(self.mechanisms))
        candidates = [in_words(dict(zip(self.mechanisms, levels, strict=True))) for levels in all_levels]
        for pair in split_pairs(pairs)[self.fold]:
            levels = {mechanism: pair.levels[mechanism] for mechanism in self.mechanisms}
            yield {
                "text": f"{pair.seeker}\n{pair.response}",
                "labels": [in_words(levels)],
                "label_candidates": candidates,
                "levels": levels,
                "rationales": {name: [list(span) for span in pair.rationales[name]] for name in levels},
                "pair_id": f"{pair.seeker_id}/{pair.response_id}",
            }


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
