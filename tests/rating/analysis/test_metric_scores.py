"""Metric scores of replies, read from a file and matched with ratings."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from parlai_empathy.errors import DataError, NotComputableError
from parlai_empathy.rating.analysis.metric_scores import matched, read_metric_scores
from parlai_empathy.rating.names import FORMER
from parlai_empathy.rating.rating import Rating


def write(folder: Path, *records: object) -> Path:
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def reply(system: str | None, item: object, **values: object) -> dict[str, object]:
    return {"system": system, "item": item, "line": 4, "turn": 2, "emotion": "sad", "reply": "Oh!", **values}


def test_only_numeric_fields_are_metrics(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        reply("A", "1", length=3, er=0.5, words=["a"], nothing=None, yes=True, nan=float("nan")),
        reply("B", 1, length=5, er=None),
    )
    assert read_metric_scores(path) == {"length": {("A", "1"): 3.0, ("B", "1"): 5.0}, "er": {("A", "1"): 0.5}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{\n", ", line 1: not JSON: expected one object per line"),
        ("[1]\n", ", line 1: [1] is not a JSON object"),
        (
            '\n{"system": "A", "x": 1}\n',
            ", line 2: no item is named: expected items.jsonl of score_responses",
        ),
        (
            '{"system": "A", "item": "1", "x": 1}\n' * 2,
            ", line 2: item '1' of system 'A' is already in line 1",
        ),
        ('{"item": "1"}\n', " has no metric of any reply: expected items.jsonl of score_responses"),
        ("", " has no metric of any reply: expected items.jsonl of score_responses"),
    ],
)
def test_malformed_file_raises_data_error(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match=f"^{re.escape(f'{path}{message}')}$"):
        read_metric_scores(path)


def test_unreadable_file_raises_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot be read \(No such file or directory\)"):
        read_metric_scores(tmp_path / "none.jsonl")
    path = tmp_path / "items.jsonl"
    path.write_bytes(b"\xff")
    with pytest.raises(DataError, match=r"is not UTF-8"):
        read_metric_scores(path)


SCORES = {
    "length": {("A", "1"): 3.0, ("A", "2"): 4.0, ("B", "1"): 7.0, ("B", "2"): 9.0},
    "er": {("A", "1"): 1.0},
}


def test_scores_are_matched_by_system_and_item() -> None:
    ratings = [
        Rating("1", "Ann", "q", 4.0, "A"),
        Rating("1", "Bob", "q", 5.0, "A"),
        Rating("1", "Ann", "q", 2.0, "B"),
        Rating("3", "Ann", "q", 1.0, "B"),  # without any metric
    ]
    assert matched(ratings, SCORES) == {"length": ([3.0, 7.0], [4.5, 2.0]), "er": ([1.0], [4.5])}


def test_comparisons_are_matched_with_score_differences() -> None:
    ratings = [Rating("1", "Ann", "q", 1.0, "A", "B"), Rating("2", "Ann", "q", 0.0, "A", "B")]
    assert matched(ratings, SCORES) == {"length": ([-4.0, -5.0], [1.0, 0.0])}  # er has no score for B
    assert matched(ratings[:1], {**SCORES, "er": {("B", "1"): 1.0}}) == {"length": ([-4.0], [1.0])}


def test_reply_name_takes_precedence_over_item() -> None:
    ratings = [Rating("i7", "Ann", "q", 4.0, "A", reply="1"), Rating("2", "Ann", "q", 2.0, "A", reply="elsewhere")]
    assert matched(ratings, SCORES)["length"] == ([3.0, 4.0], [4.0, 2.0])


def test_reply_of_former_version_is_not_matched_by_its_item() -> None:
    """An export marks such a reply. Its item may now be another reply, with another metric."""
    former = Rating("1", "Ann", "q", 5.0, "A", study="s", version="1a", reply=FORMER)
    current = Rating("1", "Bob", "q", 2.0, "A", study="s", version="2b", reply="1")
    assert matched([former, current], SCORES)["length"] == ([3.0], [2.0])
    nameless = Rating("2", "Ann", "q", 4.0, "A", study="s", version="1a")  # as in a file by hand
    assert matched([former, current, nameless], SCORES)["length"] == ([3.0, 4.0], [2.0, 4.0])
    with pytest.raises(NotComputableError, match=r"^no rated reply has a metric: the study's current version has none"):
        matched([former], SCORES)


def test_item_of_several_studies_does_not_identify_a_reply() -> None:
    first, second = (Rating("1", "Ann", "q", 4.0, "A", study=study) for study in ("s1", "s2"))
    with pytest.raises(NotComputableError, match=r"^item '1' is rated in several studies, or versions of one"):
        matched([first, second], SCORES)
    named = [replace(one, reply="1") for one in (first, second)]
    assert matched(named, SCORES)["length"] == ([3.0], [4.0])


def test_other_reply_name_identifies_second_reply_of_comparison() -> None:
    one = Rating("i7", "Ann", "q", 1.0, "A", "B", reply="1", other_reply="2")
    other = Rating("i7", "Bob", "q", 1.0, "B", "A", reply="2", other_reply="1").oriented()
    assert matched([one, other], SCORES)["length"] == ([3.0 - 9.0], [0.0])


def test_ratings_without_system_are_matched_by_unambiguous_item() -> None:
    scores = {"length": {("A", "a#1"): 3.0, ("B", "b#1"): 7.0, ("A", "x"): 1.0, ("B", "x"): 2.0}}
    ratings = [Rating(item, "Ann", "q", 4.0) for item in ("a#1", "b#1", "x")]
    assert matched(ratings, scores) == {"length": ([3.0, 7.0], [4.0, 4.0])}  # x is ambiguous: two systems have it


def test_ratings_of_a_chat_are_matched_with_the_system_of_its_log() -> None:
    """``score_responses --logs talks=marks_talks.jsonl`` puts the log's name before the system's."""
    scores = {
        "length": {("talks: A", "chat-1#2"): 3.0, ("talks: B", "chat-2#2"): 7.0, ("talks: AA", "chat-3#2"): 9.0},
        "er": {("talks: A", "chat-1#2"): 1.0, ("others: A", "chat-1#2"): 2.0},  # either could be meant
    }
    chats = ((1, "A"), (2, "B"), (3, "A"))
    ratings = [Rating(f"chat-{n}", "Ann", "q", float(n), system, turn="2") for n, system in chats]
    assert matched(ratings, scores) == {"length": ([3.0, 7.0], [1.0, 2.0])}


def test_no_match_raises_not_computable_error() -> None:
    message = (
        "no rated reply has a metric: ratings have item '9' of system 'Z', metrics '1' of 'A': use the same names of "
        "systems and items in both"
    )
    with pytest.raises(NotComputableError, match=f"^{re.escape(message)}$"):
        matched([Rating("9", "Ann", "q", 4.0, "Z")], SCORES)
