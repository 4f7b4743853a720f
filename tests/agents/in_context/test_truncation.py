"""Long prompts: what is dropped first, what is kept, and when dropping does not help."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.agents.in_context.example_source import Conversation
from parlai_empathy.agents.in_context.template import Template, Turn
from parlai_empathy.agents.in_context.truncation import Fitted, fitted
from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.prompt import Prompt

# Each turn is a letter; a prompt's length is its letters plus three.
TEMPLATE = Template("", "{text}", "{text}", "{turns}", prompt="[{examples}|{turns}]")
FIXED = 3


def letters(prompt: Prompt) -> int:
    assert isinstance(prompt, str)
    return len(prompt.replace("\n", ""))


def fit(examples: str, turns: str, room: int | None) -> Fitted:
    shown = [Conversation(name, "sad", "", (name,)) for name in examples]
    # The last turn is the other person's, as always when a reply is due.
    spoken = [Turn(text, bool((len(turns) - place) % 2 == 0)) for place, text in enumerate(turns)]
    return fitted(TEMPLATE, shown, spoken, room, letters)


@pytest.mark.parametrize(
    ("room", "prompt", "examples", "turns"),
    [
        (None, "[uvw|a\nb\nc]", 0, 0),
        (9, "[uvw|a\nb\nc]", 0, 0),
        (8, "[vw|a\nb\nc]", 1, 0),  # the most similar one is dropped last
        (7, "[w|a\nb\nc]", 2, 0),
        (6, "[|a\nb\nc]", 3, 0),
        (5, "[|c]", 3, 2),  # b would have nothing to reply to
        (4, "[|c]", 3, 2),
    ],
)
def test_examples_are_dropped_before_turns(room: int | None, prompt: str, examples: int, turns: int) -> None:
    found = fit("uvw", "abc", room)
    assert (found.prompt, found.dropped_examples, found.dropped_turns) == (prompt, examples, turns)
    assert "".join(example.conv_id for example in found.examples) == "uvw"[examples:]


@pytest.mark.parametrize(
    ("own", "room", "prompt", "dropped"),
    [
        ("ac", 6, "[|b\nc\nd]", 1),  # the other person's turn may come first
        ("ab", 4, "[|b]", 1),  # the last turn is kept, whoever said it
    ],
)
def test_single_turn_is_dropped_if_the_next_may_come_first(own: str, room: int, prompt: str, dropped: int) -> None:
    turns = "abcd" if own == "ac" else "ab"
    found = fitted(TEMPLATE, [], [Turn(text, text in own) for text in turns], room, letters)
    assert (found.prompt, found.dropped_turns) == (prompt, dropped)


@pytest.mark.parametrize("room", [3, 0, -20])
def test_last_turn_that_does_not_fit_raises_option_error(room: int) -> None:
    with pytest.raises(OptionError, match=f"a prompt of 4 tokens, .* the model takes {max(room, 0)} besides its reply"):
        fit("uvw", "abc", room)


@given(st.integers(0, 5), st.integers(1, 9), st.integers(FIXED + 1, 20))
def test_shortened_prompt_fits_and_drops_no_more_than_needed(examples: int, turns: int, room: int) -> None:
    found = fit("uvwxy"[:examples], "abcdefghi"[:turns], room)
    left, spoken = examples - found.dropped_examples, turns - found.dropped_turns
    assert letters(found.prompt) == FIXED + left + spoken <= room
    if found.dropped_examples:
        assert FIXED + left + 1 + turns > room
    if found.dropped_turns:
        assert left == 0
        assert FIXED + spoken + 2 > room  # turns are dropped in pairs
