"""What a site for collecting dialogues can be told."""

from __future__ import annotations

from dataclasses import dataclass

from parlai_empathy.rating.chat.settings import OFTEN
from parlai_empathy.rating.collecting.lobby import PATIENCE
from parlai_empathy.rating.collecting.notice import PeoplesNotice
from parlai_empathy.rating.web.limits import Rate


@dataclass(frozen=True)
class CollectSettings:
    """The settings of a site.

    :param notice: shown where a message speaks of self-harm; None to show nothing, which must be wanted.
    :param messages: how often one visitor may write.
    :param patience: seconds for which somebody waits for the other one before their meeting breaks off.
    :param reload: seconds after which a page without scripts looks for what is new.
    """

    notice: PeoplesNotice | None
    messages: Rate = OFTEN
    patience: float = PATIENCE
    reload: int = 5
