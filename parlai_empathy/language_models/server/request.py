"""Sends one request to an OpenAI-compatible server with the official client, and classifies failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from parlai_empathy.errors import LanguageModelError
from parlai_empathy.files.text_file import as_unicode
from parlai_empathy.language_models.partial_answers import Say
from parlai_empathy.language_models.prompt import Prompt, Sampling
from parlai_empathy.language_models.server.address import ServerAddress
from parlai_empathy.language_models.server.answer import (
    FILTERED,
    BrokenAnswerError,
    ServerAnswer,
    error_reason,
    is_filtered,
    read_server_answer,
    shortened,
)
from parlai_empathy.language_models.server.dialect import Dialect
from parlai_empathy.language_models.server.stream import ServerStream

# OpenAI's limit; the text is cut at further stop texts on our side.
_MOST_STOPS = 4

# Timeout, conflict, too early, too many requests: the 4xx errors that a retry may resolve.
_PASSING = (408, 409, 425, 429)
_NO_MONEY = "insufficient_quota"

_REMEDIES = {
    401: "check OPENAI_API_KEY",
    403: "check the permissions of OPENAI_API_KEY",
    404: "check the model's name and OPENAI_BASE_URL",
    405: "check OPENAI_BASE_URL: a redirect, such as from http to https, loses the request",
    429: "check the account's balance",
}

# Options that resolve a refusal, by the words of OpenAI's server and of vLLM; the first that fits.
_OPTION_REMEDIES = {
    "not a chat model": "choose --prompt paper",
    "chat template": "choose --prompt paper",
    "chat model": "choose --prompt chat",
    "context length": "set --lm-context-length",
}


class TryAgainError(Exception):
    """The request failed, but a retry may succeed.

    :param headers: those of the server's response, if there was one.
    :param empty: whether the server answered with an empty list of choices.
    :param tokens: the numbers of tokens read and written, if the server reported them all the same.
    """

    def __init__(
        self,
        reason: str,
        headers: Mapping[str, str] | None = None,
        empty: bool = False,
        tokens: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__(reason)
        self.headers = headers or {}
        self.empty = empty
        self.tokens = tokens


class _LostError(Exception):
    """The connection was lost in the middle of an answer."""


@dataclass
class Requester:
    """Sends prompts to a server.

    :param client: an ``openai.AsyncOpenAI`` without retries of its own.
    :param timeout: the time limit for a complete answer, in seconds.
    :param dialect: the parameters that the server supports; adapted when it refuses a request.
    """

    client: Any
    address: ServerAddress
    model: str
    timeout: float
    dialect: Dialect

    async def ask(self, prompt: Prompt, sampling: Sampling, report: Say | None = None) -> ServerAnswer:
        """Send one prompt, without retries.

        :param report: called with the text so far after each piece; None: the answer is not streamed.
        :returns: the answer; without a text if the server's content filter refused the prompt.
        :raises TryAgainError: if it failed temporarily.
        :raises LanguageModelError: if it failed permanently. Neither has a cause, since a traceback would show the
            server's own words, in which it may repeat the key.
        """
        import openai

        where, what = self._request(prompt, sampling)
        try:
            if report is None:
                return await self._whole(where, what)
            if self.dialect.counts:
                what["stream_options"] = {"include_usage": True}
            return await self._read_stream(where, what, ServerStream(report, self.address.without_secrets))
        except (asyncio.TimeoutError, openai.APITimeoutError):
            raise TryAgainError(f"no complete answer within {self.timeout:g} seconds (--lm-timeout)") from None
        except openai.APIStatusError as error:
            if is_filtered(error.response.content):
                return ServerAnswer(None, FILTERED, "", None, None)
            if self.dialect.learn(what, error.status_code, error.response.content):
                return await self.ask(prompt, sampling, report)
            raise self._refused(error.status_code, error.response) from None
        except BrokenAnswerError as error:
            raise TryAgainError(f"it sent {error}", empty=error.is_empty, tokens=error.tokens) from None
        except (openai.APIConnectionError, _LostError) as error:
            reason = self._hidden(str(error.__cause__ or error)) or type(error.__cause__).__name__
            raise TryAgainError(f"the connection failed ({reason})") from None
        except openai.OpenAIError as error:
            raise LanguageModelError(f"{self.address.public}: {self._hidden(str(error))}") from None

    async def _whole(self, where: Any, what: dict[str, Any]) -> ServerAnswer:
        # The client's own timeout applies to each piece of the answer, so a slow stream would never reach it.
        raw = await asyncio.wait_for(where.with_raw_response.create(**what), self.timeout)
        return read_server_answer(raw.content, self.address.without_secrets)

    async def _read_stream(self, where: Any, what: dict[str, Any], stream: ServerStream) -> ServerAnswer:
        """Read a streamed answer within the same time limit; failures after the end of its text are ignored."""
        try:
            await asyncio.wait_for(self._follow(where, what, stream), self.timeout)
        except (asyncio.TimeoutError, _LostError):
            if not stream.is_whole:
                raise
        return stream.answer()

    async def _follow(self, where: Any, what: dict[str, Any], stream: ServerStream) -> None:
        # The raw bytes, since the client's own events end in the same way if the connection was cut off.
        async with AsyncExitStack() as stack:
            with _losses():
                response = await stack.enter_async_context(where.with_streaming_response.create(**what, stream=True))
            async for piece in _pieces(response):
                stream.take(piece)
                if stream.is_over:
                    return

    def _request(self, prompt: Prompt, sampling: Sampling) -> tuple[Any, dict[str, Any]]:
        """Return the client's resource for a prompt, and the parameters of the request."""
        options = {"model": self.model, **_options(sampling, self.dialect)}
        if isinstance(prompt, str):
            stop = {"stop": list(sampling.stop[:_MOST_STOPS])} if sampling.stop else {}
            text = {"prompt": as_unicode(prompt), "max_tokens": sampling.max_tokens}
            return self.client.completions, {**text, **options, **stop}
        # Without stop texts, which would also end a reasoning model's thoughts; the answer is cut on our side.
        messages = [{"role": one.role, "content": as_unicode(one.content)} for one in self.dialect.adapted(prompt)]
        limit = _chat_limit(sampling.max_tokens, self.dialect)
        return self.client.chat.completions, {"messages": messages, **limit, **options}

    def _refused(self, status: int, response: Any) -> Exception:
        said, code = error_reason(response.content, self.address.without_secrets)
        reason = self._hidden(said or response.reason_phrase or "no reason given")
        if (status in _PASSING or status >= 500) and code != _NO_MONEY:
            return TryAgainError(f"status {status}: {reason}", {k.lower(): v for k, v in response.headers.items()})
        option = next((option for words, option in _OPTION_REMEDIES.items() if words in reason.lower()), None)
        remedy = option or _REMEDIES.get(status, "change the prompt or its options")
        return LanguageModelError(
            f"{self.address.public} refused a request to {self.model} ({status}): {reason}: {remedy}"
        )

    def _hidden(self, text: str) -> str:
        return shortened(self.address.without_secrets(text)).rstrip(".:")


