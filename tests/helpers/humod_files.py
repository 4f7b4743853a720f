"""HUMOD files for tests: valid and invalid rows, and helpers that read a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.humod.reader import read_humod
from parlai_empathy.tasks.humod.records import Pair

OneLine = Callable[..., None]
Write = Callable[..., Path]

OFFICIAL = [
    "Dialogue ID", "Dialogue Context", "Reply", "Label", "Worker ID", "Age", "Gender", "User Relevance Score",
    "User Reply", "Time",
]  # fmt: skip
GOOD = "0\tSpeaker 1: Hello.\tSpeaker 2: How are you?\tSpeaker 1: Fine.\t0\tW1\t30\tf\t4\tIt rains.\t12"
SECOND = "0\tSpeaker 1: Hello.\tSpeaker 2: How are you?\tSpeaker 1: Fine.\t0\tW2\t31\tm\t5\tWell.\t13"
OTHER = "1\tSpeaker 1: Hello.\tSpeaker 2: How are you?\tSpeaker 1: A boat.\t1\tW1\t30\tf\t1\tFine, you?\t14"
PAIR = Pair(
    pair_id="0",
    context=("Hello.", "How are you?"),
    reply="Fine.",
    is_original=True,
    ratings=(4,),
    mean_rating=4.0,
    human_replies=("It rains.",),
    raters=({"worker id": "W1", "age": "30", "gender": "f", "time": "12"},),
)
OBJECT = {
    "id": "a",
    "context": "Hello.\nHow are you?",
    "reply": "Fine.",
    "reply_kind": "original",
    "human_replies": ["It rains."],
    "human_relevance_mean": 4.0,
}


def read(path: Path) -> list[Pair]:
    return list(read_humod(path))


def skip(path: Path) -> tuple[list[Pair], list[str]]:
    """Read a file, skipping bad rows; return the pairs and the error messages."""
    bad: list[DataError] = []
    return list(read_humod(path, bad)), list(map(str, bad))


def changed(row: str, **fields: str) -> str:
    """Return a row, which has two turns before the reply, with other values; ``context`` is the first turn."""
    places = {"id": 0, "context": 1, "second": 2, "reply": 3, "label": 4, "rating": 8, "human": 9, "time": 10}
    found = row.split("\t")
    for name, value in fields.items():
        found[places[name]] = value
    return "\t".join(found)


# For each: the row, and the column and value that the error names.
BAD_ROWS = {
    "rating 0": (changed(GOOD, rating="0"), "User Relevance Score", "0"),
    "rating 6": (changed(GOOD, rating="6"), "User Relevance Score", "6"),
    "rating -1": (changed(GOOD, rating="-1"), "User Relevance Score", "-1"),
    "half a rating": (changed(GOOD, rating="4.5"), "User Relevance Score", "4.5"),
    "a word for a rating": (changed(GOOD, rating="good"), "User Relevance Score", "good"),
    "another alphabet's 4": (changed(GOOD, rating="\u0664"), "User Relevance Score", "\u0664"),
    "no rating": (changed(GOOD, rating=""), "User Relevance Score", ""),
    "no context": ("0\t \tSpeaker 1: Fine.\t0\tW1\t30\tf\t4\tIt rains.\t12", "Dialogue Context", " "),
    "a context of marks": ("0\tSpeaker 1: \tSpeaker 2:\tSpeaker 1: Fine.\t0\tW1\t30\tf\t4\tIt rains.\t12",
                           "Dialogue Context", "Speaker 1: \tSpeaker 2:"),
    "no reply": (changed(GOOD, reply=""), "Reply", ""),
    "a reply of blanks": (changed(GOOD, reply=" \u2003"), "Reply", " \u2003"),
    "a reply that is a mark": (changed(GOOD, reply="Speaker 1: "), "Reply", "Speaker 1: "),
    "two replies": (changed(GOOD, reply="Fine. Speaker 2: Is it?"), "Reply", "Fine. Speaker 2: Is it?"),
    "an unknown label": (changed(GOOD, label="2"), "Label", "2"),
    "no label": (changed(GOOD, label=""), "Label", ""),
    "a turn in the first column": (changed(GOOD, id="0 Speaker 2: Well?"), "Dialogue ID", "0 Speaker 2: Well?"),
    "too few fields": ("0\tSpeaker 1: Hello.\tFine.\t0\t3", "Age", "0\tSpeaker 1: Hello.\tFine.\t0\t3"),
}  # fmt: skip
