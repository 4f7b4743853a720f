"""The shared fixture of the curation tests: an engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from parlai_empathy.curation.engine import Engine, open_engine


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine("duckdb", tmp_path / "engine", "1GB", 2)
    yield engine
    engine.close()