async def _pieces(response: Any) -> AsyncIterator[bytes]:
    """Yield the body of a streamed response."""
    with _losses():
        async for piece in response.iter_bytes():
            yield piece


@contextmanager
def _losses() -> Iterator[None]:
    """Turn the errors of the client's HTTP library into :class:`_LostError`.

    The client passes them on while it reads a streamed answer, or the body of an error in its place.
    """
    import openai

    try:
        yield
    except openai.OpenAIError:
        raise
    except Exception as error:  # which library it is depends on the client's version
        raise _LostError from error


def _chat_limit(max_tokens: int, dialect: Dialect) -> dict[str, Any]:
    if dialect.limit == "max_tokens":
        return {"max_tokens": max_tokens}
    return {"extra_body": {dialect.limit: max_tokens}}  # older clients lack this argument


def _options(sampling: Sampling, dialect: Dialect) -> dict[str, Any]:
    """Return the sampling parameters but the limit. Neutral values are left out: some servers support fewer."""
    options: dict[str, Any] = {"temperature": sampling.temperature}
    for name in ("frequency_penalty", "presence_penalty"):
        if getattr(sampling, name):
            options[name] = getattr(sampling, name)
    if sampling.top_p != 1:
        options["top_p"] = sampling.top_p
    if sampling.seed is not None and dialect.seed:
        options["seed"] = sampling.seed
    return options
