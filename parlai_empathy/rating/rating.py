"""One rating, or one comparison, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

PREFERENCES = (-1.0, 0.0, 1.0)
"""What a comparison of two systems can say."""

KINDS = ("likert", "choice", "text", "preference")

SIDES = {"left": "right", "right": "left"}
"""Where a reply can stand beside another, and where the other one stands then."""

Place = tuple[str, str, str]
"""What systems reply to: study, version and item."""

Unit = tuple[str, str, str, str, str]
"""What a rater judges: study, version, item, system and other."""


@dataclass(frozen=True)
class Rating:
    """One answer. What the file does not say is empty, or None.

    :param item: what was rated.
    :param question: what was asked of it; empty where the file has but one question.
    :param rating: None for an answer in the rater's own words, which are in ``text``.
    :param system: whose reply it was.
    :param other: whose reply it was compared with; the rating is one of :data:`PREFERENCES` then.
    :param seconds: that the rater spent on the page, from 0 upwards.
    :param check: the rating that was expected, where the rater was tested; such a row says nothing of the system.
    :param kind: of the question: one of :data:`KINDS`, or empty.
    :param side: where ``system`` stood: ``left``, ``right`` or empty.
    :param reply: what scores of replies call it.
    :param other_reply: likewise the reply of ``other``.
    :param excluded: why the rater was left out in the study; empty if not.
    :param version: of the study.
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

    @property
    def is_preference(self) -> bool:
        """Whether it says which of two systems is better."""
        return bool(self.other) and self.kind in ("", "preference")

    @property
    def place(self) -> Place:
        """What was replied to, the same for all systems. Another version of a study may call something else so."""
        return self.study, self.version, self.item

    @property
    def unit(self) -> Unit:
        """What was judged, whichever of two systems stands first."""
        return (*self.place, *sorted((self.system, self.other)))  # type: ignore[return-value]

    def oriented(self) -> Rating:
        """The same answer with the two systems in the order of their names."""
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
