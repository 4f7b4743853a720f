"""What people are shown whose message mentions suicide or self-harm: where to find help."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Service:
    """A service that listens to people in distress.

    :param how: how to reach it, in words.
    :param link: its web page; empty if there is none.
    """

    name: str
    how: str
    link: str = ""

    @property
    def site(self) -> str:
        """The host of its web page, without ``www.``."""
        return (urlsplit(self.link).hostname or "").removeprefix("www.")


@dataclass(frozen=True)
class Notice:
    """What somebody who may be in distress is shown before the model's reply.

    :param services: those of their country.
    :param emergency: the number to call in danger, in words.
    """

    services: tuple[Service, ...]
    emergency: str

    @property
    def lines(self) -> tuple[str, ...]:
        """The notice as plain sentences, without the services."""
        return (
            "What you wrote sounds as if you, or somebody you know, may be thinking of suicide or of self-harm.",
            "You are talking with a program, not with a person. It cannot understand how you are, and it cannot get "
            "help for you. These people will listen:",
        )

    @property
    def danger(self) -> str:
        """The notice's last sentence, which follows the services."""
        return f"If somebody is in danger right now, call {self.emergency}."


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
