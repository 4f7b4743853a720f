"""The option that names another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from parlai_empathy.errors import DownloadError
from parlai_empathy.tasks.engagement.options import rated_file
from parlai_empathy.tasks.engagement.sets import SAMPLE


def test_engagement_file_takes_precedence_over_edition(tmp_path: Path) -> None:
    opt = {"edition": "sample", "engagement_file": str(tmp_path / "mine.csv")}
    assert rated_file("better", opt) == tmp_path / "mine.csv"


def test_file_of_the_set_is_the_default(tmp_path: Path) -> None:
    opt = {"edition": "sample", "engagement_file": None, "datapath": str(tmp_path)}
    assert rated_file("better", opt) == SAMPLE / "better.csv"


def test_tilde_in_engagement_file_is_expanded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert rated_file("fed", {"engagement_file": "~/fed.json"}) == tmp_path / "fed.json"


def test_missing_file_of_a_set_names_the_option(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR", raising=False)
    with pytest.raises(DownloadError, match=r"better\.csv; or name a file of your own with --engagement-file$"):
        rated_file("better", {"datapath": str(tmp_path)})
