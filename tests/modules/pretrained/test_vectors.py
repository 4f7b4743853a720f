"""Word vectors from text files in the formats of GloVe and fastText, complete and damaged."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from parlai_empathy.errors import ModelFileError
from parlai_empathy.modules.pretrained.vectors import copy_vectors


def file_of(folder: Path, text: str | bytes) -> Path:
    path = folder / "vectors.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def copied(path: Path, *words: str, dim: int = 3) -> tuple[int, Tensor]:
    """Return how many of ``words`` were found, and their rows; rows that are not found stay -1."""
    weight = torch.full((len(words), dim), -1.0)
    return copy_vectors(path, {word: i for i, word in enumerate(words)}, weight), weight


def error_of(path: Path, *words: str, dim: int = 3) -> str:
    """Return the one-line message with which ``path`` is refused."""
    with pytest.raises(ModelFileError) as caught:
        copied(path, *words, dim=dim)
    message = str(caught.value)
    assert "\n" not in message
    assert f"--vectors-file {path}" in message
    return message


# --- formats ---------------------------------------------------------------------------------------------------------


def test_glove_format_is_read(tmp_path: Path) -> None:
    found, weight = copied(file_of(tmp_path, "sad 1 -2.5 3e-1\nglad .5 0 7\n"), "glad", "lonely", "sad")
    assert found == 2
    expected = [[0.5, 0, 7], [-1, -1, -1], [1, -2.5, 0.3]]  # "lonely" is not in the file
    torch.testing.assert_close(weight, torch.tensor(expected))


def test_file_may_be_given_relative_to_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ``--vectors-file=~/vectors.txt`` arrives from the shell."""
    file_of(tmp_path, "sad 1 2 3\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert copied(Path("~/vectors.txt"), "sad")[0] == 1


def test_fasttext_header_and_trailing_spaces_are_skipped(tmp_path: Path) -> None:
    found, weight = copied(file_of(tmp_path, "2 3\nsad 1 2 3 \nglad 4 5 6 \n"), "glad", "2")
    assert found == 1  # the header's "2" is not read as a word
    assert weight.tolist() == [[4, 5, 6], [-1, -1, -1]]


def test_windows_line_endings_and_missing_final_newline_are_read(tmp_path: Path) -> None:
    found, weight = copied(file_of(tmp_path, "sad 1 2 3\r\nglad 4 5 6"), "sad", "glad")
    assert found == 2
    assert weight.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_first_line_of_a_duplicate_word_is_used(tmp_path: Path) -> None:
    found, weight = copied(file_of(tmp_path, "sad 1 2 3\nsad 7 8 9\n"), "sad")
    assert found == 1
    assert weight.tolist() == [[1, 2, 3]]


# Real files contain such words. Python's own rules would split words at a no-break space, and lines at a line separator
# or a next-line character.
@pytest.mark.parametrize(
    "word", ["naïve", "😢", "\u00a0", "can\u2028t", "x\u0085y", "x\ry", "\ufeff", "1", "-0.5", "don't", "#"]
)
def test_words_with_unusual_characters_are_read(tmp_path: Path, word: str) -> None:
    found, weight = copied(file_of(tmp_path, f"first 0 0 0\n{word} 1 2 3\nlast 4 5 6\n"), word, "last")
    assert found == 2
    assert weight.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_entry_with_spaces_is_not_read_as_its_first_word(tmp_path: Path) -> None:
    # GloVe's largest file has entries of several words, such as an e-mail address after "at".
    found, weight = copied(file_of(tmp_path, ". . . 9 9 9\nat me@example.org 9 9 9\nat 1 2 3\n"), "at", ".")
    assert found == 1
    assert weight.tolist() == [[1, 2, 3], [-1, -1, -1]]


def test_empty_lines_contain_no_words(tmp_path: Path) -> None:
    assert copied(file_of(tmp_path, "\n\nsad 1 2 3\n\n"), "sad")[0] == 1


def test_copied_rows_keep_dtype_of_weights(tmp_path: Path) -> None:
    weight = torch.zeros(1, 3, dtype=torch.float16)
    copy_vectors(file_of(tmp_path, "sad 1 2 3\n"), {"sad": 0}, weight)
    assert weight.dtype == torch.float16
    assert weight.tolist() == [[1, 2, 3]]


def test_vectors_are_copied_into_trainable_parameter(tmp_path: Path) -> None:
    embedding = torch.nn.Embedding(1, 3)
    copy_vectors(file_of(tmp_path, "sad 1 2 3\n"), {"sad": 0}, embedding.weight)
    assert embedding.weight.tolist() == [[1, 2, 3]]
    assert embedding.weight.requires_grad


token = st.text(st.characters(exclude_characters=" \n", exclude_categories=["Cs"]), min_size=1, max_size=8)
number = st.floats(-1e6, 1e6, width=32)


@settings(max_examples=60)
@given(vectors=st.dictionaries(token, st.tuples(number, number), min_size=1, max_size=8), header=st.booleans())
def test_written_vectors_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, vectors: dict[str, tuple[float, float]], header: bool
) -> None:
    lines = [f"{len(vectors)} 2"] if header else []
    lines += [f"{word} {a!r} {b!r}" for word, (a, b) in vectors.items()]
    path = file_of(tmp_path_factory.mktemp("vectors"), "\n".join(lines))
    found, weight = copied(path, *vectors, dim=2)
    assert found == len(vectors)
    assert weight.tolist() == [list(vector) for vector in vectors.values()]


