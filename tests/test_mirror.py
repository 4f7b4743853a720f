"""Tests mirror the package: who knows a module finds its tests, and who sees a test finds what it tests."""

from __future__ import annotations

from pathlib import Path

import pytest

import parlai_empathy

PACKAGE, TESTS = Path(parlai_empathy.__file__).parent, Path(__file__).parent
ELSEWHERE = ("gpu", "helpers", "fixtures")  # tests of several modules on another device, and no tests
FILES = [path.relative_to(TESTS) for path in sorted(TESTS.rglob("test_*.py"))]
MIRRORED = [path for path in FILES if path.parts[0] not in ELSEWHERE and len(path.parts) > 1]


@pytest.mark.parametrize("path", MIRRORED, ids=str)
def test_file_is_named_after_what_it_tests(path: Path) -> None:
    """``a/test_b.py``, or ``a/test_b_in_chromium.py`` for one side of ``b``, tests the module or folder ``a/b``."""
    inside = PACKAGE / path.parent
    names = {one.stem for one in inside.iterdir() if one.suffix == ".py" or one.is_dir()}
    name = f"{path.stem.removeprefix('test_')}_"
    assert any(name.startswith(f"{one}_") for one in names), f"{inside} has no module of this name"
