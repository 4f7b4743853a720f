"""Which training dialogues stand in the validation or test split too, whole or in part.

The authors collected the dialogues from web sites for learners of English, which copy from each other.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from parlai_empathy.tasks.daily_dialog.reader import Dialogue

_NO_WORD = re.compile(r"[\W_]+")


def without_overlap(dialogues: Iterable[Dialogue], held_out: Iterable[Dialogue]) -> list[Dialogue]:
    """The dialogues that share no turn and its answer with one of ``held_out``, case and punctuation apart."""
    known = {exchange for dialogue in held_out for exchange in exchanges(dialogue)}
    return [dialogue for dialogue in dialogues if known.isdisjoint(exchanges(dialogue))]


def exchanges(dialogue: Dialogue) -> Iterator[tuple[str, str]]:
    """Each turn with its answer, as lower-case words."""
    turns = [_words(turn.text) for turn in dialogue.turns]
    return itertools.pairwise(turns)


def _words(text: str) -> str:
    return _NO_WORD.sub(" ", text.lower()).strip()
