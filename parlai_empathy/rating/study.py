"""A study as data: what is rated, what is asked of it, of how many people, and what they read first.

:mod:`~parlai_empathy.rating.study_file` reads one from a file and describes its keys.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.questions import Question

KINDS = ("likert", "pairwise", "chat", "collect")
GOLD = "gold"
"""The system whose replies are the references."""


@dataclass(frozen=True)
class SystemLog:
    """Replies of a system, or of several.

    :param name: what ratings call the system.
    :param file: a log in one of the formats of :mod:`parlai_empathy.scoring.logs`.
    :param digest: of the file's bytes: another log makes another version of the study.
    """

    name: str
    file: str
    digest: str


@dataclass(frozen=True)
class ChatModel:
    """A model to chat with: its name in ratings, and its file."""

    name: str
    file: str


@dataclass(frozen=True)
class Example:
    """An item shown with the instructions, with the answers that it should get.

    :param answers: a question's id, and the answer as raters read it.
    :param why: the reason for the answers.
    """

    context: tuple[str, ...]
    reply: str
    other_reply: str = ""
    answers: tuple[tuple[str, str], ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Check:
    """A gold check: an item whose answers are known, shown among the others to see who reads.

    :param expected: a question's id, and the rating that is right; of a preference 1 if ``reply`` is the better one.
    """

    context: tuple[str, ...]
    reply: str
    expected: tuple[tuple[str, float], ...]
    other_reply: str = ""


@dataclass(frozen=True)
class Study:
    """What :func:`~parlai_empathy.rating.study_file.read_study` gives.

    :param name: what a store calls it.
    :param kind: one of :data:`KINDS`.
    :param consent: what raters must agree to first; empty if nothing.
    :param gold: whether the references are rated too, as a system of their own.
    :param whole_dialogues: whether conversations are judged, not single replies.
    :param context_turns: how many of the turns before the reply are shown, the newest; None for all.
    :param pairs: which systems are set against each other in a pairwise study; empty for all.
    :param items_per_rater: at most; gold checks come on top.
    :param ratings_per_item: how many raters judge an item, at most; None for no limit.
    :param ratings_per_system: as soon as every system (every pair, in a pairwise study) has so many, no new rater gets
        items; None if only ``ratings_per_item`` counts.
    :param minutes: after which an item that was not answered goes back.
    :param shuffled: whether equals are taken at random, not in the logs' order.
    :param swap_sides: whether a pair's systems change sides, balanced; else the first named always stands left.
    :param least_turns: of a chat or collected conversation, both people's together.
    :param most_turns: likewise.
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
    """The file, for errors."""

    @cached_property
    def version(self) -> str:
        """A digest of all that the study says: of logs the contents, wherever they lie; of models the files' names."""
        record = self.as_record()
        record.pop("where")
        for one in record["systems"]:
            one.pop("file")
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def page_questions(self) -> tuple[Question, ...]:
        """Those that are asked of an item or a conversation as a whole."""
        return tuple(question for question in self.questions if not question.per_turn)

    @property
    def turn_questions(self) -> tuple[Question, ...]:
        """Those that are asked of each of a model's turns."""
        return tuple(question for question in self.questions if question.per_turn)

    def as_record(self) -> dict[str, Any]:
        """All that the study says, for JSON."""
        return dataclasses.asdict(self)

    def check_complete(self) -> None:
        """See that there is something to rate: those studies that come along leave the systems to the user.

        :raises OptionError: if there is not.
        """
        if self.kind in ("likert", "pairwise") and not self.systems:
            raise OptionError(
                f"{self.where}: no systems are named: say --logs NAME=FILE, or systems: in a study's file"
            )
        if self.kind == "chat" and not self.models:
            raise OptionError(
                f"{self.where}: no models are named: say --models NAME=FILE, or models: in a study's file"
            )
