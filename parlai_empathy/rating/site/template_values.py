"""A study's texts, items and examples, prepared for templates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from parlai_empathy.rating.desk.outcomes import Assignment
from parlai_empathy.rating.site.fields import options_of
from parlai_empathy.rating.study.study import Example, Study

OTHER, OWN = "A", "B"
"""The speaker before the reply, and the speaker of the reply."""
SILENCE = "(says nothing)"


@dataclass(frozen=True)
class Turn:
    """A turn of a conversation.

    :param is_own: whether its speaker is the one whose reply is judged.
    """

    who: str
    text: str
    is_own: bool


@dataclass(frozen=True)
class Judged:
    """One thing that is judged.

    :param name: its heading.
    :param turns: all turns of a whole dialogue; otherwise the reply alone.
    """

    name: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Shown:
    """An item or example.

    :param context: the turns before the reply; empty for whole dialogues.
    :param judged: one thing, or two that are compared, the left one first.
    """

    context: tuple[Turn, ...]
    judged: tuple[Judged, ...]


@dataclass(frozen=True)
class ShownExample:
    """An example with the expected answers: pairs of the question's and the answer's text."""

    shown: Shown
    answers: tuple[tuple[str, str], ...]
    why: str


@dataclass(frozen=True)
class Paragraph:
    """A part of a study's text: a paragraph or a list."""

    text: str = ""
    points: tuple[str, ...] = ()


def sides_of(study: Study) -> tuple[str, str]:
    """Return the names of the two things that are compared."""
    what = "Conversation" if study.whole_dialogues else "Reply"
    return f"{what} 1 (left)", f"{what} 2 (right)"


def item_shown(study: Study, found: Assignment) -> Shown:
    """Prepare an item."""
    if not found.item.other:
        if study.whole_dialogues:
            return Shown((), (_dialogue("Conversation", found.left.context, found.left.reply),))
        return Shown(turns(found.left.context), (_reply("Reply", found.left.reply),))
    names = sides_of(study)
    sides = (found.left, found.right)
    if study.whole_dialogues:
        judged = [_dialogue(name, side.context, side.reply) for name, side in zip(names, sides, strict=True)]
        return Shown((), tuple(judged))
    judged = [_reply(name, side.reply) for name, side in zip(names, sides, strict=True)]
    return Shown(turns(found.left.context), tuple(judged))


def example_shown(study: Study, one: Example) -> ShownExample:
    """Prepare an example."""
    names, replies = sides_of(study), [one.reply, one.other_reply]
    pair = tuple(_reply(name, reply) for name, reply in zip(names, replies, strict=True))
    judged = pair if study.kind == "pairwise" else (_reply("Reply", one.reply),)
    return ShownExample(Shown(turns(one.context), judged), _answers(study, one), one.why)


def turns(context: Sequence[str]) -> tuple[Turn, ...]:
    """Prepare the turns before a reply. The last turn is the other speaker's."""
    return tuple(_turn(text, is_own=(len(context) - place) % 2 == 0) for place, text in enumerate(context))


def paragraphs(text: str) -> list[Paragraph]:
    """Split a study's text into paragraphs, at empty lines. Lines that begin with ``-`` are the points of a list."""
    found = []
    for block in re.split(r"\n\s*\n", text):
        lead, *points = (" ".join(part.split()) for part in re.split(r"(?:^|\n)\s*-[ \t]+(?=\S)", block))
        if lead:
            found.append(Paragraph(lead))
        if points:
            found.append(Paragraph(points=tuple(points)))
    return found


def _turn(text: str, is_own: bool) -> Turn:
    return Turn(OWN if is_own else OTHER, text or SILENCE, is_own)


def _reply(name: str, reply: str) -> Judged:
    return Judged(name, (_turn(reply, is_own=True),))


def _dialogue(name: str, context: Sequence[str], reply: str) -> Judged:
    return Judged(name, (*turns(context), _turn(reply, is_own=True)))


def _answers(study: Study, one: Example) -> tuple[tuple[str, str], ...]:
    questions = {question.id: question for question in study.questions}
    found = []
    for name, answer in one.answers:
        options = options_of(questions[name], sides_of(study))
        chosen = next(
            (option for option in options if answer.casefold() in (option.value.casefold(), option.key)), None
        )
        meaning = ", ".join(filter(None, (chosen.number, chosen.text))) if chosen else answer
        found.append((questions[name].text, meaning))
    return tuple(found)
