"""Fixtures that write HUMOD files without any code of the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from humod_files import OFFICIAL, Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A function that writes lines, texts or bytes, into a file, and returns its path."""

    def write_file(*lines: str | bytes, name: str = "some.TXT", end: str = "\n") -> Path:
        encoded = [line.encode() if isinstance(line, str) else line for line in lines]
        (path := tmp_path / name).write_bytes(b"".join(line + end.encode() for line in encoded))
        return path

    return write_file


@pytest.fixture
def official(write: Write) -> Write:
    """A function that writes rows below the official header."""
    return lambda *rows, **named: write("\t".join(OFFICIAL), *rows, **named)


@pytest.fixture
def objects(write: Write) -> Write:
    """A function that writes JSON lines."""

    def write_objects(*values: Any) -> Path:
        return write(*(v if isinstance(v, str | bytes) else json.dumps(v) for v in values), name="some.jsonl")

    return write_objects
