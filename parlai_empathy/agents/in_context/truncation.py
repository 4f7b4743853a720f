"""Shortens prompts to fit the model's context: first drops examples, least similar first, then the oldest turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from parlai_empathy.agents.in_context.example_source import Conversation
from parlai_empathy.agents.in_context.template import Template, Turn
from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.prompt import Prompt


class Fitted(NamedTuple):
    """A prompt, and what was dropped from it.

    :param examples: the remaining examples.
    :param dropped_turns: number of turns of the conversation that were dropped.
    """

    prompt: Prompt
    examples: tuple[Conversation, ...]
    dropped_examples: int
    dropped_turns: int

    @property
    def is_shortened(self) -> bool:
        """Whether anything was dropped."""
        return bool(self.dropped_examples or self.dropped_turns)


def fitted(
    template: Template,
    examples: Sequence[Conversation],
    turns: Sequence[Turn],
    room: int | None,
    count_tokens: Callable[[Prompt], int],
) -> Fitted:
    """Return the longest prompt that leaves the model room for its reply.

    :param examples: the most similar one last.
    :param turns: of the conversation, oldest first; the last one is always kept.
    :param room: maximum tokens of the prompt; None for no limit.
    :raises OptionError: if the last turn alone is too long.
    """
    kept_examples, kept_turns = tuple(examples), tuple(turns)
    while True:
        prompt = template.render([example.turns for example in kept_examples], kept_turns)
        if room is None or (length := count_tokens(prompt)) <= room:
            return Fitted(prompt, kept_examples, len(examples) - len(kept_examples), len(turns) - len(kept_turns))
        if kept_examples:
            kept_examples = kept_examples[1:]
        elif len(kept_turns) > 1:
            kept_turns = _without_oldest(kept_turns)
        else:
            raise OptionError(
                f"a prompt of {length:,} tokens, though it has only the last turn: the model takes {max(room, 0):,} "
                "besides its reply: use a model with a longer context, a shorter --prompt, or fewer --max-tokens"
            )


def _without_oldest(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Drop the oldest turn, and then the agent's own turn if that would come first, because it would answer nothing."""
    turns = turns[1:]
    return turns[1:] if turns[0].is_own and len(turns) > 1 else turns
