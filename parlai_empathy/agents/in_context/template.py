"""Prompt templates: files that combine an instruction, examples and a conversation into a model's input.

A file is YAML. With ``prompt`` it makes a text that the model continues; with ``system`` it makes a chat, with that
system message and the conversation's turns as the other messages.

=================== ====================================================================================
``instruction``     the model's task
``person``          a turn of the person, as a line: contains ``{text}``
``listener``        a turn of the one who replies, as a line: contains ``{text}``
``example``         one example: contains ``{turns}``, its lines, and optionally ``{instruction}``
``before_examples`` text before the first example, if any, which may contain ``{instruction}``; optional
``prompt``          the whole text: contains ``{examples}`` and ``{turns}``, and optionally ``{instruction}``
``system``          instead of ``prompt``: contains ``{examples}``, and optionally ``{instruction}``
``stop``            a list of texts at which a reply ends, which may contain ``{instruction}``; optional
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
from parlai_empathy.files.user_path import user_path
from parlai_empathy.language_models.prompt import Message, Prompt

_OWN = Path(__file__).parent / "prompts"
PROMPTS = tuple(sorted((path.stem for path in _OWN.glob("*.yaml")), reverse=True))
"""The names of the built-in prompts."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
# The required and the optional placeholders of each part.
_PLACEHOLDERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "person": (("text",), ()),
    "listener": (("text",), ()),
    "example": (("turns",), ("instruction",)),
    "before_examples": ((), ("instruction",)),
    "prompt": (("examples", "turns"), ("instruction",)),
    "system": (("examples",), ("instruction",)),
}
_PARTS = ("instruction", *_PLACEHOLDERS, "stop")
_OPTIONAL = ("before_examples", "stop", "prompt", "system")


class Turn(NamedTuple):
    """One turn of a conversation.

    :param is_own: whether it is by the agent that replies now.
    """

    text: str
    is_own: bool


@dataclass(frozen=True)
class Template:
    """The contents of a prompt file; the parts are described in this module's docstring.

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
        """Build the prompt.

        :param examples: conversations, in the order in which they are shown; in each, turns alternate, starting with
            the person's.
        :param turns: of the conversation, oldest first.
        """
        parts = {"instruction": self.instruction}
        shown = [_filled(self.before_examples, parts), *map(self._example, examples)] if examples else []
        parts["examples"] = "".join(shown)
        if self.prompt:
            return _filled(self.prompt, {**parts, "turns": self._lines(turns)})
        return (Message("system", _filled(self.system, parts)), *_messages(turns))

    def _example(self, example: Sequence[str]) -> str:
        turns = [Turn(text, bool(place % 2)) for place, text in enumerate(example)]
        return _filled(self.example, {"instruction": self.instruction, "turns": self._lines(turns)})

    def _lines(self, turns: Sequence[Turn]) -> str:
        return "\n".join(_filled(self.listener if turn.is_own else self.person, {"text": turn.text}) for turn in turns)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Substitute placeholders in one pass: text inside a value is never taken for a placeholder."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _messages(turns: Sequence[Turn]) -> list[Message]:
    """Return one message per turn. Consecutive turns of one role are merged, as many chat templates require."""
    messages: list[Message] = []
    for turn in turns:
        role = "assistant" if turn.is_own else "user"
        if messages and messages[-1].role == role:
            messages[-1] = Message(role, f"{messages[-1].content}\n{turn.text}")
        else:
            messages.append(Message(role, turn.text))
    return messages


def load_template(name: str) -> Template:
    """Load a prompt template.

    :param name: one of :data:`PROMPTS`, or the path of a file.
    :raises OptionError: if it does not exist, or is not a valid template.
    """
    path = _OWN / f"{name}.yaml" if name in PROMPTS else user_path(name)
    parts = _read(path)
    if unknown := [key for key in parts if key not in _PARTS]:
        raise OptionError(f"--prompt {path}: there is no part {unknown[0]!r}; the parts are {', '.join(_PARTS)}")
    if missing := [key for key in _PARTS if key not in parts and key not in _OPTIONAL]:
        raise OptionError(f"--prompt {path} lacks {', '.join(missing)}: add what {_OWN / 'paper.yaml'} shows")
    if ("prompt" in parts) == ("system" in parts):
        raise OptionError(f"--prompt {path}: write either prompt, for a text to continue, or system, for a chat")
    stop = parts.pop("stop", [])
    if not isinstance(stop, list) or not all(isinstance(text, str) and text for text in stop):
        raise OptionError(f"--prompt {path}: stop is {stop!r:.60}, expected a list of texts")
    for key, text in parts.items():
        _check_part(path, key, text)
    for text in stop:
        _check_placeholders(path, "stop", text, (), ("instruction",))
    instruction = {"instruction": parts["instruction"].strip()}
    return Template(**parts, stop=tuple(_filled(text, instruction) for text in stop))


def _read(path: Path) -> dict[str, Any]:
    try:
        parts = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        own = ", ".join(PROMPTS)
        raise OptionError(f"--prompt {path} cannot be read ({error.strerror}): name {own}, or a file") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise OptionError(
            f"--prompt {path} is not valid YAML ({one_line(error)}): write a line `name: text` for each part"
        ) from error
    if not isinstance(parts, dict):
        raise OptionError(f"--prompt {path} names no parts: write a line `name: text` for each of {', '.join(_PARTS)}")
    return parts


def _check_part(path: Path, key: str, text: object) -> None:
    """Check that a part is a text with its required placeholders and no unknown ones."""
    if not isinstance(text, str) or not (text.strip() or key == "before_examples"):
        raise OptionError(f"--prompt {path}: {key} is {text!r:.60}, expected a text")
    if key in _PLACEHOLDERS:
        _check_placeholders(path, key, text, *_PLACEHOLDERS[key])


def _check_placeholders(path: Path, key: str, text: str, needed: Sequence[str], allowed: Sequence[str]) -> None:
    found = _PLACEHOLDER.findall(text)
    if missing := [f"{{{name}}}" for name in needed if name not in found]:
        raise OptionError(f"--prompt {path}: {key} lacks {', '.join(missing)}: add it where its text belongs")
    if unknown := [f"{{{name}}}" for name in found if name not in (*needed, *allowed)]:
        known = ", ".join(f"{{{name}}}" for name in (*needed, *allowed))
        raise OptionError(f"--prompt {path}: {key} contains {unknown[0]}, expected only {known}")
