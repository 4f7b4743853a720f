"""Which training dialogues overlap with another split."""

from __future__ import annotations

from parlai_empathy.tasks.daily_dialog.overlap import exchanges, without_overlap
from parlai_empathy.tasks.daily_dialog.reader import Dialogue, Turn


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
