"""Events as browsers read them from a response that goes on (server-sent events)."""

from __future__ import annotations

import json


def event(name: str, value: object) -> str:
    """One event.

    :param value: for JSON, which has no line breaks of its own.
    """
    return f"event: {name}\ndata: {json.dumps(value)}\n\n"


REST = ": nothing new\n\n"
"""Said from time to time, so that nobody between here and the browser takes the connection for dead."""
