"""The hook in separate Pythons: its cost at start, its effect on imports, and that it never interferes."""

from __future__ import annotations

import shutil
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest
from processes import PTH, CleanPython, run

from parlai_empathy import hook

LIST_MODULES = "import sys; print(*sorted(sys.modules), sep='\\n')"


@pytest.fixture
def bare(tmp_path: Path) -> CleanPython:
    return CleanPython(tmp_path / "env")


@pytest.fixture
def hooked(bare: CleanPython) -> CleanPython:
    bare.add_hook()
    return bare


# --- the .pth line ---------------------------------------------------------------------------------------------------


def test_startup_puts_the_finder_first_on_meta_path(hooked: CleanPython) -> None:
    assert hooked("import sys; print(type(sys.meta_path[0]).__name__)") == "ParlaiFinder\n"


def test_pth_file_is_a_single_import_line() -> None:
    lines = PTH.read_text().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("import ")  # site treats any other line as a path


def test_startup_installs_the_finder_under_interpreter_flags(hooked: CleanPython) -> None:
    for flags in (["-I"], ["-OO"], ["-E", "-s"], ["-W", "error"]):
        assert hooked("import sys; print(type(sys.meta_path[0]).__name__)", *flags) == "ParlaiFinder\n", flags


def test_startup_is_silent_without_the_package(bare: CleanPython) -> None:
    shutil.copy(PTH, bare.site)  # a half-removed installation
    assert bare("print('fine')") == "fine\n"


BROKEN_HOOKS = {
    "syntax error": "def install(:",
    "no install": "",
    "system error": "raise SystemError('internal')",
    "import error": "import no_such_module_anywhere",
    "recursion": "def install():\n    install()",
    "out of memory": "def install():\n    raise MemoryError",
    "not UTF-8": "\udcff",
    "an error that cannot be shown": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
}


@pytest.mark.parametrize("code", BROKEN_HOOKS.values(), ids=BROKEN_HOOKS.keys())
def test_startup_is_silent_with_a_broken_hook(hooked: CleanPython, code: str) -> None:
    (hooked.site / "parlai_empathy" / "hook.py").write_text(code, encoding="utf-8", errors="surrogateescape")
    assert hooked("print('fine')") == "fine\n"


def test_startup_is_silent_with_a_missing_or_unreadable_hook(hooked: CleanPython) -> None:
    file = hooked.site / "parlai_empathy" / "hook.py"
    file.unlink()
    assert hooked("print('fine')") == "fine\n"
    file.mkdir()  # neither a module nor a readable file
    assert hooked("print('fine')") == "fine\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-", ">/dev/full"])
def test_startup_works_with_closed_or_full_streams(hooked: CleanPython, closed: str) -> None:
    result = run(["sh", "-c", f"'{hooked.python}' -c 'import sys; sys.exit(7)' {closed}"], hooked.home)
    assert (result.returncode, result.stdout, result.stderr) == (7, "", "")


# --- the cost of a start ---------------------------------------------------------------------------------------------


def test_startup_loads_only_the_hook(bare: CleanPython) -> None:
    # The baseline has a .pth file too, as most environments do: reading one imports a codec or two.
    (bare.site / "other.pth").write_text("import sys\n")
    before = set(bare(LIST_MODULES).split())
    bare.add_hook()
    added = set(bare(LIST_MODULES).split()) - before
    assert added == {"parlai_empathy", "parlai_empathy.hook", "__future__"}


def test_unrelated_imports_do_not_load_the_plugin(hooked: CleanPython) -> None:
    hooked.add_package("parlai_like", "")
    loaded = hooked("import json, parlai_like; " + LIST_MODULES).split()
    assert "parlai_empathy.plugin" not in loaded
    assert not {"parlai", "torch", "numpy"} & set(loaded)


def test_importing_parlai_loads_the_plugin_but_not_torch_or_numpy(hooked: CleanPython) -> None:
    hooked.add_package("parlai", "__version__ = '1.7.2'")
    loaded = hooked("import parlai; " + LIST_MODULES).split()
    assert "parlai_empathy.plugin" in loaded
    assert not {"torch", "numpy", "requests"} & set(loaded)


# --- imports ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", ["import parlai", "import parlai.core.agents", "from parlai.core import opt"])
def test_missing_parlai_error_is_one_line_with_install_command(hooked: CleanPython, statement: str) -> None:
    printed = hooked(f"try:\n    {statement}\nexcept ModuleNotFoundError as e:\n    print(e.name, e)")
    assert printed.count("\n") == 1
    assert printed.startswith("parlai ParlAI is not installed")
    assert "pip install --no-deps parlai==1.7.2" in printed


def test_namespace_package_named_parlai_counts_as_missing_parlai(hooked: CleanPython) -> None:
    (hooked.home / "parlai" / "logs").mkdir(parents=True)  # Python would take it for a namespace package
    printed = hooked("try:\n    import parlai\nexcept ModuleNotFoundError as e:\n    print(e)")
    assert "pip install --no-deps parlai==1.7.2" in printed


def test_missing_unrelated_module_keeps_python_error(hooked: CleanPython) -> None:
    printed = hooked("try:\n    import parlay\nexcept ModuleNotFoundError as e:\n    print(e.name, e)")
    assert printed == "parlay No module named 'parlay'\n"


