"""Reading FED."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.fed import read_fed
from parlai_empathy.tasks.engagement.records import RatedReply
from parlai_empathy.tasks.engagement.sets import SAMPLE

OneLine = Callable[..., None]

TURN: dict[str, Any] = {
    "context": "User: Hi!\nSystem: Hi! What's up?\nUser: A kite.\nIt flew away.",
    "response": "System: Where to? The System: knows.",
    "system": "Meena",
    "annotations": {"Engaging": [2, 1, 0], "Overall": [4, 4, 4]},
}


def write(tmp_path: Path, *entries: dict[str, Any]) -> Path:
    path = tmp_path / "fed_data.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def test_speaker_names_are_removed_from_turns(tmp_path: Path) -> None:
    assert list(read_fed(write(tmp_path, TURN))) == [
        RatedReply(
            "0",
            ("Hi!", "Hi! What's up?", "A kite. It flew away."),
            "Where to? The System: knows.",
            (2, 1, 0),
            "Meena",
        )
    ]


def test_first_line_may_lack_a_speaker(tmp_path: Path) -> None:
    (found,) = read_fed(write(tmp_path, {**TURN, "context": "Hi!\nAnybody?\nSystem: Hello."}))
    assert found.context == ("Hi! Anybody?", "Hello.")


def test_dialogue_level_entries_are_left_out(tmp_path: Path) -> None:
    dialogue = {name: value for name, value in TURN.items() if name != "response"}
    assert [one.item for one in read_fed(write(tmp_path, dialogue, TURN, dialogue, TURN))] == ["1", "3"]


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"response": 3}, ["response", "3"]),
        ({"response": "System: "}, ["response is empty"]),
        ({"context": None}, ["context", "None"]),
        ({"annotations": None}, ["annotations.Engaging"]),
        ({"annotations": {"Engaging": []}}, ["annotations.Engaging"]),
        ({"annotations": {"Engaging": [1, 3]}}, ["annotations.Engaging", "'3'", "from 0 to 2"]),
        ({"annotations": {"Engaging": [1, "n/a"]}}, ["annotations.Engaging", "'n/a'"]),
    ],
)
def test_invalid_entry_error_names_entry_and_field(
    tmp_path: Path, assert_one_line: OneLine, change: dict[str, Any], parts: list[str]
) -> None:
    path = write(tmp_path, TURN, {**TURN, **change})
    with pytest.raises(DataError) as caught:
        list(read_fed(path))
    assert_one_line(caught.value, path, "entry 1", *parts)


def test_sample_has_five_ratings_per_reply() -> None:
    assert [len(one.ratings) for one in read_fed(SAMPLE / "fed_data.json")] == [5] * 10


def test_counts_of_the_real_data(real_data: Path) -> None:
    found = list(read_fed(real_data / "engagement" / "fed_data.json"))
    assert Counter(one.system for one in found) == {"Mitsuku": 132, "Human": 123, "Meena": 120}  # 375 turns
    assert Counter(rating for one in found for rating in one.ratings) == {2: 1131, 1: 556, 0: 188}
    assert not any(turn.startswith(("User:", "System:")) for one in found for turn in (*one.context, one.reply))
