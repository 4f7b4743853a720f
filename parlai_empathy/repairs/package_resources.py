"""setuptools 82 dropped ``pkg_resources``; ``parlai.core.opt`` imports two functions from it."""

from __future__ import annotations

import importlib.resources
import sys
from types import ModuleType


def lend_pkg_resources() -> None:
    """Stand in for ``pkg_resources`` while ``parlai.core.opt`` is imported. It also imports faster."""
    if "pkg_resources" in sys.modules:
        return
    stand_in = ModuleType("pkg_resources", lend_pkg_resources.__doc__)
    stand_in.resource_exists = resource_exists  # type: ignore[attr-defined]
    stand_in.resource_filename = resource_filename  # type: ignore[attr-defined]
    stand_in.lent_by_parlai_empathy = True  # type: ignore[attr-defined]
    sys.modules["pkg_resources"] = stand_in


def take_back_pkg_resources(_: ModuleType) -> None:
    """Remove the stand-in, lest others mistake it for the library; ``parlai.core.opt`` keeps its reference."""
    if hasattr(sys.modules.get("pkg_resources"), "lent_by_parlai_empathy"):
        del sys.modules["pkg_resources"]


def resource_filename(package: str, name: str) -> str:
    """Return the path of file ``name`` in ``package``. Raises ``ModuleNotFoundError`` for a missing package."""
    return str(importlib.resources.files(package) / name)


def resource_exists(package: str, name: str) -> bool:
    """Whether ``package`` has a file ``name``. Raises ``ModuleNotFoundError`` for a missing package."""
    return (importlib.resources.files(package) / name).is_file()
