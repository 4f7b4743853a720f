"""A data set's fingerprint changes with each of its files, wherever they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.reports.evaluations.data_fingerprint import data_fingerprint
from parlai_empathy.tasks.empathetic_dialogues.build import FOLDS, SAMPLE

ED = "empathy:empathetic_dialogues"


def fingerprint(mirror: Path, datapath: Path, monkeypatch: pytest.MonkeyPatch, task: str = ED) -> str:
    """Return the fingerprint of a mirror's data, in a new data folder."""
    monkeypatch.setenv("EMPATHY_MIRROR", str(mirror))
    return data_fingerprint(task, [], str(datapath))


@pytest.mark.parametrize("fold", FOLDS)
def test_fingerprint_depends_on_each_fold_but_not_on_location(
    fold: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mirror" / "empatheticdialogues"
    folder.mkdir(parents=True)
    for name in FOLDS:
        shutil.copy(SAMPLE / f"{name}.csv", folder)
    first = fingerprint(tmp_path / "mirror", tmp_path / "a", monkeypatch)
    assert len(first) == 64
    assert fingerprint(tmp_path / "mirror", tmp_path / "b", monkeypatch, f"{ED}:LastReply") == first
    built = next((tmp_path / "a").rglob(f"{fold}.csv"))
    built.write_text(built.read_text() + "\n")
    assert fingerprint(tmp_path / "mirror", tmp_path / "a", monkeypatch) != first


@pytest.mark.parametrize("task", [ED, "empathy:daily_dialog", "empathy:reddit"])
def test_sample_fingerprint_ignores_unrelated_options(task: str, tmp_path: Path) -> None:
    options = ["--edition", "sample", "-bs", "4", "--inference", "beam"]
    assert data_fingerprint(task, options, "x") == data_fingerprint(task, options[:2], str(tmp_path))


def test_missing_data_error_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"^{tmp_path}/none does not exist: "):
        data_fingerprint("empathy:reddit", ["--reddit-file", str(tmp_path / "none")], "x")
