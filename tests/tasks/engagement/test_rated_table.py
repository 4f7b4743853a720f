"""Reading rated replies from tables of unknown layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.rated_table import read_rated_table
from parlai_empathy.tasks.engagement.records import RatedReply
from parlai_empathy.tasks.engagement.sets import SAMPLE

OneLine = Callable[..., None]


def test_better_sample() -> None:
    found = list(read_rated_table(SAMPLE / "better.csv"))
    assert [len(one.ratings) for one in found] == [3] * 10
    assert found[0].context == ("Have you seen my glasses ?",)
    assert found[0].human > found[1].human  # an answer, and words that only resemble one


def test_red_test_sample() -> None:
    found = list(read_rated_table(SAMPLE / "red_test.csv"))
    assert [len(one.ratings) for one in found] == [3] * 12
    assert {rating for one in found for rating in one.ratings} == {0, 1}
    assert {len(one.context) for one in found} == {1}


def write(tmp_path: Path, content: str, name: str = "table.csv") -> Path:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "content",
    [
        "post,parent,annotator_1,annotator_2,annotator_3\nGoats!,What now?,1,0,1\n",
        "parent,text,rater1,rater2,rater3\nWhat now?,Goats!,1,0,1\n",
        "context,response,score 1,score 2,score 3\nWhat now?,Goats!,1,0,1\n",
        "query,reply,human_score\nWhat now?,Goats!,1\nWhat now?,Goats!,0\nWhat now?,Goats!,1\n",
    ],
)
def test_supported_layouts(tmp_path: Path, content: str) -> None:
    assert list(read_rated_table(write(tmp_path, content))) == [RatedReply("0", ("What now?",), "Goats!", (1, 0, 1))]


def test_mean_and_system_columns_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, '{"sentence": "Goats!", "mean": 0.67, "system": "us"}\n', "table.jsonl")
    assert list(read_rated_table(path)) == [RatedReply("0", (), "Goats!", (0.67,), "us")]


def test_rater_columns_take_precedence_over_mean(tmp_path: Path) -> None:
    (found,) = read_rated_table(write(tmp_path, "post,mean,label_1,label_2\nGoats!,0.5,1,0\n"))
    assert found.ratings == (1, 0)


def test_same_reply_in_different_contexts_is_kept_apart(tmp_path: Path) -> None:
    path = write(tmp_path, "post,parent,label\nYes.,A?,1\nYes.,B?,0\n")
    assert [one.ratings for one in read_rated_table(path)] == [(1,), (0,)]


def test_same_reply_of_different_systems_is_kept_apart(tmp_path: Path) -> None:
    path = write(tmp_path, "post,label,system\nYes.,1,us\nYes.,0,them\nYes.,1,them\n")
    assert [(one.system, one.ratings) for one in read_rated_table(path)] == [("us", (1,)), ("them", (0, 1))]


def test_rows_with_several_rater_columns_are_not_merged(tmp_path: Path) -> None:
    path = write(tmp_path, "post,parent,rater1,rater2\nYes.,A?,1,0\nYes.,A?,1,1\n")
    assert [(one.item, one.ratings) for one in read_rated_table(path)] == [("0", (1, 0)), ("1", (1, 1))]


def test_numbers_of_workers_are_not_their_scores(tmp_path: Path) -> None:
    path = write(tmp_path, "post,worker_1,score_1,worker_2,score_2\nGoats!,712,1,715,0\n")
    assert [one.ratings for one in read_rated_table(path)] == [(1, 0)]


def test_raters_who_did_not_score_a_reply_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "post,rater_1,rater_2,rater_3\nGoats!,1,,3\nOk.,, ,2\n")
    assert [one.ratings for one in read_rated_table(path)] == [(1, 3), (2,)]


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("body,label\nGoats!,1\n", ["line 2", "post or response", "body, label"]),
        ("post,parent\nGoats!,A?\n", ["line 2", "human_score", "post, parent"]),
        ("post,label\n  ,1\n", ["line 2", "column post", "empty"]),
        ("post,label\nGoats!,yes\n", ["line 2", "column label", "'yes'"]),
        ("post,rater_1,rater_2\nGoats!,,\n", ["line 2", "column rater_1", "''"]),
        ("post,score\nGoats!,\n", ["line 2", "column score", "''"]),
        ("post,score_1,label_1\nGoats!,1,1\n", ["line 2", "called score and label"]),
        ("post,rater_1,human_1\nGoats!,1,1\n", ["line 2", "called rater and human"]),
    ],
)
def test_invalid_table_error_names_the_line(
    tmp_path: Path, assert_one_line: OneLine, content: str, parts: list[str]
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DataError) as caught:
        list(read_rated_table(path))
    assert_one_line(caught.value, path, *parts)
