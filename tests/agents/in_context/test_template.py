"""Prompts, character by character, and error messages for invalid files."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.agents.in_context.template import PROMPTS, Turn, load_template
from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.prompt import Message

TURNS = [Turn("I lost my key.", False), Turn("Oh no! Where?", True), Turn("In the lake.", False)]
EXAMPLES = [("We won!", "Wow."), ("I fell.", "Ouch!", "Off a horse.", "Poor you.")]
PAPER = load_template("paper")

PLAIN = {
    "instruction": "Be kind.",
    "person": "A: {text}",
    "listener": "B: {text}",
    "example": "<{turns}>",
    "prompt": "{examples}|{instruction}|{turns}|B:",
}


def written(path: Path, **changes: object) -> str:
    """Write a prompt's file: a valid one with changes; None removes a part."""
    parts = {name: part for name, part in {**PLAIN, **changes}.items() if part is not None}
    path.write_text(yaml.safe_dump(parts, allow_unicode=True))
    return str(path)


def test_paper_prompt_ends_with_the_replying_speakers_name() -> None:
    assert PAPER.render([], TURNS) == (
        f"{PAPER.instruction}\n\nHuman: I lost my key.\nEmpathy AI: Oh no! Where?\nHuman: In the lake.\nEmpathy AI:"
    )
    assert PAPER.instruction.count(".") == 1  # one sentence
    assert PAPER.stop == ("Human:", "Empathy AI:", PAPER.instruction)  # the instruction begins the next example


def test_paper_prompt_repeats_the_instruction_for_each_example() -> None:
    assert PAPER.render(EXAMPLES, TURNS[-1:]) == (
        f"{PAPER.instruction}\n\nHuman: We won!\nEmpathy AI: Wow.\n\n"
        f"{PAPER.instruction}\n\nHuman: I fell.\nEmpathy AI: Ouch!\nHuman: Off a horse.\nEmpathy AI: Poor you.\n\n"
        f"{PAPER.instruction}\n\nHuman: In the lake.\nEmpathy AI:"
    )


def test_chat_prompt_puts_examples_in_the_system_message() -> None:
    chat = load_template("chat")
    bare = chat.render([], TURNS)
    assert bare == (
        Message("system", chat.instruction),
        Message("user", "I lost my key."),
        Message("assistant", "Oh no! Where?"),
        Message("user", "In the lake."),
    )
    shown = chat.render(EXAMPLES, TURNS)
    assert shown[1:] == bare[1:]
    assert shown[0].content == (
        f"{chat.instruction}{chat.before_examples}\n\nExample:\nSpeaker: We won!\nListener: Wow.\n\nExample:\n"
        "Speaker: I fell.\nListener: Ouch!\nSpeaker: Off a horse.\nListener: Poor you."
    )


def test_consecutive_turns_of_one_speaker_are_merged() -> None:
    turns = [Turn("a", False), Turn("b", False), Turn("c", True), Turn("d", True), Turn("e", False)]
    found = [(message.role, message.content) for message in load_template("chat").render([], turns)[1:]]
    assert found == [("user", "a\nb"), ("assistant", "c\nd"), ("user", "e")]


@given(st.text(min_size=1), st.sampled_from(PROMPTS))
def test_placeholders_in_turns_are_not_substituted(text: str, name: str) -> None:
    """Any text is in the prompt unchanged."""
    said = f"{{examples}} {{turns}} {text} {{text}} \\1"
    prompt = load_template(name).render([(said, said)], [Turn(said, False)])
    whole = prompt if isinstance(prompt, str) else "\n".join(message.content for message in prompt)
    assert whole.count(said) == 3


def test_custom_prompt_file_is_rendered(tmp_path: Path) -> None:
    template = load_template(written(tmp_path / "own.yaml", before_examples="Look: ", stop=["A:", "({instruction}"]))
    assert template.render([], TURNS[:1]) == "|Be kind.|A: I lost my key.|B:"
    assert template.render(EXAMPLES[:1], TURNS[:1]) == "Look: <A: We won!\nB: Wow.>|Be kind.|A: I lost my key.|B:"
    assert template.stop == ("A:", "(Be kind.")


def test_text_before_the_examples_may_contain_the_instruction(tmp_path: Path) -> None:
    template = load_template(written(tmp_path / "own.yaml", before_examples="{instruction} Look: "))
    prompt = template.render(EXAMPLES[:1], TURNS[:1])
    assert prompt == "Be kind. Look: <A: We won!\nB: Wow.>|Be kind.|A: I lost my key.|B:"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"person": None}, "lacks person"),
        ({"person": None, "example": None}, "lacks person, example"),
        ({"before_examples": "{turns}"}, r"before_examples contains \{turns\}, expected only \{instruction\}"),
        ({"person": "A:"}, r"person lacks \{text\}"),
        ({"example": "no turn"}, r"example lacks \{turns\}"),
        ({"prompt": "{instruction}"}, r"prompt lacks \{examples\}, \{turns\}"),
        ({"prompt": "{examples}{turns}{situation}"}, r"prompt contains \{situation\}, expected only \{examples\}"),
        ({"prompt": None}, "either prompt, .* or system"),
        ({"system": "{examples}"}, "either prompt, .* or system"),
        ({"prompt": None, "system": "{instruction}"}, r"system lacks \{examples\}"),
        ({"instruction": 3}, "instruction is 3, expected a text"),
        ({"instruction": " "}, "instruction is ' ', expected a text"),
        ({"stop": "Human:"}, "stop is 'Human:', expected a list"),
        ({"stop": [""]}, r"stop is \[''\], expected a list"),
        ({"stop": ["A:", "{turns}"]}, r"stop contains \{turns\}, expected only \{instruction\}"),
        ({"stops": ["A:"]}, "there is no part 'stops'; the parts are instruction, person"),
    ],
)
def test_invalid_prompt_file_error_states_the_reason(tmp_path: Path, changes: dict[str, object], reason: str) -> None:
    path = written(tmp_path / "own.yaml", **changes)
    with pytest.raises(OptionError, match=rf"^--prompt {path}.*{reason}") as caught:
        load_template(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a: [", "is not valid YAML"),
        (b"- a\n- b\n", "names no parts"),
        (b"", "names no parts"),
        (b"\xff\xfe\x00", "is not valid YAML"),
        (b"a: !!python/object/apply:os.getcwd []", "is not valid YAML"),  # nothing in a file is executed
    ],
)
def test_malformed_prompt_file_raises_option_error(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_bytes(content)
    with pytest.raises(OptionError, match=reason) as caught:
        load_template(str(path))
    assert "\n" not in str(caught.value)


def test_missing_prompt_file_error_lists_the_choices(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"cannot be read \(No such file or directory\): name paper, chat, or a file"):
        load_template(str(tmp_path / "none"))
