"""Server-sent events, which browsers read from a streaming response."""

from __future__ import annotations

import json


def event(name: str, value: object) -> str:
    """Return one event.

    :param value: sent as JSON, which contains no line breaks.
    """
    return f"event: {name}\ndata: {json.dumps(value)}\n\n"


REST = ": nothing new\n\n"
"""A comment, sent from time to time so that no proxy closes the idle connection."""
