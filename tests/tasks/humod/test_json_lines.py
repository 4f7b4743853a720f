"""The copy in JSON lines: its contents, and every kind of invalid object."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from humod_files import OBJECT, OneLine, Write, read, skip

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.humod.records import Pair

# --- JSON lines ------------------------------------------------------------------------------------------------------


def test_pairs_are_read_from_json_lines(fixtures: Path) -> None:
    pairs = read(fixtures / "humod/humod.jsonl")
    assert len(pairs) == 12
    assert pairs[7] == Pair(
        pair_id="humod_00007",
        context=("What?",),
        reply="Then we walk.",
        is_original=False,
        ratings=(),
        mean_rating=2.33,
        human_replies=("Nothing.", "I said hello.", "Are you deaf?"),
    )
    assert [pair.mean_rating is None for pair in pairs] == [False] * 2 + [True] * 2 + [False] * 4 + [True] * 2 + [
        False
    ] * 2


def test_json_lines_and_official_fixtures_agree(fixtures: Path) -> None:
    for ours, copied in zip(*(read(fixtures / "humod" / n) for n in ("HUMOD_Dataset.TXT", "humod.jsonl")), strict=True):
        assert (ours.context, ours.reply, ours.is_original) == (copied.context, copied.reply, copied.is_original)
        assert ours.human_replies == copied.human_replies
        assert copied.mean_rating is None or ours.mean_rating == pytest.approx(copied.mean_rating, abs=0.005)


def test_individual_ratings_and_list_context_are_read(objects: Write) -> None:
    value = {**OBJECT, "context": ["Hello.", "", "How  are\nyou?"], "ratings": [1, 2, 2], "human_relevance_mean": 1.67}
    (pair,) = read(objects(value))
    assert pair.context == ("Hello.", "", "How are you?")
    assert (pair.ratings, pair.mean_rating, pair.raters) == ((1, 2, 2), pytest.approx(5 / 3), ({}, {}, {}))


def test_pair_without_id_is_named_after_its_line(objects: Write) -> None:
    nameless = {key: value for key, value in OBJECT.items() if key != "id"}
    path = objects(OBJECT, nameless, {**OBJECT, "id": 7}, {**OBJECT, "id": None})
    assert [pair.pair_id for pair in read(path)] == ["a", "line 2", "7", "line 4"]


@pytest.mark.parametrize("mean", [1, 5, 2.5, None])
def test_valid_mean_ratings_are_accepted(objects: Write, mean: float | None) -> None:
    assert read(objects({**OBJECT, "human_relevance_mean": mean}))[0].mean_rating == mean


BAD_OBJECTS: dict[str, tuple[Any, str, str]] = {
    "no JSON": ("{", "2", "'{'"),
    "a single quote": ("{'id': 1}", "2", "\"{'id': 1}\""),
    "a too long number": ('{"id": ' + "9" * 5000 + "}", "1", "'{\"id\": 999"),
    "too deep": ("[" * 100_000, "1", "'[[["),
    "a list": ([OBJECT], "1", "[{"),
    "a number": (3, "1", "3"),
    "rating 0": ({**OBJECT, "ratings": [4, 0, 5]}, "ratings", "[4, 0, 5]"),
    "rating 6": ({**OBJECT, "ratings": [6]}, "ratings", "[6]"),
    "half a rating": ({**OBJECT, "ratings": [1.5]}, "ratings", "[1.5]"),
    "a rating that is a text": ({**OBJECT, "ratings": ["4"]}, "ratings", "['4']"),
    "a rating that is true": ({**OBJECT, "ratings": [True]}, "ratings", "[True]"),
    "ratings that are no list": ({**OBJECT, "ratings": 4}, "ratings", "4"),
    "no ratings but zero": ({**OBJECT, "ratings": 0}, "ratings", "0"),
    "mean 0.9": ({**OBJECT, "human_relevance_mean": 0.9}, "human_relevance_mean", "0.9"),
    "mean 5.1": ({**OBJECT, "human_relevance_mean": 5.1}, "human_relevance_mean", "5.1"),
    "mean 9 beside ratings": ({**OBJECT, "ratings": [4], "human_relevance_mean": 9}, "human_relevance_mean", "9"),
    "mean nan": ({**OBJECT, "human_relevance_mean": float("nan")}, "human_relevance_mean", "nan"),
    "mean true": ({**OBJECT, "human_relevance_mean": True}, "human_relevance_mean", "True"),
    "mean as a text": ({**OBJECT, "human_relevance_mean": "4"}, "human_relevance_mean", "'4'"),
    "no context": ({**OBJECT, "context": " \n "}, "context", r"' \n '"),
    "a context of no turns": ({**OBJECT, "context": []}, "context", "[]"),
    "a context of blanks": ({**OBJECT, "context": ["", " "]}, "context", "['', ' ']"),
    "a context that is no text": ({**OBJECT, "context": 3}, "context", "3"),
    "a turn that is no text": ({**OBJECT, "context": ["a", None]}, "context", "None"),
    "no reply": ({**OBJECT, "reply": ""}, "reply", "''"),
    "a reply of blanks": ({**OBJECT, "reply": " \n"}, "reply", r"' \n'"),
    "a reply that is no text": ({**OBJECT, "reply": None}, "reply", "None"),
    "half a character": ('{"id": "a", "context": "b", "reply": "\\ud83d", "reply_kind": "original", '
                         '"human_replies": [], "human_relevance_mean": null}', "reply", r"'\ud83d'"),
    "a name that is a list": ({**OBJECT, "id": ["a"]}, "id", "['a']"),
    "an unknown kind": ({**OBJECT, "reply_kind": "human"}, "reply_kind", "'human'"),
    "a kind that is a list": ({**OBJECT, "reply_kind": ["original"]}, "reply_kind", "['original']"),
    "human replies that are one text": ({**OBJECT, "human_replies": "It rains."}, "human_replies", "'It rains.'"),
    "a human reply that is no text": ({**OBJECT, "human_replies": ["a", 3]}, "human_replies", "3"),
    "not UTF-8 in the reply": (json.dumps({**OBJECT, "reply": "?"}).encode().replace(b"?", b"Caf\xe9", 2)
                               .replace(b"Caf\xe9", b"you.", 1), "reply", r"Caf\xe9"),
    "not UTF-8 at its beginning": (b"\xff" + json.dumps(OBJECT).encode(), "1", r"b'\xff"),
}  # fmt: skip
for _name in ("context", "reply", "reply_kind", "human_replies", "human_relevance_mean"):
    BAD_OBJECTS[f"without {_name}"] = ({k: v for k, v in OBJECT.items() if k != _name}, _name, "[")


@pytest.mark.parametrize(("value", "column", "shown"), BAD_OBJECTS.values(), ids=BAD_OBJECTS)
def test_bad_object_raises_data_error_or_is_skipped(
    objects: Write, value: Any, column: str, shown: str, assert_one_line: OneLine
) -> None:
    path = objects(OBJECT, value, {**OBJECT, "id": "b"})
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}, line 2, column {column}: ", shown, "--skip-bad-rows true")
    pairs, bad = skip(path)
    assert [pair.pair_id for pair in pairs] == ["a", "b"]
    assert len(bad) == 1
    assert_one_line(DataError(bad[0]), f"{path}, line 2, column {column}: ", shown)
