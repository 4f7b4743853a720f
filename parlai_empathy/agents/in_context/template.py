"""Prompts as files: how an instruction, examples and a conversation become what a language model is given.

A file is YAML. With ``prompt`` it makes one text that the model goes on with; with ``system`` it makes a chat, whose
system message that is, and whose other messages are the conversation's turns.

=================== ====================================================================================
``instruction``     what the model is to do
``person``          a turn of the person, as a line: holds ``{text}``
``listener``        a turn of the one who replies, as a line: holds ``{text}``
``example``         one example: holds ``{turns}``, its lines, and perhaps ``{instruction}``
``before_examples`` what stands before the first example, if there is one; may be left out
``prompt``          the whole text: holds ``{examples}`` and ``{turns}``, and perhaps ``{instruction}``
``system``          in the place of ``prompt``: holds ``{examples}``, and perhaps ``{instruction}``
``stop``            a list of texts at which a reply ends; may be left out
=================== ====================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from parlai_empathy.errors import OptionError, one_line
from parlai_empathy.language_models.prompt import Message, Prompt

_OWN = Path(__file__).parent / "prompts"
PROMPTS = tuple(sorted((path.stem for path in _OWN.glob("*.yaml")), reverse=True))
"""The names of the prompts that come with this package."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
# What each part must hold, and what it may hold too.
_PLACEHOLDERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "person": (("text",), ()),
    "listener": (("text",), ()),
    "example": (("turns",), ("instruction",)),
    "prompt": (("examples", "turns"), ("instruction",)),
    "system": (("examples",), ("instruction",)),
}
_PARTS = ("instruction", *_PLACEHOLDERS, "before_examples", "stop")
_OPTIONAL = ("before_examples", "stop", "prompt", "system")


class Turn(NamedTuple):
    """What somebody said.

    :param is_own: whether it was the one who is to reply now.
    """

    text: str
    is_own: bool


@dataclass(frozen=True)
class Template:
    """What a prompt's file says; the parts are described in this module's docstring.

    :param prompt: empty for a chat.
    :param system: empty for a text.
    """

    instruction: str
    person: str
    listener: str
    example: str
    before_examples: str = ""
    prompt: str = ""
    system: str = ""
    stop: tuple[str, ...] = ()

    def render(self, examples: Sequence[Sequence[str]], turns: Sequence[Turn]) -> Prompt:
        """The prompt.

        :param examples: conversations, the one to stand last at the end; the first turn of each is the person's, and
            each other one the listener's.
        :param turns: of the conversation, oldest first.
        """
        shown = "".join(self._example(example) for example in examples)
        parts = {"instruction": self.instruction, "examples": self.before_examples + shown if examples else ""}
        if self.prompt:
            return _filled(self.prompt, {**parts, "turns": self._lines(turns)})
        return (Message("system", _filled(self.system, parts)), *_messages(turns))

    def _example(self, example: Sequence[str]) -> str:
        turns = [Turn(text, bool(place % 2)) for place, text in enumerate(example)]
        return _filled(self.example, {"instruction": self.instruction, "turns": self._lines(turns)})

    def _lines(self, turns: Sequence[Turn]) -> str:
        return "\n".join(_filled(self.listener if turn.is_own else self.person, {"text": turn.text}) for turn in turns)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Put values in the places of their names. What stands in a value is never taken for a placeholder."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _messages(turns: Sequence[Turn]) -> list[Message]:
    """One message a turn. Turns of one role in a row become one, because many chat templates know no others."""
    messages: list[Message] = []
    for turn in turns:
        role = "assistant" if turn.is_own else "user"
        if messages and messages[-1].role == role:
            messages[-1] = Message(role, f"{messages[-1].content}\n{turn.text}")
        else:
            messages.append(Message(role, turn.text))
    return messages


def load_template(name: str) -> Template:
    """Read a prompt.

    :param name: one of :data:`PROMPTS`, or a file of the user's own.
    :raises OptionError: if there is none, or the file does not describe one.
    """
    path = _OWN / f"{name}.yaml" if name in PROMPTS else Path(name).expanduser()
    parts = _read(path)
    if unknown := [key for key in parts if key not in _PARTS]:
        raise OptionError(f"--prompt {path}: there is no part {unknown[0]!r}; the parts are {', '.join(_PARTS)}")
    if missing := [key for key in _PARTS if key not in parts and key not in _OPTIONAL]:
        raise OptionError(f"--prompt {path} lacks {', '.join(missing)}: write it as {_OWN / 'paper.yaml'} has it")
    if ("prompt" in parts) == ("system" in parts):
        raise OptionError(f"--prompt {path}: write either prompt, for a text to go on with, or system, for a chat")
    stop = parts.pop("stop", [])
    if not isinstance(stop, list) or not all(isinstance(text, str) and text for text in stop):
        raise OptionError(f"--prompt {path}: stop is {stop!r:.60}, expected a list of texts")
    for key, text in parts.items():
        _check_part(path, key, text)
    return Template(**parts, stop=tuple(stop))


def _read(path: Path) -> dict[str, Any]:
    try:
        parts = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        own = ", ".join(PROMPTS)
        raise OptionError(f"--prompt {path} cannot be read ({error.strerror}): name {own}, or a file") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise OptionError(
            f"--prompt {path} is no YAML ({one_line(error)}): write a line `name: text` for each part"
        ) from error
    if not isinstance(parts, dict):
        raise OptionError(f"--prompt {path} names no parts: write a line `name: text` for each of {', '.join(_PARTS)}")
    return parts


def _check_part(path: Path, key: str, text: object) -> None:
    """See that a part is a text with its placeholders, and with no others."""
    if not isinstance(text, str) or not (text.strip() or key == "before_examples"):
        raise OptionError(f"--prompt {path}: {key} is {text!r:.60}, expected a text")
    if key not in _PLACEHOLDERS:
        return
    needed, allowed = _PLACEHOLDERS[key]
    found = _PLACEHOLDER.findall(text)
    if missing := [f"{{{name}}}" for name in needed if name not in found]:
        raise OptionError(f"--prompt {path}: {key} lacks {', '.join(missing)}: write it where it is to stand")
    if unknown := [f"{{{name}}}" for name in found if name not in (*needed, *allowed)]:
        known = ", ".join(f"{{{name}}}" for name in (*needed, *allowed))
        raise OptionError(f"--prompt {path}: {key} holds {unknown[0]}, but there is only {known}")
