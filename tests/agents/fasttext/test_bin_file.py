"""Classifiers of the fastText library: read as the library does, and rejected with one line if they are broken."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_fasttext import tiny_bin, write_bin

from parlai_empathy.agents.fasttext.bin_file import FasttextFile, read_bin
from parlai_empathy.agents.fasttext.dictionary import FasttextDictionary
from parlai_empathy.agents.fasttext.ngrams import END, NgramSizes, row_numbers
from parlai_empathy.errors import ModelFileError


def probabilities(file: FasttextFile, text: str) -> dict[str, float]:
    """The classifier as in the paper, in one line."""
    ids = {word: row for row, word in enumerate(file.words)}
    rows = row_numbers([*FasttextDictionary.space_tokenize(text), END], ids, file.sizes)
    shares = (file.output() @ file.vectors()[rows].mean(dim=0)).softmax(dim=0)
    return dict(zip(file.labels, shares.tolist(), strict=True))


def test_bin_file_is_read_as_written(tmp_path: Path) -> None:
    vectors, output = np.arange(15, dtype=np.float32).reshape(5, 3), np.arange(6, dtype=np.float32).reshape(2, 3) / 7
    path = write_bin(tmp_path / "m.bin", [b"</s>", b"\xff\xfe"], [b"__label__a_b", b"c"], vectors, output, buckets=3)
    file = read_bin(path)
    assert file.words == (END, "\udcff\udcfe"), "words may be any bytes"
    assert file.labels == ("a_b", "c")
    assert (file.dim, file.sizes) == (3, NgramSizes(2, 3, 0, 0))
    assert torch.equal(file.vectors(), torch.tensor(vectors))
    assert torch.equal(file.output(), torch.tensor(output))


def test_version_11_classifiers_have_no_subwords(tmp_path: Path) -> None:
    subwords = {"min_subword": 3, "max_subword": 6}
    assert read_bin(tiny_bin(tmp_path / "new.bin", **subwords)).sizes.max_subword == 6
    assert read_bin(tiny_bin(tmp_path / "old.bin", **subwords, version=11)).sizes.max_subword == 0


TRAINING = """\
__label__glad i won the größte prize 😊 it's great
__label__sad my dog died … i cried
__label__so_so i won a dog
__label__sad the prize died
"""
TEXTS = [
    "i won the dog",
    "",
    "my größte unknown wörd 😊",
    "i won </s> my dog died",
    "__label__sad i won __label__new",
    "the\tprize\x0bdied\x0ci  cried ",
    "a\u00a0dog\u2028died",
]


@pytest.mark.parametrize(
    "options",
    [{"wordNgrams": 1}, {"wordNgrams": 2, "bucket": 50}, {"wordNgrams": 3, "bucket": 97, "minn": 2, "maxn": 4}],
)
def test_probabilities_match_the_fasttext_library(tmp_path: Path, options: dict[str, int]) -> None:
    fasttext = pytest.importorskip("fasttext")
    (tmp_path / "training.txt").write_text(TRAINING * 10, encoding="utf-8")
    model = fasttext.train_supervised(
        str(tmp_path / "training.txt"), dim=6, epoch=5, lr=0.5, thread=1, verbose=0, **options
    )
    model.save_model(str(tmp_path / "model.bin"))
    file = read_bin(tmp_path / "model.bin")
    assert set(file.labels) == {"glad", "sad", "so_so"}
    for text in TEXTS:
        theirs = {label: share for share, label in model.f.predict(f"{text}\n", 3, 0.0, "strict")}
        for label, share in probabilities(file, text).items():
            # The library adds 0.00001 to a probability before taking the logarithm.
            assert theirs[f"__label__{label}"] == pytest.approx(share + 1e-5, abs=2e-6)


# --- what cannot be read ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"magic": 1}, r"is not a model of fastText"),
        ({"version": 13}, r"is not a model of fastText"),
        ({"model": 1}, r"is not a classifier: name a model that `fasttext supervised` trained"),
        ({"loss": 9}, r"is not a classifier"),
        ({"loss": 1}, r"was trained with -loss hs: only -loss softmax"),
        ({"loss": 4}, r"was trained with -loss ova: only -loss softmax"),
        ({"quantised": (b"\1", b"\0")}, r"is quantised: name the original model"),
        ({"quantised": (b"\0", b"\1")}, r"is quantised"),
        ({"pruned": 0}, r"is quantised"),
        ({"quantised": (b"\2", b"\0")}, r"is damaged \(a matrix of 11 x 3, expected 11 x 3\)"),
        ({"buckets": 0}, r"is damaged \(3 numbers per word, n-grams of 2, 0 buckets\)"),
        ({"ngrams": 0}, r"is damaged"),
        ({"labels": (b"__label__a", b"__label__a")}, r"is damaged \(it has a duplicate entry\)"),
        ({"types": [0, 0, 0, 1, 1, 1]}, r"is damaged \(entry 3 should be a word\)"),
        ({"labels": (b"__label__a", b"\xff")}, r"is damaged \('utf-8' codec"),
        ({"labels": ()}, r"is damaged \(4 entries, 4 words, 0 labels\)"),
    ],
)
def test_unsupported_or_damaged_files_raise_model_file_error(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    path = tiny_bin(tmp_path / "model.bin", **changes)
    with pytest.raises(ModelFileError, match=reason) as caught:
        read_bin(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_or_folder_raises_model_file_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none.bin", tmp_path):
        with pytest.raises(ModelFileError, match="cannot be read"):
            read_bin(path)


def test_nonfinite_weights_raise_model_file_error(tmp_path: Path) -> None:
    vectors, output = np.full((9, 3), np.nan, np.float32), np.zeros((1, 3), np.float32)
    file = read_bin(write_bin(tmp_path / "m.bin", [b"a", b"b"], [b"__label__c"], vectors, output))
    with pytest.raises(ModelFileError, match=r"m\.bin: some of its weights are not finite: train it again"):
        file.vectors()
    assert file.output().tolist() == [[0, 0, 0]]


def test_truncated_or_extended_file_raises_model_file_error(tmp_path: Path) -> None:
    whole = tiny_bin(tmp_path / "model.bin").read_bytes()
    path = tmp_path / "cut.bin"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match=r"cut\.bin"):
            read_bin(path)
    path.write_bytes(whole + b"x")
    with pytest.raises(ModelFileError, match="it has 1 extra bytes at its end"):
        read_bin(path)


def _fuzzed(path: Path) -> None:
    """A file is either read, with as many numbers as it declares, or named in an error."""
    try:
        file = read_bin(path)
        shapes = (file.vectors().shape, file.output().shape)
    except ModelFileError as error:
        message = str(error)
    else:
        message = str(path)
        assert shapes == ((len(file.words) + file.sizes.buckets, file.dim), (len(file.labels), file.dim))
    assert str(path) in message
    assert "\n" not in message


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10_000), change=st.binary(min_size=1, max_size=8))
def test_corrupted_bytes_are_reported_or_harmless(tmp_path: Path, place: int, change: bytes) -> None:
    whole = bytearray(tiny_bin(tmp_path / "model.bin").read_bytes())
    place %= len(whole)
    whole[place : place + len(change)] = change
    (tmp_path / "damaged.bin").write_bytes(whole)
    _fuzzed(tmp_path / "damaged.bin")


@pytest.mark.parametrize("place", [8, 44, 64, 68, 72, 76, 84])  # sizes: dim, buckets, entries, words, labels, ...
@pytest.mark.parametrize("number", [2**31 - 1, -(2**31), -1, 0, 2**30])
def test_corrupted_size_fields_are_reported_or_harmless(tmp_path: Path, place: int, number: int) -> None:
    whole = bytearray(tiny_bin(tmp_path / "model.bin").read_bytes())
    whole[place : place + 4] = struct.pack("<i", number)
    (tmp_path / "damaged.bin").write_bytes(whole)
    _fuzzed(tmp_path / "damaged.bin")
