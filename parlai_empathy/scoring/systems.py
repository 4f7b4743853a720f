"""The systems whose replies are scored, and their scores by all metrics."""

from __future__ import annotations

from collections import Counter
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
    :param items: identifies what each reply answers, as its :attr:`LoggedReply.answers` do in other systems; None to
        use what the log says.
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

    :raises EmpathyError: as in :func:`systems_of`, and if two systems would have the same name in tables.
    """
    found = [system for name, log in logs.items() for system in systems_of(name, log)]
    for name, count in Counter(" ".join(system.name.split()) for system in found).items():
        if count > 1:
            raise OptionError(f"--logs: {count} systems are called {name}: give a log or a system another name")
    return found


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


def item_keys(systems: Sequence[System]) -> list[list[object]]:
    """Return for each reply of each system what identifies the item that it answers, the same for all these systems.

    That is its context and its references, as far as all the systems' logs have them; else its name; or if it has none
    of the three, its index among all items, if all systems have equally many. A key of its own has no partner.
    """
    given = any(one.items is not None for one in systems)  # then the others' answers are needed in full
    by_context = given or all(any(reply.context for reply in one.replies) for one in systems)
    by_references = given or all(reply.references for one in systems for reply in one.replies if reply.context)
    by_place = len({one.size for one in systems}) == 1

    def key(system: System, place: int, reply: LoggedReply) -> object:
        answers = reply.context if by_context else (), reply.references if by_references else ()
        if any(answers) or reply.item:
            return answers if any(answers) else reply.item
        return system.place(place) if by_place and not reply.answers else (system.name, place)

    return [
        [key(one, *numbered) for numbered in enumerate(one.replies)] if one.items is None else list(one.items)
        for one in systems
    ]


def common_items(first: System, second: System) -> list[tuple[int, int]]:
    """Return pairs of indices of the two systems' replies to the same items: see :func:`item_keys`.

    Replies to an item that occurs several times are paired in order, each once.
    """
    keys, others = item_keys([first, second])
    places: dict[object, list[int]] = {}
    for place in reversed(range(len(others))):
        places.setdefault(others[place], []).append(place)
    return [(place, places[key].pop()) for place, key in enumerate(keys) if places.get(key)]


def note_on_matches(first: System, second: System) -> str | None:
    """Return what to know about how the replies of two systems were matched; None if there is nothing to say."""
    nameless = "replies without context, reference and item"
    if all(any(not (reply.answers or reply.item) for reply in one.replies) for one in (first, second)):
        if first.size == second.size:  # nothing but their order says that two such replies answer the same
            return f"{nameless} are paired by their place in the logs"
        sizes = f"{first.size:,} and {second.size:,}"
        return f"{nameless} are not compared, since the logs have {sizes}: add one of the three"
    if not common_items(first, second):
        alike = "contexts and references must be alike in both logs, or items if they lack those"
        return f"no item in common with {first.name}: {alike}"
    return None
