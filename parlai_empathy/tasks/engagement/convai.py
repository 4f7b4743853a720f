"""ConvAI's conversations with people's scores of engagement: the training data of Predictive Engagement.

Whole conversations were scored. Each of their replies has its conversation's label (Ghazarian et al. 2020): engaging
if the score is at least 3 of 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError
from parlai_empathy.files.text_file import read_text
from parlai_empathy.tasks.engagement.json_files import read_objects, text_of
from parlai_empathy.tasks.engagement.records import number, one_line

LABELS = ("0", "1")
"""Not engaging, and engaging. They are numbers, so that a judge's score is the probability of the second."""

_ENGAGING = 3  # of 5


@dataclass(frozen=True)
class Labelled:
    """A query, the reply to it, and whether the reply is engaging: one of :data:`LABELS`."""

    query: str
    reply: str
    label: str


@dataclass(frozen=True)
class Conversation:
    """A conversation of at least two alternating turns, and its label, one of :data:`LABELS`."""

    conversation_id: str
    turns: tuple[str, ...]
    label: str

    @property
    def pairs(self) -> list[Labelled]:
        """Each turn with the next one; if the conversation is not engaging, every other pair, as the authors do."""
        step = 1 if self.label == LABELS[1] else 2
        return [Labelled(query, reply, self.label) for query, reply in list(pairwise(self.turns))[::step]]


def read_conversations(path: str | Path) -> Iterator[Conversation]:
    """Read ``train_full.json``, in file order.

    Consecutive messages of one speaker are one turn. Conversations are left out if they have fewer than two turns, are
    between two programs, or were not scored by a person.

    :raises DataError: naming file, entry and field, for a field that is missing or of the wrong type.
    """
    for place, entry in enumerate(read_objects(path)):
        where = f"{path}, entry {place}"
        turns = _turns(_objects(entry, "thread", where), where)
        score = _score(entry, where)
        if len(turns) > 1 and score is not None:
            yield Conversation(str(entry.get("dialogId", place)), turns, LABELS[score >= _ENGAGING])


def split_conversations(conversations: Iterable[Conversation]) -> dict[str, list[Conversation]]:
    """Split as the authors do: of each label, the first 60 % are for training, 20 % for test, the rest for validation.

    :returns: the conversations by fold, in the given order, but those that are not engaging first.
    """
    folds: dict[str, list[Conversation]] = {"train": [], "valid": [], "test": []}
    all_of_them = list(conversations)
    for label in LABELS:
        those = [conversation for conversation in all_of_them if conversation.label == label]
        first, second = int(0.6 * len(those)), int(0.8 * len(those))
        folds["train"] += those[:first]
        folds["test"] += those[first:second]
        folds["valid"] += those[second:]
    return folds


def read_ids(path: str | Path) -> set[str]:
    """Return the ids of the conversations in ``50convs_AMT.txt``, whose replies were labelled individually.

    An id is the first field of a line.

    :raises DataError: if it cannot be read, or has no ids.
    """
    lines = read_text(path, "check its name").split("\n")
    ids = {line.split("\t")[0].strip() for line in lines if line.strip()}
    if not ids:
        raise DataError(f"{path} is empty, but says which conversations are for evaluation: fetch it again")
    return ids


def _objects(entry: dict[str, Any], field: str, where: str) -> list[dict[str, Any]]:
    found = entry.get(field)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise DataError(
            f"{where}: its field {field} is not a list of objects: use the file as its authors published it"
        )
    return found


def _turns(thread: list[dict[str, Any]], where: str) -> tuple[str, ...]:
    said = ((str(message.get("userId")), text_of(message, "text", f"{where}, thread")) for message in thread)
    turns = (one_line(" ".join(text for _, text in part)) for _, part in groupby(said, key=lambda one: one[0]))
    return tuple(turns)


def _score(entry: dict[str, Any], where: str) -> float | None:
    """Return the mean of the people's scores, rounded to a whole number; None if there are no scores."""
    people = {str(user.get("id")) for user in _objects(entry, "users", where) if user.get("userType") == "Human"}
    scores = [
        number(one.get("engagement"), f"{where}, evaluation.engagement")
        for one in _objects(entry, "evaluation", where)
        if str(one.get("userId")) in people
    ]
    return round(sum(scores) / len(scores)) if scores else None
