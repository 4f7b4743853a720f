"""The teachers, loaded as ParlAI's scripts load them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from teachers import examples_of

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.epitome.build import SAMPLE
from parlai_empathy.tasks.epitome.mechanisms import MECHANISMS, in_words
from parlai_empathy.tasks.epitome.reader import COLUMNS, read_epitome
from parlai_empathy.tasks.epitome.splits import split_pairs

Load = Callable[..., Any]
ALONE = {
    "EmotionalReactions": "emotional_reactions",
    "Interpretations": "interpretations",
    "Explorations": "explorations",
}


@pytest.mark.parametrize("fold", ["train", "valid", "test"])
def test_default_teacher_examples_match_split_pairs(load_teacher: Load, fold: str) -> None:
    datatype = "train:ordered" if fold == "train" else fold
    messages = examples_of(load_teacher("empathy:epitome", datatype, edition="sample"))
    pairs = split_pairs(read_epitome(SAMPLE))[fold]
    assert [message["text"] for message in messages] == [f"{pair.seeker}\n{pair.response}" for pair in pairs]
    assert [message["levels"] for message in messages] == [pair.levels for pair in pairs]
    assert {message["fold"] for message in messages} == {fold}
    assert all(message["episode_done"] for message in messages)
    for message, pair in zip(messages, pairs, strict=True):
        er, ip, ex = pair.levels.values()
        assert message["labels"] == [f"ER {er}, IP {ip}, EX {ex}"]
        assert len(message["label_candidates"]) == len(set(message["label_candidates"])) == 27
        assert message["labels"][0] in message["label_candidates"]
        assert message["pair_id"] == f"{pair.seeker_id}/{pair.response_id}"


def test_rationales_are_character_spans_of_the_response(load_teacher: Load) -> None:
    for message in examples_of(load_teacher("empathy:epitome", edition="sample")):
        response = message["text"].split("\n")[1]
        for mechanism in MECHANISMS:
            words = [response[start:end] for start, end in message["rationales"][mechanism]]
            assert bool(words) == (message["levels"][mechanism] > 0)
            assert all(text and text == text.strip() for text in words)


@pytest.mark.parametrize(("teacher", "mechanism"), ALONE.items())
def test_single_mechanism_teachers_match_default_teacher(load_teacher: Load, teacher: str, mechanism: str) -> None:
    alone = examples_of(load_teacher(f"empathy:epitome:{teacher}", "test", edition="sample"))
    jointly = examples_of(load_teacher("empathy:epitome", "test", edition="sample"))
    for message, other in zip(alone, jointly, strict=True):
        assert message["text"] == other["text"]
        assert message["levels"] == {mechanism: other["levels"][mechanism]}
        assert message["rationales"] == {mechanism: other["rationales"][mechanism]}
        assert message["labels"] == [str(other["levels"][mechanism])]
        assert message["label_candidates"] == ["0", "1", "2"]


def test_in_words_formats_levels() -> None:
    assert in_words({"explorations": 2}) == "2"
    assert in_words({"emotional_reactions": 1, "explorations": 2}) == "ER 1, EX 2"


def test_edition_can_follow_task_name_after_colon(load_teacher: Load) -> None:
    assert load_teacher("empathy:epitome:edition=sample", "test").num_examples() == 16


def test_empty_fold_raises_data_error(
    load_teacher: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assert_one_line: Callable[..., None]
) -> None:
    (folder := tmp_path / "mirror" / "epitome").mkdir(parents=True)
    for path in SAMPLE.iterdir():
        (folder / path.name).write_text(f"{','.join(COLUMNS)}\ns,r,post,response,0,\n")
    monkeypatch.setenv("EMPATHY_MIRROR", str(folder.parent))
    assert load_teacher("empathy:epitome", "test").num_examples() == 1
    with pytest.raises(DataError) as caught:
        load_teacher("empathy:epitome", "valid")
    assert_one_line(caught.value, tmp_path / "data" / "epitome", "its valid fold has no example for DefaultTeacher")


def test_quotations_not_found_are_counted_in_log(
    load_teacher: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    (folder := tmp_path / "mirror" / "epitome").mkdir(parents=True)
    for path in SAMPLE.iterdir():
        (folder / path.name).write_text(f"{','.join(COLUMNS)}\ns,r,post,response,1,something else|\n")
    monkeypatch.setenv("EMPATHY_MIRROR", str(folder.parent))
    load_teacher("empathy:epitome", "test")
    assert "3 quotation(s) of all folds were not found in their responses and are left out" in log.text
