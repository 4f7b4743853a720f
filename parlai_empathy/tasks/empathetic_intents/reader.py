"""Read EmpatheticIntents: one folder per fold, one file per intent, one line ``number <SEP> utterance`` per example.

The files are the "lexically extended" ones: utterances of EmpatheticDialogues that people labelled, and others with
words that are typical of an intent (Welivita and Pu 2020).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from parlai_empathy.errors import DataError
from parlai_empathy.files.text_file import read_text

FOLDERS = {"train": "train", "valid": "validation", "test": "test"}
"""The authors' folder of each fold."""

# The file's name (the authors misspelt one), its intent, and the number at the beginning of its lines: the authors'
# classifier numbers the intents after the 32 emotions.
_INTENTS = {
    "agreeing": ("agreeing", 32),
    "acknowleding": ("acknowledging", 33),
    "encouraging": ("encouraging", 34),
    "consoling": ("consoling", 35),
    "sympathizing": ("sympathizing", 36),
    "suggesting": ("suggesting", 37),
    "questioning": ("questioning", 38),
    "wishing": ("wishing", 39),
    "neutral": ("neutral", 40),
}
FILES = tuple(_INTENTS)
INTENTS = tuple(intent for intent, _ in _INTENTS.values())
"""The nine intents, in the order of the authors' numbers."""

_BETWEEN = " <SEP> "


@dataclass(frozen=True)
class Intention:
    """An utterance and its intent, one of :data:`INTENTS`."""

    text: str
    intent: str


def read_empathetic_intents(folder: str | Path, fold: str) -> Iterator[Intention]:
    """Read a fold (``train``, ``valid`` or ``test``), intent by intent, in file order.

    :raises DataError: naming file and line, for a file that is missing, empty or not UTF-8, or a malformed line.
    """
    for file, (intent, number) in _INTENTS.items():
        path = Path(folder) / FOLDERS[fold] / f"{file}.txt"
        for line, text in enumerate(_lines(path), start=1):
            label, between, utterance = text.partition(_BETWEEN)
            if not between or label.strip() != str(number) or not utterance.strip():
                raise DataError(
                    f"{path}, line {line}: {text[:40]!r} is not of the form '{number}{_BETWEEN}utterance': use the "
                    "file as its authors published it"
                )
            yield Intention(utterance.strip(), intent)


def _lines(path: Path) -> list[str]:
    text = read_text(path, "each intent needs a file in each fold")
    if not text:
        raise DataError(f"{path} is empty: each intent has utterances in each fold, fetch it again")
    return text.removesuffix("\n").split("\n")  # not splitlines(): texts may contain other line breaks
