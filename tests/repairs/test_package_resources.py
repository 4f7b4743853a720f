"""ParlAI's options load if setuptools has no ``pkg_resources``."""

from __future__ import annotations

import ast
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest
from parlai_as_it_comes import source_of
from processes import run, succeeded

from parlai_empathy.repairs import package_resources

BLOCK_PKG_RESOURCES = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pkg_resources":
            raise ModuleNotFoundError("blocked", name=name)
sys.meta_path.insert(0, Block())
"""


def test_options_load_without_setuptools_pkg_resources(tmp_path: Path) -> None:
    preset = tmp_path / "mine.opt"
    preset.write_text('{"batchsize": 3}')
    code = BLOCK_PKG_RESOURCES + (
        "from parlai.core.opt import Opt\n"
        f"print(Opt.load_init({str(preset)!r}), 'pkg_resources' in sys.modules)\n"
        "try:\n    Opt.load_init('gen/no_such_preset')\n"  # looked for in `parlai.opt_presets`, which the wheel lacks
        "except Exception as error:\n    print(type(error).__name__)"
    )
    printed = succeeded(run([sys.executable, "-c", code], tmp_path)).stdout.splitlines()
    assert printed[0] == "{'batchsize': 3} False"
    assert printed[1] in ("OptionError", "ModuleNotFoundError")


def test_stand_in_matches_pkg_resources() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the real one warns that it is deprecated
        real = pytest.importorskip("pkg_resources")
    for package, name in [
        ("parlai", "__init__.py"),
        ("parlai", "core/opt.py"),
        ("parlai", "no.py"),
        ("parlai", "core"),
    ]:
        assert package_resources.resource_filename(package, name) == real.resource_filename(package, name)
        if name != "core":  # the real one also finds folders; ParlAI only looks up files
            assert package_resources.resource_exists(package, name) == real.resource_exists(package, name)
    for function in (package_resources.resource_exists, real.resource_exists):
        with pytest.raises(ModuleNotFoundError):
            function("no_such_package", "x")


def test_real_pkg_resources_is_kept_if_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ModuleType("pkg_resources")
    monkeypatch.setitem(sys.modules, "pkg_resources", real)
    package_resources.lend_pkg_resources()
    assert sys.modules["pkg_resources"] is real
    package_resources.take_back_pkg_resources(real)
    assert sys.modules["pkg_resources"] is real


def test_stand_in_is_installed_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pkg_resources", raising=False)
    package_resources.lend_pkg_resources()
    assert sys.modules["pkg_resources"].resource_exists("parlai", "__init__.py")
    package_resources.take_back_pkg_resources(ModuleType("unused"))
    assert "pkg_resources" not in sys.modules


def test_unrepaired_parlai_imports_pkg_resources() -> None:
    imports = [node for node in ast.walk(ast.parse(source_of("parlai.core.opt"))) if isinstance(node, ast.Import)]
    assert "pkg_resources" in [alias.name for node in imports for alias in node.names]
