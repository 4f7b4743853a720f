"""The backend ``openai``: any OpenAI-compatible server, through the official client.

The address and key come from the environment (see address.py). Texts are sent to ``/completions``, chats to
``/chat/completions``. Temporary failures (429, 5xx, a lost connection, HTML, a timeout) are retried with exponential
backoff, or after the time that the server names; refusals (4xx) are not. Neither is a streamed answer that was already
shown in part: a retry would start over, perhaps with other words.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from parlai_empathy.errors import LanguageModelError, MissingDependencyError, OptionError
from parlai_empathy.language_models.completion import Answer, Completion, NoAnswer
from parlai_empathy.language_models.language_model import Backend
from parlai_empathy.language_models.partial_answers import PartialAnswers, Say
from parlai_empathy.language_models.prompt import Prompt, Sampling
from parlai_empathy.language_models.server.address import server_address
from parlai_empathy.language_models.server.answer import EMPTY, ServerAnswer, as_answer, shortened
from parlai_empathy.language_models.server.background import results_of
from parlai_empathy.language_models.server.backoff import PATIENCE, retry_after, wait_before
from parlai_empathy.language_models.server.dialect import Dialect
from parlai_empathy.language_models.server.request import Requester, TryAgainError
from parlai_empathy.language_models.server.token_estimate import estimate_tokens
from parlai_empathy.language_models.usage import Usage

Numbered = tuple[int, Answer]


class OpenAIModel(Backend):
    """A model behind a server.

    :param model: its name on the server.
    :param timeout: the time limit for an answer, in seconds.
    :param retries: the maximum number of retries per prompt.
    :param concurrency: the maximum number of concurrent requests.
    :param context_length: servers do not report it.
    :param first_wait: the wait before the first retry, in seconds.
    :raises OptionError: if the address or key in the environment is missing or invalid.
    :raises MissingDependencyError: if ``openai`` is not installed.
    """

    def __init__(
        self,
        model: str,
        timeout: float = 60.0,
        retries: int = 5,
        concurrency: int = 8,
        context_length: int | None = None,
        usage: Usage | None = None,
        first_wait: float = 0.5,
    ) -> None:
        _client_library()
        self.name = f"openai:{model}"
        self.model = model
        self.address = server_address()
        self.identity = self.address.public
        self.timeout = timeout
        self.retries = retries
        self.concurrency = concurrency
        self.context_length = context_length
        self.usage = usage or Usage()
        self.first_wait = first_wait
        self._dialect = Dialect()
        self._not_before = 0.0

    def count_tokens(self, prompt: Prompt) -> int:
        """Return a high estimate of the number of tokens, since the tokenizer is not available here."""
        return estimate_tokens(prompt)

    def answers(self, prompts: Sequence[Prompt], sampling: Sampling) -> Iterator[Numbered]:
        """Answer prompts concurrently. If one fails permanently, pending requests are still finished."""

        async def work(give: Callable[[Numbered], None]) -> None:
            await self._ask_all(prompts, sampling, give)

        if prompts:
            yield from results_of(work)

    def stream(self, prompt: Prompt, sampling: Sampling, say: Say) -> Answer:
        """Answer one prompt, passing partial answers to ``say`` while the server sends them."""
        answers: list[Answer] = []

        async def work(give: Callable[[str | Numbered], None]) -> None:
            await self._ask_all([prompt], sampling, give, PartialAnswers(give, sampling.stop))

        for found in results_of(work):
            if isinstance(found, str):
                say(found)
            else:
                answers.append(found[1])
        return answers[0]

    async def _ask_all(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling,
        give: Callable[[Numbered], None],
        partial: PartialAnswers | None = None,
    ) -> None:
        # The client is closed when the work ends, since a program may create many models.
        async with self._client() as client:
            requester = Requester(client, self.address, self.model, self.timeout, self._dialect)
            run = _Run(self, requester, sampling, partial)
            waiting = iter(enumerate(prompts))
            await asyncio.gather(*(run.work(waiting, give) for _ in range(min(self.concurrency, len(prompts)))))
        if run.failure:
            raise run.failure

    def _client(self) -> Any:
        try:
            return _client_library().AsyncOpenAI(
                api_key=self.address.key, base_url=self.address.url, timeout=self.timeout, max_retries=0
            )
        except Exception as error:  # its HTTP library raises many kinds of errors for proxies and certificates
            reason = shortened(self.address.without_secrets(str(error))).rstrip(".")
            raise OptionError(
                f"no connection to {self.address.public} can be set up ({reason}): check OPENAI_BASE_URL, and the "
                "environment's proxies (ALL_PROXY, HTTPS_PROXY, HTTP_PROXY) and certificates (SSL_CERT_FILE)"
            ) from error

    def pause_requests(self, seconds: float) -> None:
        """Start no request for some time: a wait that the server demands applies to all requests."""
        self._not_before = max(self._not_before, time.monotonic() + seconds)

    def remaining_pause(self) -> float:
        """Return the number of seconds for which no request may start."""
        return max(0.0, self._not_before - time.monotonic())


class _StoppedError(Exception):
    """Another prompt failed permanently, so this one is abandoned."""


class _Run:
    """The prompts of one call, and whether one of them failed permanently.

    :param partial: reports the answer of a single prompt if it is streamed.
    """

    def __init__(
        self, model: OpenAIModel, requester: Requester, sampling: Sampling, partial: PartialAnswers | None
    ) -> None:
        self.model = model
        self.requester = requester
        self.sampling = sampling
        self.partial = partial
        self.failure: LanguageModelError | None = None
        self.over = asyncio.Event()

    async def work(self, waiting: Iterator[tuple[int, Prompt]], give: Callable[[Numbered], None]) -> None:
        """Answer one prompt after the other until one fails."""
        for number, prompt in waiting:
            if self.over.is_set():
                return
            try:
                answer = await self._answer(prompt)
            except _StoppedError:
                return
            except LanguageModelError as error:
                self.failure = self.failure or error
                self.over.set()
                return
            self.model.usage.add(answer)
            give((number, answer))

    async def _answer(self, prompt: Prompt) -> Answer:
        for attempt in range(1, self.model.retries + 2):
            await self._sleep(self.model.remaining_pause())
            try:
                report = self.partial.report if self.partial else None
                return self._read(prompt, await self.requester.ask(prompt, self.sampling, report))
            except TryAgainError as error:
                self.model.usage.add_tokens(*error.tokens)
                if self.partial and self.partial.reported:
                    raise self._interrupted(error) from error
                if attempt > self.model.retries or self.over.is_set():
                    return self._give_up(error, attempt)
                await self._wait(error, attempt)
        raise AssertionError("the last attempt returns or raises")

    def _read(self, prompt: Prompt, found: ServerAnswer) -> Answer:
        read, written = estimate_tokens(prompt), estimate_tokens(found.text or "")
        answer = as_answer(found, self.sampling.stop, read, written)
        if not isinstance(answer, Completion):
            self.model.usage.add_tokens(found.prompt_tokens or 0, found.completion_tokens or 0)
        return answer

    def _give_up(self, error: TryAgainError, attempts: int) -> Answer:
        if error.empty:
            return NoAnswer(EMPTY)
        raise LanguageModelError(
            f"{self.model.address.public} failed {attempts} time(s), last with {error}: check the server at "
            "OPENAI_BASE_URL, then run the command again"
        ) from error

    def _interrupted(self, error: TryAgainError) -> LanguageModelError:
        return LanguageModelError(
            f"{self.model.address.public} broke off in the middle of an answer ({error}): try again"
        )

    async def _wait(self, error: TryAgainError, attempt: int) -> None:
        wait = wait_before(attempt, error.headers, self.model.first_wait)
        if wait > PATIENCE:
            raise LanguageModelError(
                f"{self.model.address.public} accepts no requests for {wait:.0f} seconds ({error}): run the "
                "command again after that"
            ) from error
        self.model.usage.add_retry()
        if retry_after(error.headers) is not None:
            self.model.pause_requests(wait)
            wait += random.uniform(0, self.model.first_wait)  # so that not all retry at the same moment
        await self._sleep(wait)

    async def _sleep(self, seconds: float) -> None:
        """Sleep; stop if another prompt fails permanently meanwhile."""
        if seconds > 0:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.over.wait(), seconds)
                raise _StoppedError


def _client_library() -> Any:
    try:
        import openai
    except ImportError as error:
        raise MissingDependencyError(
            'language models behind a server need openai: pip install "parlai-empathy[openai]"'
        ) from error
    return openai
