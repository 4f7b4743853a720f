"""A judge's input for a rated reply."""

from __future__ import annotations

import math
from typing import Any

from parlai_empathy.tasks.engagement.records import RatedReply


def rated_message(one: RatedReply, scale: tuple[int, ...]) -> dict[str, Any]:
    """Return a message with the turns before the reply, one per line, the reply as the last line, and its ratings.

    :param scale: the scores that raters could give. The label is the one nearest to their mean; halves round up.
    """
    message = {
        "text": "\n".join((*one.context, one.reply)),
        "labels": [str(math.floor(one.human + 0.5))],
        "label_candidates": [str(score) for score in scale],
        "rating_mean": one.human,
        "item": one.item,
        "system": one.system or "",
        "fold": "all",
    }
    # A judge is trained on the raters' own scores if they are classes, otherwise on the classes next to their mean.
    return {**message, "ratings": list(one.ratings)} if set(one.ratings) <= set(scale) else message
