"""The items of a study: its systems' replies, pairs of them, or chats with its models."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple

from parlai_empathy.errors import DataError, NotComputableError, OptionError
from parlai_empathy.rating.study.study import GOLD, Check, Study
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs import read_replies_log
from parlai_empathy.scoring.systems import System, item_keys, systems_of

CHECK = "check"
"""The system name of gold checks; in pairs, the other system is ``check_other``."""
CHAT = "chat"
"""The item name of all chats, before an export adds the assignment."""


@dataclass(frozen=True)
class Item:
    """One thing to judge: a reply, a pair of replies, a whole dialogue (its last turn is the reply), or a chat.

    :param name: in files of ratings: the same for all systems that reply to a context. It is a number, unless all logs
        give the context the same name.
    :param subject: identifies what a rater may see only once: the context, whichever system replied to it.
    :param system: the system that gave ``reply``; in a chat, the model.
    :param reply: empty if the system gave no reply, and in a chat.
    :param context: the turns before the reply, oldest first.
    :param other: in a pair, the second system; otherwise empty.
    :param other_context: the turns before ``other_reply``: in a pair of replies the same as ``context``.
    :param source: the name that ``parlai score_responses`` gives the reply.
    :param other_source: likewise for ``other_reply``.
    :param expected: for a gold check, pairs of question id and right rating.
    """

    name: str
    subject: str
    system: str
    reply: str = ""
    context: tuple[str, ...] = ()
    other: str = ""
    other_reply: str = ""
    other_context: tuple[str, ...] = ()
    source: str = ""
    other_source: str = ""
    expected: tuple[tuple[str, float], ...] = ()

    @property
    def arm(self) -> str:
        """The unit that assignment balances: the system, or the pair of systems."""
        return f"{self.system} | {self.other}" if self.other else self.system

    @property
    def is_chat(self) -> bool:
        """Whether the rater chats with a model and judges that chat."""
        return self.name == CHAT and not self.source

    @property
    def is_check(self) -> bool:
        """Whether the item is a gold check."""
        return bool(self.expected)


class _Reply(NamedTuple):
    """A reply to judge.

    :param answers: what it answers, as far as the logs say so: the same in all versions of the study.
    """

    number: str
    source: str
    logged: LoggedReply
    answers: str


def items_of(study: Study) -> list[Item]:
    """All items of a study, gold checks last; an empty list for a collection.

    :raises OptionError: if the study names no systems or models, or has too few items for the ratings that it wants.
    :raises DataError: if a log cannot be read, or lacks references although they are to be rated.
    """
    study.check_complete()
    if study.kind == "collect":
        return []
    if study.kind == "chat":
        items = list(_chats(study))
    else:
        replies = _replies(study)
        items = list(_pairs(study, replies) if study.kind == "pairwise" else _singles(study, replies))
    _check_enough(study, items)
    return [*items, *(_check(number, check) for number, check in enumerate(study.checks, start=1))]


def _singles(study: Study, replies: dict[str, list[_Reply]]) -> Iterator[Item]:
    for system, ones in replies.items():
        for one in ones:
            context, subject = _context(study, one.logged), _subject(study, one)
            yield Item(one.number, subject, system, one.logged.reply, context, source=one.source)


def _pairs(study: Study, replies: dict[str, list[_Reply]]) -> Iterator[Item]:
    if unknown := [name for pair in study.pairs for name in pair if name not in replies]:
        raise OptionError(
            f"{study.where}: pairs: there is no system {unknown[0]!r}; the systems are {', '.join(replies)}"
        )
    if len(replies) < 2:
        raise OptionError(f"{study.where}: systems: pairs need two, but there is only {', '.join(replies)}")
    for system, other in study.pairs or combinations(replies, 2):
        theirs = {one.number: one for one in replies[other]}
        both = [(one, theirs[one.number]) for one in replies[system] if one.number in theirs]
        if not both:
            raise OptionError(
                f"{study.where}: systems: {system} and {other} have no context in common, so they cannot be compared"
            )
        for one, their in both:
            yield Item(
                one.number,
                _subject(study, one),
                system,
                one.logged.reply,
                _context(study, one.logged),
                other,
                their.logged.reply,
                _context(study, their.logged),
                one.source,
                their.source,
            )


def _chats(study: Study) -> Iterator[Item]:
    """Yield one item per model and round: a rater chats with all models equally often, to within one."""
    for again in range(1, math.ceil(study.items_per_rater / len(study.models)) + 1):
        for model in study.models:
            yield Item(CHAT, f"{model.name}, chat {again}", model.name)


def _check(number: int, check: Check) -> Item:
    name, other = f"{CHECK}-{number}", f"{CHECK}_other" if check.other_reply else ""
    context, subject = check.context, f"{CHECK} {_digest([*check.context, check.reply, check.other_reply])}"
    return Item(name, subject, CHECK, check.reply, context, other, check.other_reply, context, expected=check.expected)


def _replies(study: Study) -> dict[str, list[_Reply]]:
    """The replies of each system. Replies to the same context have the same number, whatever the order of the logs."""
    systems = [system for one in study.systems for system in _systems(one.name, one.file)]
    names = Counter(system.name.strip() for system in systems)  # files of ratings are read without outer blanks
    if twice := next((name for name, count in names.items() if count > 1 or name == GOLD), None):
        raise OptionError(f"{study.where}: systems: there are two named {twice}: give each a different name")
    if study.checks and CHECK in names:
        raise OptionError(
            f"{study.where}: systems: {CHECK} is the name of the gold checks: give the system another one"
        )
    numbers: dict[object, str] = {}
    keys = item_keys(systems)
    replies = {
        system.name: list(_numbered(study, system, keys_of_one, numbers))
        for system, keys_of_one in zip(systems, keys, strict=True)
    }
    return _named({**replies, GOLD: list(_gold(study, replies))} if study.gold else replies)


def _systems(name: str, file: str) -> list[System]:
    try:
        return systems_of(name, read_replies_log(file))
    except NotComputableError as error:
        raise DataError(f"{file}: {error}") from error


def _named(replies: dict[str, list[_Reply]]) -> dict[str, list[_Reply]]:
    """Number the replies by the logs' names for what they answer, if all systems give it the same name."""
    given: dict[str, set[str]] = {}
    for one in chain.from_iterable(replies.values()):
        given.setdefault(one.number, set()).add(one.logged.item)
    names = {number: min(each) for number, each in given.items() if len(each) == 1}
    if len(names) < len(given) or "" in names.values() or len({*names.values()}) < len(names):
        return replies
    return {system: [one._replace(number=names[one.number]) for one in ones] for system, ones in replies.items()}


