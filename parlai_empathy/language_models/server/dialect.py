"""The variant of OpenAI's protocol that a server supports: some lack parameters or name them differently."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# How OpenAI's newer models name the parameter that they accept. Others mention it beside the old name, as vLLM does
# when a prompt is too long, which must stay an error.
_NEW_LIMIT = re.compile(rb"\buse\b.{0,20}\bmax_completion_tokens\b", re.IGNORECASE)
# How servers refuse a system message: by the name of the role, or of what Google calls it.
_NO_SYSTEM = re.compile(rb"\broles?\b|developer instruction", re.IGNORECASE)


@dataclass
class Dialect:
    """The parameters that a server supports, as learnt from the requests it refused.

    :param limit: the name of the parameter for the maximum number of tokens of a chat's answer; for a text's it is
        always ``max_tokens``.
    :param counts: whether the server accepts a request for the token counts of a streamed answer.
    :param system: whether the model has a system role.
    :param seed: whether the server accepts a seed.
    """

    limit: str = "max_tokens"
    counts: bool = True
    system: bool = True
    seed: bool = True

    def learn(self, sent: Mapping[str, Any], status: int, body: bytes) -> bool:
        """Adapt to a refusal by renaming or leaving out a parameter.

        :param sent: the parameters of the refused request, which may be older than what was learnt from another.
        :returns: whether something can be changed, so that the request should be sent again.
        """
        if status not in (400, 422):
            return False
        messages = sent.get("messages", [])
        if messages and "max_tokens" in sent and _NEW_LIMIT.search(body):
            self.limit = "max_completion_tokens"  # OpenAI's newer models only accept this name
            return True
        if "stream_options" in sent and b"stream_options" in body:
            self.counts = False  # token counts are then estimated
            return True
        if "seed" in sent and b"seed" in body:
            self.seed = False
            return True
        if messages and messages[0]["role"] == "system" and _NO_SYSTEM.search(body):
            self.system = False
            return True
        return False
