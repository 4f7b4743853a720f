"""The backend ``openai``: any OpenAI-compatible server, through the official client.

Address and key come from the environment (see address.py). Texts go to ``/completions``, chats to
``/chat/completions``. What fails in a way that may pass (429, 5xx, a lost or cut connection, HTML, no answer in time)
is asked again, with longer and longer waits or after the time that the server names; what is refused (4xx) is not.
Nor is an answer asked for again of which something was shown already: it would begin anew, with other words perhaps.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from parlai_empathy.errors import LanguageModelError, MissingDependencyError
from parlai_empathy.language_models.completion import Answer, Completion, NoAnswer
from parlai_empathy.language_models.language_model import in_order
from parlai_empathy.language_models.prompt import Prompt, Sampling
from parlai_empathy.language_models.server.address import server_address
from parlai_empathy.language_models.server.answer import EMPTY, ServerAnswer, as_answer
from parlai_empathy.language_models.server.background import results_of
from parlai_empathy.language_models.server.dialect import Dialect
from parlai_empathy.language_models.server.request import Requester, TryAgainError
from parlai_empathy.language_models.server.token_estimate import estimate_tokens
from parlai_empathy.language_models.server.waiting import PATIENCE, retry_after, wait_before
from parlai_empathy.language_models.telling import Say, Teller
from parlai_empathy.language_models.usage import Usage

Numbered = tuple[int, Answer]


class OpenAIModel:
    """A model behind a server.

    :param model: its name there.
    :param timeout: seconds until an answer must be there.
    :param retries: how often a prompt is asked again.
    :param concurrency: how many requests are under way at once.
    :param context_length: which no server tells.
    :param first_wait: seconds before the first repetition.
    :raises OptionError: if the environment names no server.
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
        """An estimate on the high side: the tokenizer is with the server."""
        return estimate_tokens(prompt)

    def complete(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Answer]:
        """Answer prompts, in their order."""
        return in_order(self, prompts, sampling)

    def answers(self, prompts: Sequence[Prompt], sampling: Sampling) -> Iterator[Numbered]:
        """Answer prompts, several at once. After one that fails for good, those under way are still finished."""

        async def work(give: Callable[[Numbered], None]) -> None:
            await self._ask_all(prompts, sampling, give)

        if prompts:
            yield from results_of(work)

    def stream(self, prompt: Prompt, sampling: Sampling, say: Say) -> Answer:
        """Answer one prompt, and say what there is of the answer while the server sends it."""
        answers: list[Answer] = []

        async def work(give: Callable[[str | Numbered], None]) -> None:
            await self._ask_all([prompt], sampling, give, Teller(give, sampling.stop))

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
        teller: Teller | None = None,
    ) -> None:
        # The client closes its connections when the work ends: a program may make many models.
        async with _client_library().AsyncOpenAI(
            api_key=self.address.key, base_url=self.address.url, timeout=self.timeout, max_retries=0
        ) as client:
            requester = Requester(client, self.address, self.model, self.timeout, self._dialect)
            run = _Run(self, requester, sampling, teller)
            waiting = iter(enumerate(prompts))
            await asyncio.gather(*(run.work(waiting, give) for _ in range(min(self.concurrency, len(prompts)))))
        if run.failure:
            raise run.failure

    def hold_back(self, seconds: float) -> None:
        """Let no request begin for some time: what a server asks of one holds for all."""
        self._not_before = max(self._not_before, time.monotonic() + seconds)

    def held_back(self) -> float:
        """For how many seconds no request may begin."""
        return max(0.0, self._not_before - time.monotonic())


class _StoppedError(Exception):
    """Another prompt has failed for good: this one is not asked any more."""


class _Run:
    """The prompts of one call, and whether one of them has failed for good.

    :param teller: of the one prompt, if its answer is told while it comes.
    """

    def __init__(
        self, model: OpenAIModel, requester: Requester, sampling: Sampling, teller: Teller | None = None
    ) -> None:
        self.model = model
        self.requester = requester
        self.sampling = sampling
        self.teller = teller
        self.failure: LanguageModelError | None = None
        self.over = asyncio.Event()

    async def work(self, waiting: Iterator[tuple[int, Prompt]], give: Callable[[Numbered], None]) -> None:
        """Take prompts, one after the other, as long as none has failed."""
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
            await self._sleep(self.model.held_back())
            try:
                tell = self.teller.tell if self.teller else None
                return self._read(prompt, await self.requester.ask(prompt, self.sampling, tell))
            except TryAgainError as error:
                if self.teller and self.teller.told:
                    raise self._broken_off(error) from error
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
            f"{self.model.address.public} failed {attempts} time(s), at last with {error}: see whether the server at "
            "OPENAI_BASE_URL is well, then run the same again"
        ) from error

    def _broken_off(self, error: TryAgainError) -> LanguageModelError:
        return LanguageModelError(
            f"{self.model.address.public} broke off in the middle of an answer ({error}): ask the same again"
        )

    async def _wait(self, error: TryAgainError, attempt: int) -> None:
        wait = wait_before(attempt, error.headers, self.model.first_wait)
        if wait > PATIENCE:
            raise LanguageModelError(
                f"{self.model.address.public} wants no request for {wait:.0f} seconds ({error}): run the same again "
                "then"
            ) from error
        self.model.usage.add_retry()
        if retry_after(error.headers) is not None:
            self.model.hold_back(wait)
            wait += random.uniform(0, self.model.first_wait)  # not all at the same moment
        await self._sleep(wait)

    async def _sleep(self, seconds: float) -> None:
        """Sleep, unless another prompt fails for good meanwhile."""
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
