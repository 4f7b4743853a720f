"""Reading EmpatheticIntents: valid lines, and the errors of invalid ones."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.empathetic_intents.build import SAMPLE
from parlai_empathy.tasks.empathetic_intents.reader import FILES, FOLDERS, INTENTS, read_empathetic_intents

OneLine = Callable[..., None]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sample that a test may change."""
    return Path(shutil.copytree(SAMPLE, tmp_path / "intents"))


@pytest.mark.parametrize(("fold", "each"), [("train", 4), ("valid", 2), ("test", 2)])
def test_sample_folds_cover_all_intents_equally(fold: str, each: int) -> None:
    found = Counter(one.intent for one in read_empathetic_intents(SAMPLE, fold))
    assert found == dict.fromkeys(INTENTS, each)


def test_line_is_parsed_into_text_and_intent() -> None:
    first = next(iter(read_empathetic_intents(SAMPLE, "train")))
    assert (first.text, first.intent) == ("i totally agree with you on that one.", "agreeing")


def test_acknowledging_is_misspelt_only_in_file_name() -> None:
    assert "acknowleding" in FILES
    assert "acknowledging" in INTENTS


@pytest.mark.parametrize(
    "line", ["", "just text", "32 <SEP> of another intent", "38 <SEP>  ", "38<SEP>no spaces", "x <SEP> y"]
)
def test_malformed_line_error_names_line_and_format(copy: Path, assert_one_line: OneLine, line: str) -> None:
    path = copy / FOLDERS["valid"] / "questioning.txt"
    path.write_text(f"38 <SEP> is it far?\n{line}\n38 <SEP> when?\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        list(read_empathetic_intents(copy, "valid"))
    assert_one_line(caught.value, path, "line 2", "38 <SEP> utterance")


def test_missing_file_raises_data_error(copy: Path, assert_one_line: OneLine) -> None:
    (path := copy / "test" / "wishing.txt").unlink()
    with pytest.raises(DataError) as caught:
        list(read_empathetic_intents(copy, "test"))
    assert_one_line(caught.value, path, "cannot be read")


def test_empty_file_raises_data_error(copy: Path, assert_one_line: OneLine) -> None:
    (path := copy / "train" / "wishing.txt").write_bytes(b"")
    with pytest.raises(DataError) as caught:
        list(read_empathetic_intents(copy, "train"))
    assert_one_line(caught.value, path, "is empty")


def test_non_utf8_error_names_the_line(copy: Path, assert_one_line: OneLine) -> None:
    (path := copy / "test" / "neutral.txt").write_bytes(b"40 <SEP> fine\n40 <SEP> caf\xe9\n")
    with pytest.raises(DataError) as caught:
        list(read_empathetic_intents(copy, "test"))
    assert_one_line(caught.value, path, "line 2", "UTF-8")


_UTTERANCE = st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1).filter(str.strip)


@given(st.lists(_UTTERANCE, min_size=1))
def test_arbitrary_utterances_round_trip(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = Path(shutil.copytree(SAMPLE, tmp_path_factory.mktemp("intents"), dirs_exist_ok=True))
    lines = "".join(f"39 <SEP> {text}\n" for text in texts)
    (folder / "train" / "wishing.txt").write_bytes(lines.encode())
    found = [one.text for one in read_empathetic_intents(folder, "train") if one.intent == "wishing"]
    assert found == [text.strip() for text in texts]


def test_full_dataset_has_expected_sizes(real_data: Path) -> None:
    sizes = {fold: sum(1 for _ in read_empathetic_intents(real_data / "empathetic_intents", fold)) for fold in FOLDERS}
    assert sizes == {"train": 35_612, "valid": 5_179, "test": 4_675}
