"""The systems whose replies are scored: who they are, and what all metrics say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import parlai.utils.logging as logging

from parlai_empathy.errors import MissingDependencyError, NotComputableError, OptionError
from parlai_empathy.metrics.number import Number
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.scored import Scored


class ReplyMetric(Protocol):
    """Scores all replies of one system."""

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        """One number or several.

        :param replies: at least one.
        :raises NotComputableError: if the replies lack what is needed.
        :raises MissingDependencyError: if a library is missing.
        """


@dataclass(frozen=True)
class System:
    """Who gave some replies.

    :param replies: those that can be scored; empty ones are among them.
    :param no_answers: how many items have no reply to be scored: the system's answer could not be used.
    :param places: of each reply among all items, from 0; None where each item has one.
    :param items: what each reply answers, by which systems are compared; None where its context and references say it,
        or else its place.
    """

    name: str
    replies: Sequence[LoggedReply]
    no_answers: int = 0
    places: Sequence[int] | None = None
    items: Sequence[object] | None = None

    @property
    def empty(self) -> int:
        """How many replies say nothing."""
        return sum(not one.reply.strip() for one in self.replies)

    def place(self, reply: int) -> int:
        """A reply's place among all items, from 0: what could not be answered has a place too."""
        return reply if self.places is None else self.places[reply]

    def item(self, reply: int) -> object:
        """What a reply answers: the same for all systems."""
        if self.items is not None:
            return self.items[reply]
        one = self.replies[reply]
        return one.answers or self.place(reply)


@dataclass(frozen=True)
class SystemScores:
    """What the metrics say of a system.

    :param scores: by their keys.
    :param missing: one line for each metric that says nothing of it.
    """

    system: System
    scores: dict[str, Scored] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The system's."""
        return self.system.name

    @property
    def numbers(self) -> dict[str, Number]:
        """The numbers by the scores' keys."""
        return {key: one.number for key, one in self.scores.items()}


def systems_of(name: str, log: Sequence[LoggedReply]) -> list[System]:
    """The systems of a log, which may be one or several; ``name`` is what the log is called.

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
    """The systems of all logs, by the logs' names.

    :raises EmpathyError: as :func:`systems_of`.
    """
    return [system for name, log in logs.items() for system in systems_of(name, log)]


def _system(name: str, log: Sequence[LoggedReply]) -> System:
    places = [place for place, one in enumerate(log) if not one.no_answer]
    if not places:
        raise NotComputableError(f"{name}: there is no reply to score: no answer could be used")
    return System(name, [log[place] for place in places], len(log) - len(places), places)


def score_systems(systems: Sequence[System], metrics: Mapping[str, ReplyMetric]) -> list[SystemScores]:
    """Score each system by each metric.

    :param metrics: by what notes call them.
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
    """Places of the replies to the same items: those with the same context and references, or, in logs without either,
    in the same place among all that was asked. Where an item stands more than once, each is taken once, in order.
    """
    replies: dict[object, list[int]] = {}
    for reply in reversed(range(len(second.replies))):
        replies.setdefault(second.item(reply), []).append(reply)
    pairs = []
    for reply in range(len(first.replies)):
        if others := replies.get(first.item(reply)):
            pairs.append((reply, others.pop()))
    return pairs
