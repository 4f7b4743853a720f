"""Import hook, installed at every start of Python: on ``import parlai`` it runs :mod:`parlai_empathy.plugin`.

ParlAI does not support entry points, so a one-line ``.pth`` file in site-packages imports this module. A ``.pth`` file
is processed by every Python process, including ``python -m parlai.scripts.X`` and the children that
``multiprocessing_train`` spawns. Only ``sys`` is imported here, so a process that never uses ParlAI loses well under a
millisecond.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # not `from typing import TYPE_CHECKING`, which would triple the cost of the hook
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

PARLAI_MISSING = (
    "ParlAI is not installed, and parlai-empathy plugs into it. Install it without its outdated pins: "
    "pip install --no-deps parlai==1.7.2"
)

AS_SCRIPT = "from parlai_empathy import plugin; plugin.run_script({!r})"


class ParlaiFinder:
    """A meta-path finder that lets :mod:`parlai_empathy.plugin` act right before and after ParlAI's modules run."""

    def __init__(self) -> None:
        # At first only the top-level package; once it is imported, the plug-in adds the modules that it patches.
        self.watched = {"parlai"}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the other finders' spec of a watched module, its execution wrapped; ``None`` for other modules."""
        if name not in self.watched:
            return None
        spec = self._find_elsewhere(name, path, target)
        if spec is None or spec.loader is None:
            if name == "parlai":
                raise ModuleNotFoundError(PARLAI_MISSING, name="parlai")
            return spec
        loader, run = spec.loader, spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            from parlai_empathy import plugin

            vars(loader).pop("get_code", None)  # restore the class's method
            self.watched |= plugin.watched_modules()
            plugin.before_import(name)
            run(module)
            plugin.after_import(name, module)

        # Patch the instance: each search creates a new loader, and its other methods stay as they are.
        loader.exec_module = exec_module  # type: ignore[method-assign]
        # `python -m` only calls get_code, and would run the code as `__main__`, which is not watched.
        loader.get_code = lambda _: compile(AS_SCRIPT.format(name), "<parlai_empathy>", "exec")  # type: ignore[attr-defined]
        return spec

    def _find_elsewhere(self, name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    return spec
        return None


def is_installed() -> bool:
    """Whether the finder is on ``sys.meta_path``."""
    return any(isinstance(finder, ParlaiFinder) for finder in sys.meta_path)


def install() -> None:
    """Put the finder first on ``sys.meta_path``, once."""
    if not is_installed():
        sys.meta_path.insert(0, ParlaiFinder())
