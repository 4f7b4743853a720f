"""ConvAI's conversations as Predictive Engagement reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.convai import (
    LABELS,
    Conversation,
    Labelled,
    read_conversations,
    read_ids,
    split_conversations,
)

OneLine = Callable[..., None]


def entry(said: list[tuple[str, str]], scores: dict[str, float], people: str = "A") -> dict[str, Any]:
    """Return a conversation of A and B; those not in ``people`` are programs."""
    return {
        "dialogId": 5,
        "users": [{"id": one, "userType": "Human" if one in people else "Bot"} for one in "AB"],
        "thread": [{"userId": who, "text": text} for who, text in said],
        "evaluation": [{"userId": who, "engagement": score, "quality": 0} for who, score in scores.items()],
    }


def write(tmp_path: Path, *entries: dict[str, Any]) -> Path:
    path = tmp_path / "train_full.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


TWO = [("A", "Hi"), ("B", "Hello")]


def test_consecutive_messages_of_a_speaker_form_one_turn(tmp_path: Path) -> None:
    said = [("A", "Hi"), ("A", "you\nthere"), ("B", "Yes"), ("A", "Good")]
    (found,) = read_conversations(write(tmp_path, entry(said, {"A": 3, "B": 0})))
    assert found == Conversation("5", ("Hi you there", "Yes", "Good"), "1")


@pytest.mark.parametrize(
    ("scores", "people", "label"),
    [
        ({"A": 3, "B": 0}, "A", "1"),  # of a person and a program, the person's score counts
        ({"A": 2, "B": 5}, "A", "0"),
        ({"A": 0, "B": 5}, "B", "1"),
        ({"A": 2, "B": 4}, "AB", "1"),  # the mean, 3
        ({"A": 2, "B": 3}, "AB", "0"),  # 2.5 is rounded to the even 2, as the authors' Python does
        ({"A": 3, "B": 4}, "AB", "1"),  # and 3.5 to 4
    ],
)
def test_label_depends_on_the_rounded_mean_of_human_scores(
    tmp_path: Path, scores: dict[str, float], people: str, label: str
) -> None:
    (found,) = read_conversations(write(tmp_path, entry(TWO, scores, people)))
    assert found.label == label


@pytest.mark.parametrize(
    "left_out",
    [
        entry([], {"A": 5, "B": 5}),
        entry([("A", "Hi"), ("A", "again")], {"A": 5, "B": 5}),
        entry(TWO, {"A": 5, "B": 5}, people=""),
        entry(TWO, {}),
    ],
)
def test_conversations_without_replies_or_human_scores_are_left_out(tmp_path: Path, left_out: dict[str, Any]) -> None:
    assert list(read_conversations(write(tmp_path, left_out))) == []


@pytest.mark.parametrize("name", [7, ["A"]])
def test_names_of_speakers_may_have_any_type(tmp_path: Path, name: object) -> None:
    one = entry(TWO, {"A": 3})
    one["users"][0]["id"] = one["evaluation"][0]["userId"] = name
    (found,) = read_conversations(write(tmp_path, one))
    assert found.label == "1"


def test_non_engaging_conversations_give_every_other_pair() -> None:
    turns = ("a", "b", "c", "d", "e")
    assert Conversation("1", turns, "1").pairs == [Labelled(*two, "1") for two in ("ab", "bc", "cd", "de")]
    assert Conversation("1", turns, "0").pairs == [Labelled(*two, "0") for two in ("ab", "cd")]


@given(st.lists(st.sampled_from(LABELS), max_size=60))
def test_split_is_60_20_20_for_each_label(labels: list[str]) -> None:
    conversations = [Conversation(str(place), ("a", "b"), label) for place, label in enumerate(labels)]
    folds = split_conversations(conversations)
    assert sorted(one.conversation_id for fold in folds.values() for one in fold) == sorted(
        map(str, range(len(labels)))
    )
    for label in LABELS:
        names = [one.conversation_id for one in conversations if one.label == label]
        train, valid, test = ([one.conversation_id for one in folds[fold] if one.label == label] for fold in folds)
        assert train + test + valid == names
        assert (len(train), len(train) + len(test)) == (int(0.6 * len(names)), int(0.8 * len(names)))


def test_ids_of_labelled_conversations_are_read(tmp_path: Path) -> None:
    path = tmp_path / "50convs_AMT.txt"
    path.write_text(
        "-12\t2\t4\t5\t4\t <sp1> Hi </sp1> <sp2> Hi </sp2>\n7\t2\t1\t1\t1\t <sp1>\u2028 </sp1>\n\n", encoding="utf-8"
    )
    assert read_ids(path) == {"-12", "7"}


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"thread": None}, ["field thread"]),
        ({"thread": [{"userId": "A"}]}, ["thread", "text"]),
        ({"users": [3]}, ["field users"]),
        ({"evaluation": {}}, ["field evaluation"]),
        ({"evaluation": [{"userId": "A", "engagement": None}]}, ["evaluation.engagement", "None"]),
    ],
)
def test_invalid_entry_error_names_entry_and_field(
    tmp_path: Path, assert_one_line: OneLine, change: dict[str, Any], parts: list[str]
) -> None:
    path = write(tmp_path, entry(TWO, {"A": 3}), {**entry(TWO, {"A": 3}), **change})
    with pytest.raises(DataError) as caught:
        list(read_conversations(path))
    assert_one_line(caught.value, path, "entry 1", *parts)


@pytest.mark.parametrize("content", [None, b"caf\xe9\t2\n", b"", b" \n"])
def test_unreadable_id_list_raises_data_error(tmp_path: Path, assert_one_line: OneLine, content: bytes | None) -> None:
    path = tmp_path / "50convs_AMT.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_ids(path)
    assert_one_line(caught.value, path)