# --- damaged files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "count"), [("glad 1 2", 2), ("glad 1 2 3 4", 4), ("glad", 0)])
def test_wrong_vector_size_error_names_line_and_option(tmp_path: Path, line: str, count: int) -> None:
    message = error_of(file_of(tmp_path, f"sad 1 2 3\n{line}\n"), "sad", "glad")
    assert "line 2" in message
    assert f"{count} numbers" in message
    assert "--embedding-size is 3" in message


@pytest.mark.parametrize("value", ["abc", "1,5", "nan", "inf", "-inf", "0x10"])
def test_invalid_number_error_names_line_and_value(tmp_path: Path, value: str) -> None:
    message = error_of(file_of(tmp_path, f"sad 1 2 3\nglad 1 {value} 2\n"), "sad", "glad")
    assert "line 2" in message
    assert value in message
    assert "fetch the file again" in message


@pytest.mark.parametrize("text", ["", "sad\t1\t2\t3\n", "item,rater,rating\n", "1 3\nstrange 1 2 3\n"])
def test_file_without_any_of_the_words_raises_error(tmp_path: Path, text: str) -> None:
    message = error_of(file_of(tmp_path, text), "sad", "glad")
    assert "it has none of the 2 words: name a text file with a word and its numbers on each line" in message


def test_lines_of_unused_words_are_not_parsed(tmp_path: Path) -> None:
    assert copied(file_of(tmp_path, "strange 1 x\nsad 1 2 3\n"), "sad")[0] == 1


def test_missing_file_raises_error(tmp_path: Path) -> None:
    assert "No such file" in error_of(tmp_path / "none.txt", "sad")


def test_folder_instead_of_file_raises_error(tmp_path: Path) -> None:
    assert "directory" in error_of(tmp_path, "sad")


def test_binary_file_raises_error(tmp_path: Path) -> None:
    gzips_first_bytes = b"\x1f\x8b\x08\x00\x00\x00"
    assert "text file" in error_of(file_of(tmp_path, gzips_first_bytes), "sad")


@settings(max_examples=60)
@given(content=st.binary(max_size=200))
def test_arbitrary_bytes_are_read_or_raise_one_line_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = file_of(tmp_path_factory.mktemp("bytes"), b"sad 1 2 3\nglad " + content)
    with contextlib.suppress(ModelFileError):
        found, _ = copied(path, "sad", "glad")
        assert found in (1, 2)
        return
    error_of(path, "sad", "glad")


# --- real data -------------------------------------------------------------------------------------------------------


def columns(path: Path, words: Iterable[str]) -> dict[str, list[float]]:
    """Return the vectors of ``words``, found by splitting every line."""
    wanted = set(words)
    lines = (line.split() for line in path.read_text(encoding="utf-8").split("\n") if line)
    return {fields[0]: [float(field) for field in fields[1:]] for fields in lines if fields[0] in wanted}


def test_real_glove_vectors_match_the_file(real_data: Path) -> None:
    path = real_data / "word_vectors" / "glove.twitter.25d.top11925.txt"
    words = ("the", "lonely", "happy", "qwxzjk")
    found, weight = copied(path, *words, dim=25)
    expected = columns(path, words)
    assert found == len(expected) == 3
    for i, word in enumerate(words):
        torch.testing.assert_close(weight[i], torch.tensor(expected.get(word, [-1.0] * 25)))


def test_real_glove_with_wrong_embedding_size_raises_error(real_data: Path) -> None:
    message = error_of(real_data / "word_vectors" / "glove.twitter.25d.top11925.txt", "the", dim=300)
    assert "line 1: 25 numbers, but --embedding-size is 300" in message
