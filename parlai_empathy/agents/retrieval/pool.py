"""A pool: the replies that an agent can choose from, with their encodings, kept in one file beside the model.

A pool knows which model encoded it. A stored pool that another model made, or that holds other replies, is made anew.
"""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from parlai.core.opt import Opt
from parlai.core.teachers import create_task_agent_from_taskname
from torch import Tensor, nn

from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.modules.vector_index import exact_search


@dataclass(frozen=True)
class Pool:
    """Replies and their encodings.

    :param texts: the replies, each once.
    :param encodings: ``(len(texts), dim)``
    :param fingerprint: of the model that encoded them.
    :param path: of the file that the pool was read from, if there is one.
    """

    texts: list[str]
    encodings: Tensor
    fingerprint: str
    path: str | None = None

    @property
    def name(self) -> str:
        """A short name that changes with the replies, for signatures."""
        digest = hashlib.sha256("\n".join(self.texts).encode()).hexdigest()[:8]
        return f"{len(self.texts)}-{digest}"

    @cached_property
    def place_of(self) -> dict[str, int]:
        """Each reply's place."""
        return {text: place for place, text in enumerate(self.texts)}

    def best(self, contexts: Tensor) -> list[str]:
        """The best reply for each context by dot product: ``(n, dim)`` to ``n`` texts."""
        return [self.texts[i] for i in exact_search(contexts, self.encodings, 1)[1][:, 0].tolist()]

    def save(self, path: str | Path) -> None:
        """Write the pool, whole or not at all."""
        unfinished = f"{path}.{os.getpid()}.tmp"
        torch.save({"texts": self.texts, "encodings": self.encodings, "fingerprint": self.fingerprint}, unfinished)
        os.replace(unfinished, path)


def load_pool(path: str | Path) -> Pool:
    """Read a pool; nothing in the file is executed. Its encodings are mapped, and take memory where they are read.

    :raises ModelFileError: if it is not a whole pool.
    """
    try:
        stored: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        pool = Pool(**stored, path=str(path))
        if len(pool.texts) != len(pool.encodings):
            raise ValueError("as many encodings as replies were expected")
        return pool
    except Exception as error:  # torch raises a different kind for each way in which a file can be broken
        raise ModelFileError(f"{path} is not a readable pool of replies: delete it, and it is built anew") from error


def stored_or_new(
    path: str | Path | None, fingerprint: str, texts: Callable[[], list[str]], encode: Callable[[list[str]], Tensor]
) -> tuple[Pool, bool]:
    """The pool at ``path`` if the same model made it, else a new one from ``texts`` and ``encode``.

    :returns: the pool, and whether it is new.
    :raises ModelFileError: if there is no reply to choose from.
    """
    if path is not None and Path(path).exists():
        pool = load_pool(path)
        if pool.fingerprint == fingerprint:
            return pool, False
    replies = texts()
    if not replies:
        raise ModelFileError("the pool of replies is empty: no reply is short enough and of known words alone")
    return Pool(replies, encode(replies), fingerprint), True


def model_fingerprint(model: nn.Module) -> str:
    """A digest of all parameters, in hexadecimal."""
    return state_fingerprint(model.state_dict())


def state_fingerprint(state: Mapping[str, Tensor]) -> str:
    """A digest of tensors and their names, in hexadecimal."""
    digest = hashlib.sha256()
    for name, values in sorted(state.items()):
        digest.update(name.encode())
        digest.update(values.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:16]


def read_replies(path: str | Path) -> list[str]:
    """The lines of a text file, each once, without the empty ones.

    :raises ModelFileError: if it cannot be read.
    """
    lines = _bytes(path).decode(errors="replace").split("\n")
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


def file_fingerprint(path: str | Path) -> str:
    """A digest of a file's content, in hexadecimal. Raises :class:`ModelFileError` if it cannot be read."""
    return hashlib.sha256(_bytes(path)).hexdigest()[:8]


def _bytes(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ModelFileError(f"--fixed-candidates-path {path} cannot be read: {error.strerror}") from error


# The paper's three (Rashkin et al. 2019, section 4.1), and their names there.
TASKS = {
    "ed": "empathy:empathetic_dialogues",
    "dd": "empathy:daily_dialog",
    "reddit": "empathy:reddit",
    "r": "empathy:reddit",
}
# Options of tasks that decide which replies there are; those that stand behind a task's name count in any case.
_OPTIONS = ("edition", "reddit_file", "humod_file")


def pool_tasks(pool: str) -> list[str]:
    """The tasks that ``--pool`` names: ``ed+dd+reddit``, or full names of tasks joined by ``+``.

    :raises OptionError: if a name is empty, or is neither one of the short names nor a task with a prefix.
    """
    names = [name.strip() for name in pool.split("+")]
    if wrong := [name for name in names if name.lower() not in TASKS and ":" not in name]:
        raise OptionError(
            f"--pool {pool}: {wrong[0]!r} is none of {', '.join(TASKS)}; a task's full name, such as "
            "empathy:empathetic_dialogues:BothRoles, is taken too"
        )
    return list(dict.fromkeys(TASKS.get(name.lower(), name) for name in names))


def source_of(tasks: Sequence[str], opt: Mapping[str, Any]) -> str:
    """What decides a pool's texts: tasks, their options, the longest reply; of files also when they were written."""
    options = [(name, opt[name]) for name in _OPTIONS if opt.get(name)]
    options += [part.partition("=")[::2] for task in tasks for part in task.split(":") if "=" in part]
    return " ".join(
        ["+".join(tasks), str(opt["pool_max_tokens"]), *(f"{name}={_described(value)}" for name, value in options)]
    )


def _described(value: str | Sequence[str]) -> str:
    paths = [Path(part) for part in (value.split(",") if isinstance(value, str) else value)]
    found = [path for path in paths if path.is_file()]
    return ",".join([*map(str, paths), *(f"{path.stat().st_size}@{path.stat().st_mtime_ns}" for path in found)])


def training_replies(opt: Opt, task: str) -> Iterator[str]:
    """The labels of the training fold of ``task``, in order."""
    opt = copy.deepcopy(opt)
    # Not train:evalmode, of which several processes would each get only a share.
    opt.update(task=task, datatype="train:ordered", batchsize=1, interactive_task=False, selfchat_task=False)
    for teacher in create_task_agent_from_taskname(opt):
        yield from _labels(teacher)


def _labels(teacher: Any) -> Iterator[str]:
    while not teacher.epoch_done():
        yield from teacher.act().get("labels") or []
