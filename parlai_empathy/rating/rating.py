"""One rating or comparison, with its metadata."""

from __future__ import annotations

from dataclasses import dataclass, replace

PREFERENCES = (-1.0, 0.0, 1.0)
"""The possible ratings of a comparison of two systems."""

KINDS = ("likert", "choice", "text", "preference")

SIDES = {"left": "right", "right": "left"}
"""The two sides of a page, each with the opposite one."""

Place = tuple[str, str, str]
"""Identifies what systems reply to: study, version and item."""

Unit = tuple[str, str, str, str, str, str]
"""Identifies what a rater judges: study, version, item, turn, system and other."""


@dataclass(frozen=True)
class Rating:
    """One answer. Fields missing from the file are empty, or None.

    :param item: what was rated.
    :param question: what was asked; empty if the file has a single question.
    :param rating: None for an answer in the rater's own words, which is in ``text``.
    :param system: the system that gave the reply.
    :param other: the system that it was compared with; the rating is then one of :data:`PREFERENCES`.
    :param seconds: time that the rater spent on the page, at least 0.
    :param check: the expected rating, if the item tests the rater; such a row does not count in the system's numbers.
    :param kind: kind of question: one of :data:`KINDS`, or empty.
    :param side: where ``system`` stood: ``left``, ``right`` or empty.
    :param reply: the name that ``parlai score_responses`` gives the reply.
    :param other_reply: likewise for the reply of ``other``.
    :param excluded: why the rater was excluded from the study; empty if not excluded.
    :param version: the study's version.
    :param turn: the number of the turn that was rated, if the item is a conversation; empty for the whole item.
    """

    item: str
    rater: str
    question: str
    rating: float | None
    system: str = ""
    other: str = ""
    text: str = ""
    seconds: float | None = None
    check: float | None = None
    study: str = ""
    kind: str = ""
    side: str = ""
    reply: str = ""
    other_reply: str = ""
    excluded: str = ""
    version: str = ""
    turn: str = ""

    @property
    def is_preference(self) -> bool:
        """Whether it says which of two systems is better."""
        return bool(self.other) and self.kind in ("", "preference")

    @property
    def name(self) -> str:
        """The item's name; for a turn with its number, as in the names that ``parlai score_responses`` gives turns."""
        return f"{self.item}#{self.turn}" if self.turn else self.item

    @property
    def place(self) -> Place:
        """What was replied to, the same for all systems. It includes the version: versions may reuse an item's name.

        All turns of a conversation are one place: they depend on each other.
        """
        return self.study, self.version, self.item

    @property
    def unit(self) -> Unit:
        """What was judged, regardless of the order of two compared systems."""
        return (*self.place, self.turn, *sorted((self.system, self.other)))  # type: ignore[return-value]

    def oriented(self) -> Rating:
        """The same answer with the two systems in alphabetical order."""
        if not self.other or self.system <= self.other:
            return self
        turned = replace(
            self,
            system=self.other,
            other=self.system,
            side=SIDES.get(self.side, ""),
            reply=self.other_reply,
            other_reply=self.reply,
        )
        if not self.is_preference:
            return turned
        rating, check = (None if value is None else 0.0 - value for value in (self.rating, self.check))
        return replace(turned, rating=rating, check=check)
