"""SQL values mean the same to the engine."""

from __future__ import annotations

import pytest

from parlai_empathy.curation.duck import connect
from parlai_empathy.curation.sql import double, quoted


@pytest.mark.parametrize("text", ["", "it's", "''", "a\\'b", "%s"])
def test_engine_reads_the_same_text(text: str) -> None:
    assert _read(quoted(text)) == text


@pytest.mark.parametrize("value", [0, 0.1, -1e-300, 2**53])
def test_engine_reads_the_same_number(value: float) -> None:
    assert _read(double(value)) == value


def _read(sql: str) -> object:
    with connect("100MB", 1) as connection:
        return connection.execute(f"SELECT {sql}").fetchone()[0]