def test_missing_parlai_submodule_keeps_python_error(hooked: CleanPython) -> None:
    hooked.add_package("parlai", "__version__ = '1.7.2'")
    printed = hooked("try:\n    import parlai.no\nexcept ModuleNotFoundError as e:\n    print(e.name, e)")
    assert printed == "parlai.no No module named 'parlai.no'\n"


def test_error_while_importing_parlai_propagates_on_every_attempt(hooked: CleanPython) -> None:
    hooked.add_package("parlai", "__version__ = '1.7.2'\nprint('run')\nraise ZeroDivisionError")
    twice = (
        "for _ in range(2):\n    try:\n        import parlai\n    except ZeroDivisionError:\n        print('caught')"
    )
    assert hooked(twice).split() == ["run", "caught", "run", "caught"]


def test_parlai_keeps_its_module_spec_and_loader(hooked: CleanPython) -> None:
    hooked.add_package("parlai", "__version__ = '1.7.2'")
    describe = (
        "import sys, importlib, parlai; spec = parlai.__spec__; importlib.reload(parlai); "
        "print(spec.name, spec.origin == parlai.__file__, parlai.__loader__.get_source('parlai').strip(), sep='|')"
    )
    assert hooked(describe) == "parlai|True|__version__ = '1.7.2'\n"


def test_plugin_acts_just_before_and_after_watched_module_runs(hooked: CleanPython) -> None:
    hooked.add_package("parlai", "__version__ = '1.7.2'")
    core = hooked.site / "parlai" / "core"
    core.mkdir()
    (core / "__init__.py").write_text("")
    # As ParlAI's: pkg_resources must be importable while this module runs, and not afterwards.
    (core / "opt.py").write_text(
        "import pkg_resources as lent\nprint(lent.lent_by_parlai_empathy)\n"
        "class Opt(dict):\n    def save(self, filename): pass\n    @classmethod\n    def load(cls, optfile): pass\n"
        "    @classmethod\n    def load_init(cls, optfile): pass\n"
    )
    (hooked.site / "pkg_resources.py").write_text("raise ImportError")
    assert hooked("import sys, parlai.core.opt; print('pkg_resources' in sys.modules)").split() == ["True", "False"]


def test_watched_module_run_as_script_is_still_watched(hooked: CleanPython) -> None:
    hooked.add_package("parlai", "__version__ = '1.7.2'")
    for folder in ("core", "scripts"):
        (hooked.site / "parlai" / folder).mkdir()
        (hooked.site / "parlai" / folder / "__init__.py").write_text("")
    (hooked.site / "parlai" / "core" / "script.py").write_text(
        "def setup_script_registry(): pass\n"
        "class _SubcommandParser:\n    def format_help(self): pass\n"
        "class ParlaiScript:\n    @classmethod\n    def main(cls): print(cls.__name__)\n"
    )
    (hooked.site / "parlai" / "scripts" / "build_dict.py").write_text(
        "from parlai.core.script import ParlaiScript\n"
        "def build_dict(opt): pass\n"
        "class BuildDict(ParlaiScript): pass\n"
        "if __name__ == '__main__':\n    print('not watched')\n"
    )
    result = run([str(hooked.python), "-m", "parlai.scripts.build_dict"], hooked.home)
    assert (result.returncode, result.stdout, result.stderr) == (0, "BuildDict\n", "")


# --- in this process -------------------------------------------------------------------------------------------------


@pytest.fixture
def meta_path(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Replace ``sys.meta_path``, for the test, by a copy without the hook."""
    finders: list[object] = [finder for finder in sys.meta_path if not isinstance(finder, hook.ParlaiFinder)]
    monkeypatch.setattr(sys, "meta_path", finders)
    return finders


def test_installing_twice_adds_one_finder(meta_path: list[object]) -> None:
    others = list(meta_path)
    assert not hook.is_installed()
    hook.install()
    hook.install()
    assert hook.is_installed()
    assert isinstance(meta_path[0], hook.ParlaiFinder)
    assert meta_path[1:] == others


def test_finder_ignores_unwatched_modules() -> None:
    finder = hook.ParlaiFinder()
    for name in ("json", "torch", "parlai.scripts.train_model", "parlai_empathy.errors", "no_such_module"):
        assert finder.find_spec(name) is None


def test_finder_returns_the_spec_of_the_other_finders(meta_path: list[object]) -> None:
    theirs = PathFinder.find_spec("parlai")
    assert theirs is not None
    spec = hook.ParlaiFinder().find_spec("parlai")
    assert spec is not None
    assert (spec.name, spec.origin, spec.submodule_search_locations, type(spec.loader)) == (
        theirs.name,
        theirs.origin,
        theirs.submodule_search_locations,
        type(theirs.loader),
    )


def test_finders_without_find_spec_are_skipped(meta_path: list[object]) -> None:
    meta_path.insert(0, object())  # without find_spec, like finders before Python 3.4
    spec = hook.ParlaiFinder().find_spec("parlai")
    assert spec is not None
    assert spec.name == "parlai"


def test_missing_watched_submodule_has_no_spec(meta_path: list[object]) -> None:
    finder = hook.ParlaiFinder()
    finder.watched.add("parlai.core.no_such_module")
    assert finder.find_spec("parlai.core.no_such_module") is None
