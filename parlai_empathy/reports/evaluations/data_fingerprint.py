"""The fingerprint of a task's data, which changes whenever one of its files changes, in any fold.

The training fold matters too: reply pools and few-shot examples are taken from it.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError
from parlai_empathy.reports.evaluations.typed_options import typed_options
from parlai_empathy.task_kit.builder import sha256_of


def data_fingerprint(task: str, options: Sequence[str], datapath: str) -> str:
    """Return a digest of the files of one of this package's tasks; the data set is built if needed.

    :param task: the task's name, such as ``empathy:reddit``; anything after a second colon is ignored.
    :param options: further command-line options of ``eval_model``: some determine which files are read.
    :returns: 64 hexadecimal digits.
    :raises EmpathyError: if the data are not available, or cannot be read.
    """
    opt = typed_options(["-t", task, "--datapath", datapath, *options])
    name = task.split(":")[1]
    built = importlib.import_module(f"parlai_empathy.tasks.{name}.build").build(opt)
    digest = hashlib.sha256()
    for file in _files(built):
        digest.update(f"{file.name} {_sha256(file)}\n".encode())
    return digest.hexdigest()


def _files(built: Any) -> Iterator[Path]:
    """Yield all files in what a task's builder returned: a file, a folder, or several of them."""
    if isinstance(built, Path):
        yield from sorted(path for path in built.rglob("*") if path.is_file()) if built.is_dir() else [built]
        return
    for part in built.values() if isinstance(built, Mapping) else built:
        yield from _files(part)


def _sha256(file: Path) -> str:
    try:
        state = file.stat()
        return _sha256_of_state(file, state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise DataError(f"{file} cannot be read ({error.strerror}): check the file, or name other data") from error


@cache
def _sha256_of_state(file: Path, size: int, changed: int) -> str:
    """Return a file's digest, cached until the file changes, since many models are evaluated on the same data."""
    return sha256_of(file)
