"""The variant of OpenAI's protocol that a server supports: some lack parameters or name them differently."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parlai_empathy.language_models.prompt import Message, without_system_role

# How OpenAI's newer models name the parameter that they accept. Others mention it beside the old name, as vLLM does
# when a prompt is too long, which must stay an error.
_NEW_LIMIT = re.compile(rb"\buse\b.{0,20}max_completion_tokens", re.IGNORECASE)  # a quote may be \u0027
# How servers refuse a system message: by the name of the role, or of what Google calls it. Chat templates whose roles
# must alternate say the same of a chat that begins with the assistant.
_NO_SYSTEM = re.compile(rb"\broles?\b|developer instruction", re.IGNORECASE)
# A parameter with its value, as servers quote a request that they refuse for another reason.
_QUOTED = re.compile(rb"""["'\\]+(stream_options|seed|role)["'\\]+\s*:\s*["'\\]*(\{|-?\d|system|user|assistant)""")


@dataclass
class Dialect:
    """The parameters that a server supports, as learnt from the requests it refused.

    :param limit: the name of the parameter for the maximum number of tokens of a chat's answer; for a text's it is
        always ``max_tokens``.
    :param counts: whether the server accepts a request for the token counts of a streamed answer.
    :param system: whether the model has a system role.
    :param assistant_first: whether the assistant may begin a chat, after the system message. If not, such a chat is
        sent without the system role: what it says becomes the user's message before that.
    :param seed: whether the server accepts a seed.
    """

    limit: str = "max_tokens"
    counts: bool = True
    system: bool = True
    assistant_first: bool = True
    seed: bool = True

    def adapted(self, chat: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return a chat as the server accepts it."""
        begins = [message.role for message in chat[:2]] == ["system", "assistant"]
        return chat if self.system and (self.assistant_first or not begins) else without_system_role(chat)

    def learn(self, sent: Mapping[str, Any], status: int, body: bytes) -> bool:
        """Adapt to a refusal by renaming or leaving out a parameter.

        :param sent: the parameters of the refused request, which may be older than what was learnt from another.
        :returns: whether something can be changed, so that the request should be sent again.
        """
        if status not in (400, 422):
            return False
        body = _without_request(body, sent)
        roles = [message["role"] for message in sent.get("messages", [])]
        if roles and "max_tokens" in sent and _NEW_LIMIT.search(body):
            self.limit = "max_completion_tokens"  # OpenAI's newer models only accept this name
            return True
        if "stream_options" in sent and b"stream_options" in body:
            self.counts = False  # token counts are then estimated
            return True
        if "seed" in sent and b"seed" in body:
            self.seed = False
            return True
        if roles[:1] == ["system"] and _NO_SYSTEM.search(body):
            # If the assistant begins, that alone may be refused; other chats show whether there is a system role.
            if roles[1:2] == ["assistant"]:
                self.assistant_first = False
            else:
                self.system = False
            return True
        return False


def _without_request(body: bytes, sent: Mapping[str, Any]) -> bytes:
    """Return a refusal without what it quotes of the request, which says nothing of what the server supports."""
    for text in [sent.get("prompt", ""), *(message.get("content", "") for message in sent.get("messages", []))]:
        if re.search("role|seed|developer instruction|stream_options", text, re.IGNORECASE):
            for written in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
                body = body.replace(written.encode(), b"")
    return _QUOTED.sub(b"", body)