def _numbered(study: Study, system: System, keys: Sequence[object], numbers: dict[object, str]) -> Iterator[_Reply]:
    seen: Counter[object] = Counter()
    for place in _judged(study, system):
        one = system.replies[place]
        if study.whole_dialogues:
            key: object = sum(seen.values())  # dialogues of two systems share no context: pair them by position
        else:
            key = keys[place]
        seen[key] += 1
        number = numbers.setdefault((key, seen[key]), str(len(numbers) + 1))
        answers = repr((key, seen[key]))
        yield _Reply(number, one.item or f"{system.name}#{system.place(place) + 1}", one, answers)


def _judged(study: Study, system: System) -> Sequence[int]:
    """Indices of the replies to judge: all of them; of whole dialogues, the last reply on each line of the log."""
    if not study.whole_dialogues:
        return range(len(system.replies))
    last = {one.line: place for place, one in enumerate(system.replies)}
    return sorted(last.values())


def _gold(study: Study, replies: dict[str, list[_Reply]]) -> Iterator[_Reply]:
    first: dict[str, tuple[str, _Reply]] = {}
    for name, ones in replies.items():
        for one in ones:
            if one.number not in first or (one.logged.references and not first[one.number][1].logged.references):
                first[one.number] = name, one
    for number, (name, one) in first.items():
        if not one.logged.references:
            raise DataError(
                f"{study.where}: gold is true, but the log of {name}, line {one.logged.line}, has no reference: "
                f"add one to each reply, or set gold: false in a study file of your own (extends: {study.name})"
            )
        gold = LoggedReply(one.logged.references[0], one.logged.context, item=one.logged.item)
        yield _Reply(number, f"{GOLD}#{number}", gold, one.answers)


def _context(study: Study, one: LoggedReply) -> tuple[str, ...]:
    turns = study.context_turns
    return one.context if turns is None else one.context[len(one.context) - min(turns, len(one.context)) :]


def _subject(study: Study, one: _Reply) -> str:
    if study.whole_dialogues:
        return one.number
    # Without a context it is what the reply answers: its number changes with the replies before it.
    return _digest(_context(study, one.logged) or [one.answers])


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _check_enough(study: Study, items: Sequence[Item]) -> None:
    """Check that each system or pair has enough items for the ratings that the study wants."""
    if study.ratings_per_system is None or study.ratings_per_item is None:
        return
    arm, most = min(Counter(item.arm for item in items).items(), key=lambda pair: pair[1])
    if most * study.ratings_per_item < study.ratings_per_system:
        raise OptionError(
            f"{study.where}: ratings_per_system is {study.ratings_per_system}, but {arm} has {most} item(s) with "
            f"{study.ratings_per_item} rating(s) each: raise ratings_per_item, or lower ratings_per_system"
        )
