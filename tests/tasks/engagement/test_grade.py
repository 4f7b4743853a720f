"""Reading GRADE's judgements."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.grade import read_grade
from parlai_empathy.tasks.engagement.records import RatedReply
from parlai_empathy.tasks.engagement.sets import SAMPLE

OneLine = Callable[..., None]

ENTRY: dict[str, Any] = {
    "ID": 7,
    "Dataset": "convai2",
    "DialogModel": "bert_ranker",
    "Context": "i have goats .|||how many  ?",
    "Response": "three .",
    "HumanScores": "[3, 5, 1]",
}


def write(tmp_path: Path, *entries: dict[str, Any]) -> Path:
    path = tmp_path / "human_judgement.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def test_entry_becomes_a_rated_reply(tmp_path: Path) -> None:
    expected = RatedReply("7", ("i have goats .", "how many ?"), "three .", (3, 5, 1), "convai2/bert_ranker")
    assert list(read_grade(write(tmp_path, ENTRY))) == [expected]


def test_scores_may_be_given_as_a_list(tmp_path: Path) -> None:
    (found,) = read_grade(write(tmp_path, {**ENTRY, "HumanScores": [4, 4]}))
    assert found.ratings == (4, 4)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"HumanScores": "3, 5"}, ["HumanScores", "not a list of scores"]),
        ({"HumanScores": "[]"}, ["HumanScores", "not a list of scores"]),
        ({"HumanScores": "[" * 100_000}, ["HumanScores", "not a list of scores"]),
        ({"HumanScores": "[3, 6]"}, ["HumanScores", "'6'"]),
        ({"HumanScores": None}, ["HumanScores"]),
        ({"Response": " "}, ["Response is empty"]),
        ({"Context": 3}, ["Context"]),
        ({"Dataset": None}, ["Dataset"]),
    ],
)
def test_invalid_entry_error_names_entry_and_field(
    tmp_path: Path, assert_one_line: OneLine, change: dict[str, Any], parts: list[str]
) -> None:
    path = write(tmp_path, ENTRY, {**ENTRY, **change})
    with pytest.raises(DataError) as caught:
        list(read_grade(path))
    assert_one_line(caught.value, path, "entry 1", *parts)


def test_sample_has_nine_or_ten_ratings_per_reply() -> None:
    found = list(read_grade(SAMPLE / "human_judgement.json"))
    assert [len(one.ratings) for one in found] == [9, 10] * 5
    assert {len(one.context) for one in found} == {2}
