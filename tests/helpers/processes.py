"""Run commands in processes, which are killed if they hang."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import venv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import parlai_empathy

PACKAGE = Path(parlai_empathy.__file__).parent
REPOSITORY = PACKAGE.parent
PTH = REPOSITORY / "parlai_empathy.pth"

PATIENCE = 300  # seconds until a command counts as hanging: far more than the slowest needs on a busy machine

# A minimal model: each command takes a few seconds, nearly all of them for imports.
SAMPLE = ("-t", "empathy:empathetic_dialogues", "--edition", "sample")
TINY_SIZES = ("--embedding-size", "16", "--n-heads", "2", "--n-layers", "1", "--ffn-size", "16", "--num-epochs", "1")
TINY = ("-m", "empathy:retrieval", *TINY_SIZES)


def run(
    command: Sequence[str | Path], cwd: Path, stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``command`` without a GPU until it and its children end; ``environment`` adds environment variables."""
    process = start(command, cwd, **environment)
    try:
        out, err = process.communicate(stdin, timeout=PATIENCE)
    except subprocess.TimeoutExpired as error:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"hangs: {command}\n{out[-2000:]}\n{err[-2000:]}") from error
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def start(command: Sequence[str | Path], cwd: Path, **environment: str) -> subprocess.Popen[str]:
    """Start ``command`` as the leader of a new process group.

    The running interpreter imports the package that this process tests, whichever is installed; pip sees only what is.
    """
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "EMPATHY_", "SLURM_"))
    }
    if command[0] == sys.executable and "pip" not in command:
        inherited["PYTHONPATH"] = str(REPOSITORY)
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env={**inherited, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def parlai_command(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``parlai <arguments>`` with the running interpreter."""
    return run([sys.executable, "-m", "parlai", *arguments], cwd, **environment)


def succeeded(result: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """Assert that the command succeeded, and return ``result``."""
    assert result.returncode == 0, f"{result.args}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}"
    return result


class CleanPython:
    """An empty virtual environment; :attr:`site` is its site-packages."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin" / "python"
        self.home = folder
        self.site = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"

    def add_hook(self) -> None:
        """Copy the ``.pth`` file and the package into the environment."""
        shutil.copy(PTH, self.site)
        shutil.copytree(PACKAGE, self.site / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__", "*.csv"))

    def add_package(self, name: str, code: str) -> None:
        """Add a package with a single file."""
        (self.site / name).mkdir()
        (self.site / name / "__init__.py").write_text(code)

    def add_stack(self) -> None:
        """Make the running interpreter's packages importable, without processing its ``.pth`` files."""
        folders = {Path(find_spec(name).origin).parents[1] for name in ("parlai", "torch", "numpy")}  # type: ignore
        (self.site / "stack.pth").write_text("".join(f"{folder}\n" for folder in folders))

    def __call__(self, code: str, *flags: str) -> str:
        """Run ``code`` and return what it prints; it must succeed and write nothing to stderr."""
        result = succeeded(run([self.python, *flags, "-c", code], self.home))
        assert result.stderr == ""
        return result.stdout
