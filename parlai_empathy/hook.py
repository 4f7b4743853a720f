"""The hook of every Python start: it waits for ``import parlai`` and then hands over to :mod:`parlai_empathy.plugin`.

ParlAI knows no entry points, so a one-line ``.pth`` file in site-packages imports this module. A ``.pth`` runs in each
process, hence also in ``python -m parlai.scripts.X`` and in the children that ``multiprocessing_train`` spawns.
Only ``sys`` is imported here: a Python that never uses ParlAI pays well under a millisecond.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # for type checkers alone: `typing` would triple the cost of the hook
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
        # Only the top-level package at first; the plug-in names the modules it cares about once ParlAI is really used.
        self.watched = {"parlai"}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find ``name`` as the other finders would, and wrap its execution. ``None`` for what is not watched."""
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

            vars(loader).pop("get_code", None)  # from here on the module's own
            self.watched |= plugin.watched_modules()
            plugin.before_import(name)
            run(module)
            plugin.after_import(name, module)

        # On the instance: each search makes a loader of its own, and it keeps all its other methods.
        loader.exec_module = exec_module  # type: ignore[method-assign]
        # `python -m` asks for nothing but the code, and would run it under another name, which nobody watches.
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
