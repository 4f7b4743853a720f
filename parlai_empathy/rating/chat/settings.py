"""What a chat page can be told."""

from __future__ import annotations

from dataclasses import dataclass

from parlai_empathy.rating.chat.help_lines import Notice
from parlai_empathy.rating.web.limits import Rate

OFTEN = Rate(per_minute=20, at_once=8)
"""How often one visitor may write, if nobody says otherwise."""


@dataclass(frozen=True)
class ChatSettings:
    """The settings of a chat page.

    :param notice: shown to who speaks of self-harm; None to show nothing, which must be wanted.
    :param longest: characters of a message.
    :param messages: how often one visitor may write.
    """

    notice: Notice | None
    longest: int = 2000
    messages: Rate = OFTEN
