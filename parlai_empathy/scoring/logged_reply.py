"""A system's reply as recorded in a log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LoggedReply:
    """A reply, and what the log says about it.

    :param reply: may be empty.
    :param context: the turns before it, oldest first; empty if the log has none.
    :param references: people's replies to the same context; empty if the log has none.
    :param emotion: the conversation's emotion, if the log has it.
    :param system: the system that replied, in a log of several systems; otherwise empty.
    :param item: the reply's name in ratings, if the log has it; otherwise empty.
    :param no_answer: why there is no reply to score, if the log says so; otherwise empty.
    :param is_candidate: whether it is one of the candidates that the log gives for its message.
    :param turn: the reply's turn in its conversation, from 1, if the log says it: see :attr:`known_turn`.
    :param line: its line in the log, from 1: the first one of a text block, the last one of a table's row.
    """

    reply: str
    context: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    emotion: str | None = None
    system: str = ""
    item: str = ""
    no_answer: str = ""
    line: int = 0
    is_candidate: bool = False
    turn: int | None = None

    @property
    def answers(self) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """What it answers: its context and references; None if the log has neither."""
        return (self.context, self.references) if self.context or self.references else None

    @property
    def known_turn(self) -> int | None:
        """Its turn in the conversation, from 1: the log's, because contexts may lack the oldest turns; or else the turn
        after its context. None if the log has neither.
        """
        return self.turn or (len(self.context) + 1 if self.context else None)
