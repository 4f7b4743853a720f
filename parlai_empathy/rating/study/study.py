"""A study as data: what is rated, the questions, the numbers of ratings, and the texts that raters read.

:mod:`~parlai_empathy.rating.study.study_file` reads a study from a file and describes its keys.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.study.questions import Question

KINDS = ("likert", "pairwise", "chat", "collect")
GOLD = "gold"
"""The name of the system whose replies are the references."""

RATER = "rater"
"""The speaker of a person's messages in a chat; the model's are under the model's name."""


@dataclass(frozen=True)
class SystemLog:
    """A log with the replies of one or more systems.

    :param name: the system's name in files of ratings.
    :param file: a log in one of the formats of :mod:`parlai_empathy.scoring.logs`.
    :param digest: of the file's bytes: a changed log makes another version of the study.
    """

    name: str
    file: str
    digest: str


@dataclass(frozen=True)
class ChatModel:
    """A model to chat with: its name in files of ratings, and its model file."""

    name: str
    file: str


@dataclass(frozen=True)
class Example:
    """An example shown with the instructions, with the right answers.

    :param answers: pairs of question id and answer, as raters read it.
    :param why: the reason for the answers.
    """

    context: tuple[str, ...]
    reply: str
    other_reply: str = ""
    answers: tuple[tuple[str, str], ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Check:
    """A gold check: an item with known answers, shown among the others to detect inattentive raters.

    :param expected: pairs of question id and right rating; for a preference 1 if ``reply`` is the better one.
    """

    context: tuple[str, ...]
    reply: str
    expected: tuple[tuple[str, float], ...]
    other_reply: str = ""


@dataclass(frozen=True)
class Study:
    """A study, as :func:`~parlai_empathy.rating.study.study_file.read_study` returns it.

    :param name: its name in the store.
    :param kind: one of :data:`KINDS`.
    :param consent: the text that raters must agree to first; empty for none.
    :param gold: whether the references are rated too, as a system of their own.
    :param whole_dialogues: whether whole conversations are judged instead of single replies.
    :param context_turns: how many turns before the reply are shown (the last ones); None for all.
    :param pairs: the pairs of systems that a pairwise study compares; empty for all.
    :param items_per_rater: maximum number of items for each rater, not counting gold checks.
    :param ratings_per_item: maximum number of raters for each item; None for no limit.
    :param ratings_per_system: once every system (in a pairwise study, every pair) has this many ratings, no new rater
        gets items; None for no such limit.
    :param minutes: time limit after which an unanswered item goes to others.
    :param shuffled: whether ties between items are broken at random instead of by the order of the logs.
    :param swap_sides: whether a pair's systems swap sides, balanced; if not, the first named is always on the left.
    :param least_turns: minimum length of a chat or collected conversation, counting both people's turns.
    :param most_turns: maximum length, likewise.
    """

    name: str
    title: str
    kind: str
    questions: tuple[Question, ...]
    instructions: str = ""
    examples: tuple[Example, ...] = ()
    consent: str = ""
    content_warning: str = ""
    systems: tuple[SystemLog, ...] = ()
    models: tuple[ChatModel, ...] = ()
    gold: bool = False
    whole_dialogues: bool = False
    context_turns: int | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    items_per_rater: int = 10
    ratings_per_item: int | None = 1
    ratings_per_system: int | None = None
    minutes: float = 30.0
    shuffled: bool = True
    swap_sides: bool = True
    checks: tuple[Check, ...] = ()
    checks_per_rater: int = 0
    seed: int = 0
    least_turns: int = 4
    most_turns: int = 8
    completion_text: str = ""
    completion_code: str = ""
    where: str = field(default="", compare=False)
    """The study's file, for error messages."""

    @cached_property
    def version(self) -> str:
        """A digest of the study, including the contents (not the paths) of logs, and the paths of model files."""
        return hashlib.sha256(json.dumps(_essence(self.as_record()), sort_keys=True).encode()).hexdigest()[:12]

    def changes(self, former: Mapping[str, Any]) -> list[str]:
        """Return the keys of a study's file by which this version differs from another one, sorted.

        :param former: the other version's :meth:`as_record`, read from JSON.
        """
        before, now = _essence(former), json.loads(json.dumps(_essence(self.as_record())))
        fields = [name for name in before | now if before.get(name) != now.get(name)]
        return sorted({_KEYS.get(name, name) for name in fields})

    @property
    def page_questions(self) -> tuple[Question, ...]:
        """The questions asked about a whole item or conversation."""
        return tuple(question for question in self.questions if not question.per_turn)

    @property
    def turn_questions(self) -> tuple[Question, ...]:
        """The questions asked about each of a model's turns."""
        return tuple(question for question in self.questions if question.per_turn)

    def as_record(self) -> dict[str, Any]:
        """The whole study as a dictionary, for JSON."""
        return dataclasses.asdict(self)

    def check_complete(self) -> None:
        """Check that the study names systems or models, which the included studies leave to the user.

        :raises OptionError: if it does not.
        """
        if self.kind in ("likert", "pairwise") and not self.systems:
            raise OptionError(
                f"{self.where}: no systems are named: pass --logs NAME=FILE, or set systems: in the study file"
            )
        if self.kind == "chat" and not self.models:
            raise OptionError(
                f"{self.where}: no models are named: pass --models NAME=FILE, or set models: in the study file"
            )


# The keys in a study's file of fields with other names; see study_file.py.
_KEYS = {
    "whole_dialogues": "judge",
    "shuffled": "order",
    "swap_sides": "sides",
    "least_turns": "turns",
    "most_turns": "turns",
    "completion_text": "completion",
    "completion_code": "completion",
}


def _essence(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what makes a version of a study: its record without the paths of its file and its logs."""
    logs = [{key: value for key, value in log.items() if key != "file"} for log in record["systems"]]
    return {**{key: value for key, value in record.items() if key != "where"}, "systems": logs}
