"""How ParlAI finds this package's agents, tasks and worlds: as ``empathy:x``, or plain ``x`` if it has no ``x`` itself.

A name that neither has is an error of one line, which asks whether a close one was meant.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Container
from pathlib import Path
from types import ModuleType
from typing import Any

from parlai_empathy.errors import OptionError

PREFIX = "empathy:"
PACKAGE = "parlai_empathy"

_HERE = Path(__file__).parent


def register_prefix(loader: Any) -> None:
    """Register the prefix ``empathy:`` with ParlAI's loader, for agents, tasks, teachers and worlds."""
    loader.REGISTERED_REPOS[PREFIX] = {"repo": PACKAGE, "source": "pip install parlai-empathy"}
    agents, teachers = loader.AGENT_REGISTRY, loader.TEACHER_REGISTRY
    loader.load_agent_module = _with_prefix(
        _known(_checked(loader.load_agent_module, "agents"), "agents"), "agents", agents
    )
    loader.load_task_module = _with_prefix(_checked(loader.load_task_module, "tasks"), "tasks", teachers)
    loader.load_teacher_module = _with_prefix(
        _known(_checked(loader.load_teacher_module, "tasks"), "tasks"), "tasks", teachers
    )
    loader.load_world_module = _with_prefix(_wrap_world_loader(loader.load_world_module), "tasks", teachers)


def canonical_name(name: str, kind: str) -> str:
    """Return ``name``, with the prefix ``empathy:`` if this package has that name and ParlAI does not.

    :param name: the value of ``-t`` or ``-m``, including teacher and options.
    :param kind: ``"tasks"`` or ``"agents"``.
    """
    name = name.strip()
    head = re.split("[:/]", name)[0]
    if _is_ours(head, kind) and not _parlai_has(head, kind):
        return PREFIX + name
    return name


@functools.cache
def _parlai_has(name: str, kind: str) -> bool:
    import parlai

    return (Path(parlai.__file__).parent / kind / name).is_dir()


def _with_prefix(load: Callable[..., Any], kind: str, registered: Container[str]) -> Callable[..., Any]:
    """Wrap ``load`` to accept our names without prefix; names that a user's script has registered take precedence."""

    @functools.wraps(load)
    def load_canonical(name: str, *args: Any, **kwargs: Any) -> Any:
        return load(name if name in registered else canonical_name(name, kind), *args, **kwargs)

    return load_canonical


def _checked(load: Callable[..., Any], kind: str) -> Callable[..., Any]:
    """Wrap ``load`` so that an unknown name with our prefix raises a one-line error that lists the known ones."""

    @functools.wraps(load)
    def load_checked(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith(PREFIX):
            head, *rest = name.removeprefix(PREFIX).split(":")
            name = ":".join([PREFIX + head.lower(), *filter(None, rest)])  # ParlAI lower-cases task names too
            _check_name(name.removeprefix(PREFIX), kind)
        try:
            return load(name, *args, **kwargs)
        except AttributeError as error:
            told = _no_such_teacher(name, error)
            if told is None:
                raise
            raise told from error

    return load_checked


def _check_name(name: str, kind: str) -> None:
    """Raise :class:`OptionError` unless the task exists, or the agent and, after a ``/``, its base agent."""
    wanted, *rest = re.split("[:/]", name.lower())
    if not _is_ours(wanted, kind):
        raise _unknown(PREFIX + wanted, kind)
    if kind == "agents" and "/" in name and not (_HERE / kind / wanted / f"{rest[0]}.py").is_file():
        raise OptionError(f"{PREFIX}{name}: there is no such agent; the part before the / is one")


def _known(load: Callable[..., Any], kind: str) -> Callable[..., Any]:
    """Wrap ``load`` so that a name that ParlAI does not know raises a one-line error that suggests a close one.

    Not for ``load_task_module``: ParlAI passes it unions of tasks, and goes on if that fails.
    """

    @functools.wraps(load)
    def load_known(name: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return load(name, *args, **kwargs)
        except ModuleNotFoundError as error:
            head = re.split("[:/]", name)[0].lower()
            if str(error.name).lower().split(".")[:3] != ["parlai", kind, head]:
                raise  # something that the agent or task imports is missing
            raise _unknown(name, kind) from error

    return load_known


def _unknown(name: str, kind: str) -> OptionError:
    """Return the error for an unknown name, which asks whether a close one was meant, or lists this package's names."""
    import parlai

    own = _own(kind)
    short = [one.removeprefix(PREFIX) for one in own]
    plain = ":".join(part for part in name.split(":") if "=" not in part)
    if plain.startswith(PREFIX):  # by itself it makes all names close
        close = [PREFIX + one for one in difflib.get_close_matches(plain.removeprefix(PREFIX), short, n=1)]
    else:
        others = [path.name for path in (Path(parlai.__file__).parent / kind).iterdir() if path.is_dir()]
        close = difflib.get_close_matches(plain, [*own, *short, *others], n=1)
    advice = f"did you mean {close[0]}?" if close else f"those of this package are {', '.join(own)}"
    return OptionError(f"{name}: there is no such {kind.removesuffix('s')}; {advice}")


def _own(kind: str) -> list[str]:
    """Return the names of this package's agents or tasks, with the prefix."""
    return sorted(PREFIX + path.parent.name for path in (_HERE / kind).glob("*/__init__.py"))


def _no_such_teacher(name: str, error: AttributeError) -> OptionError | None:
    """Return the error for an unknown teacher of one of our tasks; ``None`` if ``error`` has another cause."""
    module = error.obj
    if not (isinstance(module, ModuleType) and str(error.name).endswith("Teacher")):
        return None
    if not module.__name__.startswith(f"{PACKAGE}.tasks."):
        return None
    own = [key for key, kind in vars(module).items() if getattr(kind, "__module__", None) == module.__name__]
    teachers = {key.removesuffix("Teacher") for key in own if key.endswith("Teacher")}
    task = module.__name__.split(".")[2].replace("_", "")
    there_are = ", ".join(sorted(key for key in teachers if key.lower() != task))  # without the base class
    return OptionError(f"{name}: there is no such teacher; available: {there_are}")


def _is_ours(name: str, kind: str) -> bool:
    return name.isidentifier() and (_HERE / kind / name / "__init__.py").is_file()


def _wrap_world_loader(load_world_module: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``load_world_module``: it searches only ParlAI's own tasks, but accepts the full path of ours."""

    @functools.wraps(load_world_module)
    def load(taskname: str, *args: Any, **kwargs: Any) -> Any:
        if taskname.startswith(PREFIX):
            task, *rest = taskname[len(PREFIX) :].split(":")
            teacher = [part for part in rest if part and "=" not in part][:1]
            taskname = ":".join([f"{PACKAGE}.tasks.{task.lower()}.agents", *teacher])
        return load_world_module(taskname, *args, **kwargs)

    return load
