"""A reasoning model's thoughts, which precede its answer: ``<think>She lost her cat.</think>I am so sorry.``

A local model writes them, and so do servers that do not separate them from the answer.
"""

from __future__ import annotations

OPENING = "<think>"
_CLOSING = "</think>"


def without_thoughts(text: str) -> str | None:
    """Return the answer in a model's text; None while it thinks, or may be about to.

    A chat template may end with the opening tag, so that the text has only the closing one.

    :param text: the text so far.
    """
    _, closing, answer = text.partition(_CLOSING)
    if closing:
        return answer.lstrip()
    begin = text.strip()[: len(OPENING)]
    return None if begin and OPENING.startswith(begin) else text
