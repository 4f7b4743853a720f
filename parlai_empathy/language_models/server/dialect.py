"""The variant of OpenAI's protocol that a server supports: some lack parameters or name them differently."""

from __future__ import annotations

import re
from dataclasses import dataclass

# How servers refuse a system message: by the name of the role, or of what Google calls it.
_NO_SYSTEM = re.compile(rb"\broles?\b|developer instruction", re.IGNORECASE)


@dataclass
class Dialect:
    """The parameters that a server supports, as learnt from the requests it refused.

    :param limit: the name of the parameter for the maximum number of tokens.
    :param counts: whether the server accepts a request for the token counts of a streamed answer.
    :param system: whether the model has a system role.
    :param seed: whether the server accepts a seed.
    """

    limit: str = "max_tokens"
    counts: bool = True
    system: bool = True
    seed: bool = True

    def learn(self, sent: Dialect, status: int, body: bytes) -> bool:
        """Adapt to a refusal by renaming or leaving out a parameter.

        :param sent: the dialect of the refused request; concurrent requests in the same dialect are refused as well.
        :returns: whether something can be changed, so that the request should be sent again.
        """
        if status not in (400, 422):
            return False
        if sent.limit == "max_tokens" and b"max_completion_tokens" in body:
            self.limit = "max_completion_tokens"  # OpenAI's newer models only accept this name
            return True
        if sent.counts and b"stream_options" in body:
            self.counts = False  # token counts are then estimated
            return True
        if sent.seed and b"seed" in body:
            self.seed = False
            return True
        if sent.system and _NO_SYSTEM.search(body):
            self.system = False
            return True
        return False
