"""Settings of the site for collecting dialogues."""

from __future__ import annotations

from dataclasses import dataclass

from parlai_empathy.rating.collecting.lobby import PATIENCE
from parlai_empathy.rating.talking.messages import OFTEN
from parlai_empathy.rating.talking.notices import PeoplesNotice
from parlai_empathy.rating.web.limits import Rate


@dataclass(frozen=True)
class CollectSettings:
    """The settings of a site.

    :param notice: shown below messages that mention self-harm; None shows nothing, and has to be passed explicitly.
    :param messages: rate limit for one visitor's messages.
    :param patience: seconds to wait for a partner before the meeting breaks off.
    :param reload: seconds after which a page without scripts reloads.
    """

    notice: PeoplesNotice | None
    messages: Rate = OFTEN
    patience: float = PATIENCE
    reload: int = 5
