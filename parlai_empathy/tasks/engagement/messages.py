"""What a judge is given of a rated reply."""

from __future__ import annotations

import math
from typing import Any

from parlai_empathy.tasks.engagement.reader import RatedReply


def rated_message(one: RatedReply, scale: tuple[int, ...]) -> dict[str, Any]:
    """The turns before the reply one a line, the reply as the last line, and what people said of it.

    :param scale: the scores that raters could give; the label is the one that is nearest to their mean, halves up.
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
    # A judge learns from each rater's own score where it is one of its classes; of a mean it takes the neighbours.
    return {**message, "ratings": list(one.ratings)} if set(one.ratings) <= set(scale) else message
