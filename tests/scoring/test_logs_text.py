"""Text logs of MoEL and similar projects: made-up blocks in each of their layouts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs_text import read_blocks, starts_block

LOG = Path("log.txt")

MOEL = """\
Emotion: proud
Context: ['i won the race', "well done ! who 's that ?", 'my dog : rex']
trs: that is great : really .
MOE: i am proud of you .
ref: how long was it ?

Emotion: sad
Context: ['my cat ran away']
trs:
ref: oh no !
MOE: i am sorry .
"""

EMPDG = "".join(
    f"{line} \n"
    for line in (
        "emotion:proud",
        "Context:['i won the race']",
        "Emotion_context:['won', 'race']",
        "Pred:good for you ! ",
        "Ref:how long was it ?",
    )
)

CEM = """\
Emotion: proud
Pred Emotions: proud, joyful
xIntent:['to win']
Context:[['i', 'won'], ['well', 'done']]
Beam:well run .
Greedy:good .
Ref:how long was it ?
---------------------------------------------------------------
"""


def read(text: str) -> list[LoggedReply]:
    return list(read_blocks(numbered(text), LOG))


def numbered(text: str) -> Iterator[tuple[int, str]]:
    return enumerate(text.splitlines(keepends=True), start=1)


def error_of(text: str) -> str:
    with pytest.raises(DataError) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_block_with_several_systems_and_early_reference() -> None:
    context = ("i won the race", "well done ! who 's that ?", "my dog : rex")
    assert read(MOEL) == [
        LoggedReply("that is great : really .", context, ("how long was it ?",), "proud", "trs", line=1),
        LoggedReply("i am proud of you .", context, ("how long was it ?",), "proud", "MOE", line=1),
        LoggedReply("", ("my cat ran away",), ("oh no !",), "sad", "trs", line=7),
        LoggedReply("i am sorry .", ("my cat ran away",), ("oh no !",), "sad", "MOE", line=7),
    ]


def test_block_of_unnamed_system_with_extra_spaces() -> None:
    (reply,) = read(EMPDG)
    assert reply == LoggedReply("good for you !", ("i won the race",), ("how long was it ?",), "proud", "", line=1)


def test_fields_before_context_are_ignored_and_turns_may_be_word_lists() -> None:
    assert [(reply.system, reply.reply, reply.context) for reply in read(CEM)] == [
        ("Beam", "well run .", ("i won", "well done")),
        ("Greedy", "good .", ("i won", "well done")),
    ]


def test_empty_reference_is_dropped() -> None:
    assert read("Emotion: x\nContext: ['a']\nPred: b\nRef: \n")[0].references == ()


@pytest.mark.parametrize("line", ["Emotion: proud", "emotion:proud", " EMOTION : x"])
def test_emotion_line_starts_a_block(line: str) -> None:
    assert starts_block(line)


@pytest.mark.parametrize("line", ["Context: ['a']", "emotional: x", "", "{}"])
def test_other_lines_do_not_begin_a_block(line: str) -> None:
    assert not starts_block(line)


START = "Emotion: x\nContext: ['a']\n"
ONE = START + "Pred: b\nRef: c\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Pred: b\n", "log.txt, line 1: 'Pred: b' comes before the first Emotion: line"),
        (START + "just words\n", "log.txt, line 3: 'just words' is not a line of the form 'key: text'"),
        (START + "Pred: b\nPred: c\n", "log.txt, line 4: a second line Pred in the block that starts at line 1"),
        (START + "Context: ['b']\n", "log.txt, line 3: a second line Context in the block that starts at line 1"),
        (START + "A: b\nRef: c\nRef:\n", "log.txt, line 5: a second line Ref in the block that starts at line 1"),
        (START + "Pred: b\n", "the block that starts here has no line Ref: is the file truncated?"),
        (START + "Ref: c\n", "log.txt, line 1: the block that starts here has no line with a reply: is the"),
        ("Emotion: x\nRef: c\n", "log.txt, line 1: the block that starts here has no line Context: is the"),
        (
            ONE + ONE + "Then: c\n",
            "log.txt, line 5: the block that starts here has a line Then, unlike the first block: write",
        ),
        (
            ONE + "Then: c\n" + ONE,
            "log.txt, line 6: the block that starts here lacks a line Then, unlike the first block",
        ),
        (ONE + START + "A: b\nRef: c\n", "log.txt, line 5: the block that starts here has a line A, unlike the first"),
        (START + "Pred: b\n" + MOEL, "log.txt, line 1: the block that starts here has no line Ref"),
        ("Emotion: x\nContext: ['a', 'b\n", "log.txt, line 2: Context is \"['a', 'b\", expected a list of turns"),
        ("Emotion: x\nContext: []\n", "log.txt, line 2: Context is '[]', expected a list of turns"),
        ("Emotion: x\nContext: __import__('os')\n", "log.txt, line 2: Context is"),
        ("Emotion: x\nContext: [1]\n", "log.txt, line 2: Context contains something that is not a text"),
        ("Emotion: x\nContext: ['a', 1]\n", "log.txt, line 2: Context contains something that is not a text"),
        ("Emotion: x\nContext: [['a', 1]]\n", "log.txt, line 2: Context contains something that is not a text"),
        ("Emotion: x\nContext: " + "[" * 100_000 + "\n", "log.txt, line 2: Context is"),
    ],
)
def test_invalid_block_error_names_the_line(text: str, message: str) -> None:
    assert re.search(re.escape(message), error_of(text))
