"""The replies of a pool: those of the tasks that ``--pool`` names, or the lines of a file."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.files.text_file import is_file, read_text
from parlai_empathy.files.user_path import user_path
from parlai_empathy.task_kit.training_fold import training_teachers

# The paper's three (Rashkin et al. 2019, section 4.1), and their short names.
TASKS = {
    "ed": "empathy:empathetic_dialogues",
    "dd": "empathy:daily_dialog",
    "reddit": "empathy:reddit",
    "r": "empathy:reddit",
}

_STAMP = re.compile(r",\d+@\d+")  # a file's size and time, as in _described


def read_replies(path: str | Path) -> list[str]:
    """Return the distinct, non-empty lines of a text file.

    :raises DataError: if it cannot be read, or is not UTF-8.
    """
    return list(dict.fromkeys(line.strip() for line in _text(path).split("\n") if line.strip()))


def file_fingerprint(path: str | Path) -> str:
    """Return a digest of a text file's content, in hexadecimal. Raise :class:`DataError` as :func:`read_replies`."""
    return hashlib.sha256(_text(path).encode()).hexdigest()[:8]


def _text(path: str | Path) -> str:
    return read_text(path, "--fixed-candidates-path needs a text file with one reply per line")


def pool_tasks(pool: str) -> list[str]:
    """Parse ``--pool``: ``ed+dd+reddit``, or full names of tasks joined by ``+``.

    :raises OptionError: if a name is empty, or is neither one of the short names nor a task with a prefix.
    """
    names = [name.strip() for name in pool.split("+")]
    if wrong := [name for name in names if name.lower() not in TASKS and ":" not in name]:
        raise OptionError(
            f"--pool {pool}: {wrong[0]!r} is not one of {', '.join(TASKS)}; a task's full name, such as "
            "empathy:empathetic_dialogues:BothRoles, works too, and --fixed-candidates-path names a file of replies"
        )
    return list(dict.fromkeys(TASKS.get(name.lower(), name) for name in names))


def task_options(task: str, opt: Mapping[str, Any]) -> dict[str, Any]:
    """Return a task's own options, such as where its data are and which turns are used."""
    return {name: opt[name] for name in _declared(task, opt) if name in opt}


def pool_options(tasks: Sequence[str], opt: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of the tasks of ``--pool``, with their defaults if ``opt`` lacks them."""
    return {name: opt.get(name, default) for task in tasks for name, default in _declared(task, opt).items()}


def _declared(task: str, opt: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names of the options that a task declares, with their defaults."""
    parser = ParlaiParser(False, False)
    parser.add_task_args(task, Opt(opt))
    return {action.dest: action.default for action in parser._actions if action.dest != "help"}


def source_of(tasks: Sequence[str], opt: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Describe what determines a pool's texts: tasks, their options, maximum length; also the sizes and times of files
    that the options name, themselves or by their folder.

    :param options: of the tasks.
    """
    values = [(name, value) for name, value in options.items() if value]
    values += [part.partition("=")[::2] for task in tasks for part in task.split(":") if "=" in part]
    return " ".join(
        ["+".join(tasks), str(opt["pool_max_tokens"]), *(f"{name}={_described(value)}" for name, value in values)]
    )


def without_stamps(source: str) -> str:
    """Return a description by :func:`source_of` as it is where the files that it names are not there."""
    return _STAMP.sub("", source)


def _described(value: object) -> str:
    parts = list(map(str, value)) if isinstance(value, list | tuple) else str(value).split(",")
    found = [path for part in parts if part for path in _files(user_path(part))]
    return ",".join([*parts, *(f"{path.stat().st_size}@{path.stat().st_mtime_ns}" for path in found)])


def _files(path: Path) -> list[Path]:
    """Return the file, or a folder's files; empty if there are none."""
    with contextlib.suppress(OSError, ValueError):  # the value may be anything, such as a text too long for a path
        return sorted(file for file in path.iterdir() if is_file(file)) if path.is_dir() else [path] * is_file(path)
    return []


def training_replies(opt: Opt, task: str) -> Iterator[str]:
    """Yield the labels of the training fold of ``task``, in order.

    :raises DataError: if one of its files cannot be read.
    """
    try:
        for teacher in training_teachers(task, opt):
            yield from _labels(teacher)
    except (OSError, RuntimeError) as error:  # ParlAI's own readers raise either
        raise DataError(
            f"the training replies of {task} cannot be read ({error}): put its files back, or name others with --pool "
            "or --fixed-candidates-path"
        ) from error


def _labels(teacher: Any) -> Iterator[str]:
    while not teacher.epoch_done():
        yield from teacher.act().get("labels") or []
