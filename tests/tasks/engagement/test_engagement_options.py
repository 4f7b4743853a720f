"""The option that names another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from parlai_empathy.tasks.engagement.options import rated_file
from parlai_empathy.tasks.engagement.sets import SAMPLE


def test_a_file_that_is_named_goes_before_an_edition(tmp_path: Path) -> None:
    opt = {"edition": "sample", "engagement_file": str(tmp_path / "mine.csv")}
    assert rated_file("better", opt) == tmp_path / "mine.csv"


def test_without_one_it_is_the_sets_own(tmp_path: Path) -> None:
    opt = {"edition": "sample", "engagement_file": None, "datapath": str(tmp_path)}
    assert rated_file("better", opt) == SAMPLE / "better.csv"


def test_a_home_folder_is_understood(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert rated_file("fed", {"engagement_file": "~/fed.json"}) == tmp_path / "fed.json"
