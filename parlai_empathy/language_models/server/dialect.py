"""How requests are put to an OpenAI-compatible server: some know less than others, or know it under another name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Dialect:
    """What a server understands, as far as its refusals have told.

    :param limit: what the highest number of tokens to write is called.
    :param counts: whether it can be asked for the numbers of tokens of an answer that comes in pieces.
    """

    limit: str = "max_tokens"
    counts: bool = True

    def learn(self, sent: Dialect, status: int, body: bytes) -> bool:
        """Take from a refusal what can be said in another way, or left out.

        :param sent: as the refused request was put: others that were under way at the time are refused likewise.
        :returns: whether there is anything, so that the request is worth putting again.
        """
        if status not in (400, 422):
            return False
        if sent.limit == "max_tokens" and b"max_completion_tokens" in body:
            self.limit = "max_completion_tokens"  # OpenAI's newer models know the limit under this name only
            return True
        if sent.counts and b"stream_options" in body:
            self.counts = False  # the number of tokens is estimated then
            return True
        return False
