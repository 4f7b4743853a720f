"""Rows read from a file: equal to those in memory, at any offset; a file that does not match is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_empathy.agents.retrieval.stored_rows import StoredRows
from parlai_empathy.errors import ModelFileError

MATRIX = torch.arange(28.0).view(7, 4) / 3


def saved(folder: Path, **more: Any) -> Path:
    path = folder / "some.pool"
    torch.save({"texts": ["a", "naïve 😢"] * 50, "encodings": MATRIX, **more}, path)
    return path


@settings(max_examples=40)
@given(places=st.lists(st.integers(0, 6), max_size=12))
def test_rows_read_from_file_match_the_matrix(tmp_path_factory: pytest.TempPathFactory, places: list[int]) -> None:
    rows = StoredRows.of_only_tensor(saved(tmp_path_factory.mktemp("rows")), MATRIX)
    assert torch.equal(rows(torch.tensor(places, dtype=torch.long)), MATRIX[places])


def test_raw_file_is_read_from_the_offset(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"header" + MATRIX.numpy().tobytes())
    assert torch.equal(StoredRows(tmp_path / "plain", 6, 4)(torch.tensor([6, 0])), MATRIX[[6, 0]])


def test_open_file_stays_readable_after_replacement(tmp_path: Path) -> None:
    path = saved(tmp_path)
    rows = StoredRows.of_only_tensor(path, MATRIX)
    path.rename(tmp_path / "old")
    path.write_bytes(b"something else")
    assert torch.equal(rows(torch.tensor([3])), MATRIX[3:4])


def refused(path: Path, tensor: torch.Tensor = MATRIX) -> str:
    with pytest.raises(ModelFileError) as caught:
        StoredRows.of_only_tensor(path, tensor)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_mismatched_matrix_raises_error(tmp_path: Path) -> None:
    path = saved(tmp_path)
    assert "was changed" in refused(path, MATRIX + 1)
    assert "was changed" in refused(path, MATRIX[:6])


def test_file_without_exactly_one_matrix_raises_error(tmp_path: Path) -> None:
    refused(saved(tmp_path, more=torch.zeros(3)))
    torch.save({"texts": ["a"]}, tmp_path / "none")
    refused(tmp_path / "none")
    (tmp_path / "other").write_bytes(b"PK\x03\x04 and no more")
    refused(tmp_path / "other")
    refused(tmp_path / "missing")


def test_truncated_file_raises_error_on_missing_row(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(MATRIX.numpy().tobytes()[:-1])
    rows = StoredRows(tmp_path / "plain", 0, 4)
    assert torch.equal(rows(torch.tensor([5])), MATRIX[5:6])
    with pytest.raises(ModelFileError, match="ends before row 6"):
        rows(torch.tensor([6]))
