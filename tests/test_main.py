"""``python -m parlai_empathy`` in environments with everything, without ParlAI, without the hook, and with neither."""

from __future__ import annotations

import shutil
from importlib.metadata import version
from pathlib import Path

import pytest
from processes import PTH, CleanPython, run

from parlai_empathy import __version__

REMEDY = "pip install --no-deps parlai==1.7.2"


def doctor(environment: CleanPython) -> tuple[int, list[str]]:
    """Run ``python -m parlai_empathy``; return its exit code and the lines that it prints."""
    result = run([environment.python, "-m", "parlai_empathy"], environment.home)
    assert result.stderr == ""
    return result.returncode, result.stdout.splitlines()


def problems(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("problem: ")]


@pytest.fixture
def environment(tmp_path: Path) -> CleanPython:
    """An environment with the package, its hook, and empty packages torch and NumPy."""
    clean = CleanPython(tmp_path / "env")
    clean.add_hook()
    clean.add_package("torch", "")
    clean.add_package("numpy", "")
    return clean


def test_complete_installation_is_ready(environment: CleanPython) -> None:
    environment.add_stack()
    code, lines = doctor(environment)
    assert code == 0
    assert lines[0].startswith(f"parlai-empathy {__version__}, Python 3.")
    assert f"parlai {version('parlai')}" in lines
    assert f"torch {version('torch')}" in lines
    assert f"numpy {version('numpy')}" in lines
    assert not problems(lines)
    assert lines[-1].startswith("Ready")


def test_missing_parlai_is_reported_with_install_command(environment: CleanPython) -> None:
    code, lines = doctor(environment)
    assert code == 1
    assert "parlai: not installed" in lines
    [problem] = problems(lines)
    assert REMEDY in problem
    assert lines[-1] == "Not ready."


def test_missing_hook_is_reported(environment: CleanPython) -> None:
    environment.add_stack()
    (environment.site / PTH.name).unlink()
    code, lines = doctor(environment)
    assert code == 1
    [problem] = problems(lines)
    assert PTH.name in problem
    assert "install" in problem
    assert lines[-1] == "Not ready."


def test_missing_hook_and_parlai_are_reported_separately(environment: CleanPython) -> None:
    (environment.site / PTH.name).unlink()
    code, lines = doctor(environment)
    assert code == 1
    of_hook, of_parlai = problems(lines)
    assert PTH.name in of_hook
    assert REMEDY in of_parlai


def test_missing_torch_is_reported_with_install_command(environment: CleanPython) -> None:
    environment.add_package("parlai", "__version__ = '1.7.2'")
    shutil.rmtree(environment.site / "torch")
    code, lines = doctor(environment)
    assert code == 1
    assert problems(lines) == ["problem: torch is not installed: pip install torch"]


def test_broken_hook_is_reported_like_a_missing_one(environment: CleanPython) -> None:
    environment.add_stack()
    (environment.site / PTH.name).write_text("import sys; sys.meta_path\n")  # valid, but installs nothing
    code, lines = doctor(environment)
    assert code == 1
    assert PTH.name in "".join(problems(lines))


def test_untested_parlai_version_gives_a_warning(environment: CleanPython) -> None:
    environment.add_package("parlai", "__version__ = '1.6.0'")
    information = environment.site / "parlai-1.6.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: parlai\nVersion: 1.6.0\n")
    result = run([environment.python, "-m", "parlai_empathy"], environment.home)
    assert result.returncode == 0
    assert "parlai 1.6.0" in result.stdout.splitlines()
    assert "1.6.0" in result.stderr
    assert REMEDY in result.stderr


def test_incomplete_package_is_not_reported_ready(environment: CleanPython) -> None:
    shutil.rmtree(environment.site / "parlai_empathy")
    result = run([environment.python, "-m", "parlai_empathy"], environment.home)
    assert result.returncode == 1
    assert "Ready" not in result.stdout
