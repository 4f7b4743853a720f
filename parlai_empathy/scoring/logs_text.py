"""The text logs that MoEL (Lin et al. 2019) and its successors write in tests: one block of lines per item.

::

    Emotion: proud
    Context: ['i won the race today', 'well done ! was it a long one ?', 'it was my first marathon']
    MoEL: you must be so proud of yourself .
    Ref: wow , that is a long way .

After the context there is one line per system, for the same systems in each block; ``Pred`` and similar keys do not
name one. EmpDG adds ``Emotion_context``, CEM adds lines of knowledge before the context: both are ignored. Keys are
case-insensitive.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError
from parlai_empathy.scoring.logged_reply import LoggedReply

_FIRST = "emotion"
_NO_REPLY = ("emotion_context",)
_NO_NAME = ("pred", "prediction", "response", "reply")  # a log of a single system need not name it


@dataclass
class _Block:
    """What was read of an item so far."""

    line: int
    emotion: str
    context: tuple[str, ...] | None = None
    replies: dict[str, str] = field(default_factory=dict)
    reference: str | None = None


def starts_block(line: str) -> bool:
    """Whether a line is the first of a block."""
    return _key(line) == _FIRST


def _key(line: str) -> str:
    return line.partition(":")[0].strip().lower()


def read_blocks(lines: Iterator[tuple[int, str]], path: Path) -> Iterator[LoggedReply]:
    """Read the blocks; an item with several systems gives one record per system.

    :param lines: line numbers and texts.
    :raises DataError: if a line is unexpected, or a block lacks one.
    """
    block: _Block | None = None
    systems: dict[str, str] = {}  # the first block's replies
    for number, line in lines:
        if not line.strip(" \t\r\n-"):  # blank, or CEM's separator between blocks
            continue
        if starts_block(line):
            if block:
                systems = systems or block.replies
                yield from _records(block, path, systems)
            block = _Block(number, line.partition(":")[2].strip())
        elif block is None:
            raise DataError(f"{path}, line {number}: {line.strip()[:40]!r} comes before the first Emotion: line")
        else:
            _add(block, line, f"{path}, line {number}")
    if block:
        yield from _records(block, path, systems or block.replies)


def _add(block: _Block, line: str, where: str) -> None:
    """Add a line to its block."""
    name, colon, value = line.partition(":")
    name, key, value = name.strip(), _key(line), value.strip()
    if not colon:
        raise DataError(f"{where}: {line.strip()[:40]!r} is not a line of the form 'key: text'")
    system = "" if key in _NO_NAME else name
    is_context, is_reference = key == "context", key in ("ref", "reference")
    known = block.context if is_context else block.reference if is_reference else block.replies.get(system)
    if known is not None:
        raise DataError(f"{where}: a second line {name} in the block that starts at line {block.line}")
    if is_context:
        block.context = _turns(value, where)
    elif is_reference:
        block.reference = value
    elif block.context is not None and key not in _NO_REPLY:
        block.replies[system] = value


def _records(block: _Block, path: Path, systems: Collection[str]) -> Iterator[LoggedReply]:
    found = {"Context": block.context is not None, "with a reply": block.replies, "Ref": block.reference is not None}
    lacking = next((name for name, is_there in found.items() if not is_there), None)
    if lacking:
        raise DataError(
            f"{path}, line {block.line}: the block that starts here has no line {lacking}: is the file truncated?"
        )
    _check_systems(block, systems, path)
    for system, reply in block.replies.items():
        references = (block.reference,) if block.reference else ()
        yield LoggedReply(reply, block.context or (), references, block.emotion or None, system, line=block.line)


def _check_systems(block: _Block, systems: Collection[str], path: Path) -> None:
    """Check that a block has the first block's systems: another one may be a later line of a reply that has a colon."""
    for name in dict.fromkeys((*block.replies, *systems)):
        is_there = name in block.replies
        if is_there != (name in systems):
            raise DataError(
                f"{path}, line {block.line}: the block that starts here {'has' if is_there else 'lacks'} a line "
                f"{name[:40] or 'Pred'}, unlike the first block: write each system's reply on one line, in all blocks"
            )


def _turns(text: str, where: str) -> tuple[str, ...]:
    """Parse turns that Python printed as a list of texts, or of lists of words."""
    turns = printed_list(text)
    if not turns:
        raise DataError(f"{where}: Context is {text[:40]!r}, expected a list of turns such as ['hello', 'hi there']")
    texts = tuple(" ".join(turn) if _is_words(turn) else turn for turn in turns)
    if not all(isinstance(turn, str) for turn in texts):
        raise DataError(f"{where}: Context contains something that is not a text")
    return texts


def printed_list(text: str) -> list[Any] | None:
    """Return a list that Python printed; None if the text is something else."""
    try:
        found: Any = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def _is_words(turn: Any) -> bool:
    return isinstance(turn, list) and all(isinstance(word, str) for word in turn)
