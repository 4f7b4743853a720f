"""The notice for people who mention self-harm to another person: where to find help, as on the chat page."""

from __future__ import annotations

from dataclasses import dataclass

from parlai_empathy.rating.chat.help_lines import Notice


@dataclass(frozen=True)
class PeoplesNotice(Notice):
    """The notice for two people who talk with each other: neither is a trained helper."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The notice as plain sentences, without the services."""
        return (
            "What was written here sounds as if one of you, or somebody you know, may be thinking of suicide or of "
            "self-harm.",
            "The two of you take part in a study. Neither can be expected to help in this alone. These people will "
            "listen:",
        )


def between_people(notice: Notice) -> PeoplesNotice:
    """Return a notice with the same services, for two people who talk with each other."""
    return PeoplesNotice(notice.services, notice.emergency)
