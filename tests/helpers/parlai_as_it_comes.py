"""ParlAI without our repairs, for tests of whether these are still needed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from parlai.core.script import SCRIPT_REGISTRY


def unrepaired(name: str) -> ModuleType:
    """Import ParlAI's module ``name`` again without repairs, under another name, which the hook ignores.

    The registered commands remain those of the repaired module; the import would replace them.
    """
    source = importlib.util.find_spec(name)
    assert source is not None
    assert source.origin is not None
    spec = importlib.util.spec_from_file_location("unrepaired_" + name.replace(".", "_"), source.origin)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    commands = dict(SCRIPT_REGISTRY)
    spec.loader.exec_module(module)
    SCRIPT_REGISTRY.clear()
    SCRIPT_REGISTRY.update(commands)
    return module


def source_of(name: str) -> str:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")
