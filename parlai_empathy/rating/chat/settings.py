"""Settings of the chat page."""

from __future__ import annotations

from dataclasses import dataclass

from parlai_empathy.rating.talking.messages import OFTEN
from parlai_empathy.rating.talking.notices import Notice
from parlai_empathy.rating.web.limits import Rate


@dataclass(frozen=True)
class ChatSettings:
    """The settings of a chat page.

    :param notice: shown below messages that mention self-harm; None shows nothing, and has to be passed explicitly.
    :param longest: maximum length of a message, in characters.
    :param messages: rate limit for one visitor's messages.
    :param id_parameter: the query parameter that names people in links of marketplaces other than Prolific.
    """

    notice: Notice | None
    longest: int = 2000
    messages: Rate = OFTEN
    id_parameter: str | None = None
