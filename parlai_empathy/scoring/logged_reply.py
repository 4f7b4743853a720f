"""One reply that some system gave, as a log tells of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LoggedReply:
    """A reply, and what the log says beside it.

    :param reply: may be empty: a system may have said nothing.
    :param context: the turns before it, oldest first; none if the log does not give them.
    :param references: what people replied there; none if the log does not say.
    :param emotion: of the conversation, if the log says so.
    :param system: who gave the reply, in a log of several systems; else empty.
    :param item: what ratings call it, if the log says so; else empty.
    :param no_answer: why there is no reply that could be judged, if the log says so; else empty.
    :param is_candidate: whether it is one of the candidates that the log gives its message.
    :param line: where it stands in the log, from 1: where a text block begins, and where a row of a table ends.
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

    @property
    def answers(self) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """What it answers: its context and references; None in a log that has neither."""
        return (self.context, self.references) if self.context or self.references else None
