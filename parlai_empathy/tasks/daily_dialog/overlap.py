"""Find training dialogues that also occur in the validation or test split, completely or in part.

The authors collected the dialogues from web sites for learners of English, which copy from each other.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from parlai_empathy.tasks.daily_dialog.reader import Dialogue

_NO_WORD = re.compile(r"[\W_]+")


def without_overlap(dialogues: Iterable[Dialogue], held_out: Iterable[Dialogue]) -> list[Dialogue]:
    """Return the dialogues without a turn and answer that occur in ``held_out``, ignoring case and punctuation."""
    known = {exchange for dialogue in held_out for exchange in exchanges(dialogue)}
    return [dialogue for dialogue in dialogues if known.isdisjoint(exchanges(dialogue))]


def exchanges(dialogue: Dialogue) -> Iterator[tuple[str, str]]:
    """Yield each turn with its answer, as lower-case words."""
    turns = [_words(turn.text) for turn in dialogue.turns]
    return itertools.pairwise(turns)


def _words(text: str) -> str:
    return _NO_WORD.sub(" ", text.lower()).strip()
