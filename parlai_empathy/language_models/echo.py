"""A backend without a model, which repeats the user's last message. For tests, and for trying out prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from parlai_empathy.language_models.completion import Answer, Completion, answer_of
from parlai_empathy.language_models.language_model import Backend
from parlai_empathy.language_models.partial_answers import Say
from parlai_empathy.language_models.prompt import Prompt, Sampling
from parlai_empathy.language_models.usage import Usage

# A speaker's name before a line, as in "Human: hello": one or two capitalised words.
_SPEAKER = re.compile(r"\s*[A-Z][\w-]*( [A-Z][\w-]*)?:(\s+|$)")


class EchoModel(Backend):
    """Repeats the user's last message, or the last line of a text without its speaker's name. Its tokens are words."""

    identity = ""

    def __init__(self, model: str = "", context_length: int | None = None, usage: Usage | None = None) -> None:
        self.name = f"echo:{model}" if model else "echo"
        self.context_length = context_length
        self.usage = usage or Usage()

    def count_tokens(self, prompt: Prompt) -> int:
        """Return the number of words."""
        return len(prompt.split()) if isinstance(prompt, str) else sum(len(one.content.split()) for one in prompt)

    def stream(self, prompt: Prompt, sampling: Sampling, say: Say) -> Answer:
        """Answer one prompt, passing the answer to ``say`` word by word."""
        (answer,) = self.complete([prompt], sampling)
        if isinstance(answer, Completion):
            for word in re.finditer(r"\S+", answer.text):
                say(answer.text[: word.end()])
        return answer

    def answers(self, prompts: Sequence[Prompt], sampling: Sampling) -> Iterator[tuple[int, Answer]]:
        """Yield the number of each prompt and its answer."""
        for number, prompt in enumerate(prompts):
            said = _last_said(prompt).split()
            words = said[: sampling.max_tokens]
            finish = "stop" if words == said else "length"
            answer = answer_of(" ".join(words), sampling.stop, finish, self.count_tokens(prompt), len(words))
            self.usage.add(answer)
            yield number, answer


def _last_said(prompt: Prompt) -> str:
    if isinstance(prompt, str):
        said = [_SPEAKER.sub("", line, count=1).strip() for line in prompt.splitlines()]
        return next((line for line in reversed(said) if line), "")
    return next((one.content for one in reversed(prompt) if one.role == "user"), "")
