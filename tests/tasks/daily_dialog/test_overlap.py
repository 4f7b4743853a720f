"""Which training dialogues overlap with another split."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from parlai_empathy.tasks.daily_dialog import overlap
from parlai_empathy.tasks.daily_dialog.overlap import exchanges, without_overlap
from parlai_empathy.tasks.daily_dialog.reader import Dialogue, Turn, read_daily_dialog


def dialogue(*texts: str) -> Dialogue:
    return Dialogue("x", tuple(Turn(text, "inform", "no_emotion") for text in texts))


HELD_OUT = [dialogue("How are you ?", "I'm fine .", "Good .")]


def kept(*texts: str) -> bool:
    return bool(without_overlap([dialogue(*texts)], HELD_OUT))


def test_shared_exchange_is_overlap_at_any_position() -> None:
    assert not kept("How are you ?", "I'm fine .", "Good .")
    assert not kept("Hello .", "How are you ?", "I'm fine .")
    assert not kept("I'm fine .", "Good .", "Bye .")


def test_overlap_ignores_case_punctuation_and_spaces() -> None:
    assert not kept("how are you", "I ' m fine!")


def test_shared_single_turns_are_not_overlap() -> None:
    assert kept("How are you ?", "Well .", "Good .")
    assert kept("I'm fine .", "How are you ?")  # in reverse order


def test_single_turn_dialogue_has_no_exchanges() -> None:
    assert list(exchanges(dialogue("How are you ?"))) == []
    assert kept("How are you ?")


def test_remaining_dialogues_keep_their_order() -> None:
    first, second = dialogue("a", "b"), dialogue("c", "d")
    assert without_overlap([first, *HELD_OUT, second], HELD_OUT) == [first, second]


def test_readme_has_the_overlap_of_the_full_dataset(real_data: Path) -> None:
    """Counted without the module's code."""
    train, valid, test = (
        list(read_daily_dialog(real_data / f"dailydialog/{split}.zip")) for split in ("train", "validation", "test")
    )
    texts, same = {letter_by_letter(one) for one in train}, {plain(one) for one in train}
    answers = {pair for turns in same for pair in pairwise(turns)}
    rows = [
        [sum(letter_by_letter(one) in texts for one in split) for split in (valid, test)],
        [sum(plain(one) in same for one in split) for split in (valid, test)],
        [sum(any(pair in answers for pair in pairwise(plain(one))) for one in split) for split in (valid, test)],
        [sum(pair in answers for one in split for pair in pairwise(plain(one))) for split in (valid, test)],
    ]
    readme = (Path(overlap.__file__).parent / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## Overlap of the splits")[2]
    cells = re.findall(r"\| ([\d,]+) \| ([\d,]+) \|$", section, re.MULTILINE)
    assert [[int(cell.replace(",", "")) for cell in row] for row in cells] == rows


def letter_by_letter(one: Dialogue) -> tuple[str, ...]:
    return tuple(turn.text for turn in one.turns)


def plain(one: Dialogue) -> tuple[str, ...]:
    return tuple(" ".join(re.findall(r"[^\W_]+", turn.text.lower())) for turn in one.turns)
