"""Studies and their items as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from parlai_empathy.rating.desk.outcomes import Assignment
from parlai_empathy.rating.study.study import Example, Study

OTHER, OWN = "A", "B"
"""The speaker before the reply, and the speaker of the reply."""

SILENCE = "(says nothing)"
HELP = "Type an answer and press Enter. `back` goes to the previous question; `quit` stops, and you can resume later."
HELP_COLLECTING = "Type an answer and press Enter. `quit` ends the session for both; finished conversations are kept."


def introduction(study: Study) -> str:
    """Return what a rater reads before the first item."""
    warning = [f"Please note: {study.content_warning}"] if study.content_warning else []
    examples = [_example(number, one) for number, one in enumerate(study.examples, start=1)]
    parts = [
        f"{study.title}\n{'=' * len(study.title)}",
        *warning,
        study.instructions,
        *examples,
        HELP_COLLECTING if study.kind == "collect" else HELP,
    ]
    return "\n\n".join(part for part in parts if part)


def consent(study: Study) -> str:
    """Return the consent text and how to answer it."""
    return f"{study.consent}\n\nType yes if you agree and want to take part, quit if you do not."


def item_text(study: Study, found: Assignment) -> str:
    """Return an item as it is shown to raters."""
    if not found.item.other:
        return "\n".join([*turns(found.left.context), f" > {OWN}: {found.left.reply or SILENCE}"])
    if study.whole_dialogues:
        sides = [[*turns(side.context), f"   {OWN}: {side.reply or SILENCE}"] for side in (found.left, found.right)]
        return "\n".join(["The first:", *sides[0], "", "The second:", *sides[1], "", f"Judge {OWN} in both."])
    first, second = (side.reply or SILENCE for side in (found.left, found.right))
    return "\n".join([*turns(found.left.context), f" 1 {OWN}: {first}", f" 2 {OWN}: {second}"])


def turns(context: Sequence[str]) -> list[str]:
    """Return the turns before a reply, one per line. The last turn is the other speaker's."""
    return [f"   {OWN if (len(context) - place) % 2 == 0 else OTHER}: {text}" for place, text in enumerate(context)]


def _example(number: int, one: Example) -> str:
    if one.other_reply:
        replies = [f" 1 (left) {OWN}: {one.reply}", f" 2 (right) {OWN}: {one.other_reply}"]
    else:
        replies = [f" > {OWN}: {one.reply}"]
    answers = [f"   {name}: {answer}" for name, answer in one.answers]
    return "\n".join(
        [f"Example {number}", *turns(one.context), *replies, *answers, *([f"   {one.why}"] if one.why else [])]
    )
