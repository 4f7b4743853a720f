"""The systems whose replies are scored, and their scores by all metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import parlai.utils.logging as logging

from parlai_empathy.errors import MissingDependencyError, NotComputableError, OptionError
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.scored import Scored
from parlai_empathy.signature import Number


class ReplyMetric(Protocol):
    """Scores all replies of one system."""

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        """Return one or more numbers.

        :param replies: at least one.
        :raises NotComputableError: if the replies lack what is needed.
        :raises MissingDependencyError: if a library is missing.
        """


@dataclass(frozen=True)
class System:
    """A system and its replies.

    :param replies: those that can be scored, empty ones included.
    :param no_answers: number of items without a reply to score, because the system's answer was unusable.
    :param places: each reply's index among all items; None if each item has a reply.
    :param items: identifies what each reply answers, to compare systems; None to use its context and references, or if
        it has neither, its name in the log, or if it has none, its index.
    """

    name: str
    replies: Sequence[LoggedReply]
    no_answers: int = 0
    places: Sequence[int] | None = None
    items: Sequence[object] | None = None

    @property
    def empty(self) -> int:
        """Number of empty replies."""
        return sum(not one.reply.strip() for one in self.replies)

    def place(self, reply: int) -> int:
        """Return a reply's index among all items, those without an answer included."""
        return reply if self.places is None else self.places[reply]

    def item(self, reply: int) -> object:
        """Return what identifies the item that a reply answers, the same for all systems."""
        if self.items is not None:
            return self.items[reply]
        one = self.replies[reply]
        return one.answers or one.item or self.place(reply)

    @property
    def size(self) -> int:
        """Number of items, those without an answer included."""
        return len(self.replies) + self.no_answers


@dataclass(frozen=True)
class SystemScores:
    """A system's scores.

    :param scores: by their keys.
    :param missing: one line for each metric that could not be computed, with the reason.
    """

    system: System
    scores: dict[str, Scored] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The system's name."""
        return self.system.name

    @property
    def numbers(self) -> dict[str, Number]:
        """The numbers by the scores' keys."""
        return {key: one.number for key, one in self.scores.items()}


def systems_of(name: str, log: Sequence[LoggedReply]) -> list[System]:
    """Return the systems of a log, one or more; ``name`` is the log's name.

    :raises OptionError: if some replies name their system and others do not.
    :raises NotComputableError: if a system has no reply that can be scored.
    """
    systems: dict[str, list[LoggedReply]] = {}
    for one in log:
        systems.setdefault(one.system, []).append(one)
    if len(systems) > 1 and "" in systems:
        raise OptionError(f"--logs {name}: some of its replies name their system, others do not")
    return [_system(f"{name}: {system}" if system else name, replies) for system, replies in systems.items()]


def systems_of_logs(logs: Mapping[str, Sequence[LoggedReply]]) -> list[System]:
    """Return the systems of all logs, which are given by name.

    :raises EmpathyError: as in :func:`systems_of`.
    """
    return [system for name, log in logs.items() for system in systems_of(name, log)]


def _system(name: str, log: Sequence[LoggedReply]) -> System:
    places = [place for place, one in enumerate(log) if not one.no_answer]
    if not places:
        raise NotComputableError(f"{name}: there is no reply to score: no answer could be used")
    return System(name, [log[place] for place in places], len(log) - len(places), places)


def score_systems(systems: Sequence[System], metrics: Mapping[str, ReplyMetric]) -> list[SystemScores]:
    """Score each system by each metric.

    :param metrics: by name.
    """
    found = [SystemScores(system) for system in systems]
    for name, metric in metrics.items():
        for one in found:
            logging.debug(f"{name}: {one.name}, {len(one.system.replies):,} replies")
            try:
                one.scores.update({scored.key: scored for scored in metric.score(one.system.replies)})
            except (NotComputableError, MissingDependencyError) as error:
                one.missing.append(str(error))
    return found


def common_items(first: System, second: System) -> list[tuple[int, int]]:
    """Return pairs of indices of the two systems' replies to the same items.

    Items are the same if they have the same context and references; in logs with neither, the same name; in logs
    without names, the same index among all items, if both systems have equally many. Replies to an item that occurs
    several times are paired in order, each once.
    """
    replies: dict[object, list[int]] = {}
    for reply in reversed(range(len(second.replies))):
        replies.setdefault(second.item(reply), []).append(reply)
    pairs = []
    for reply in range(len(first.replies)):
        item = first.item(reply)
        is_place = isinstance(item, int)
        others = replies.get(item)
        if others and (first.size == second.size or not is_place):
            pairs.append((reply, others.pop()))
    return pairs


def note_on_places(first: System, second: System) -> str | None:
    """Return what to know about replies that only their index can pair; None if neither system, or only one, has such.

    Nothing but their order says that two such replies answer the same.
    """
    if not all(any(isinstance(one.item(i), int) for i in range(len(one.replies))) for one in (first, second)):
        return None
    nameless = "replies without context, reference and item"
    if first.size == second.size:
        return f"{nameless} are paired by their place in the logs"
    return f"{nameless} are not compared, since the logs have {first.size:,} and {second.size:,}: add one of the three"
