"""What somebody is told who writes of self-harm to another person: where to find help, as on the chat page."""

from __future__ import annotations

from dataclasses import dataclass

from parlai_empathy.rating.chat.help_lines import Notice


@dataclass(frozen=True)
class PeoplesNotice(Notice):
    """The notice between two people: the one who reads along is no helper either."""

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
    """The same services, for two people who talk with each other."""
    return PeoplesNotice(notice.services, notice.emergency)
