"""Which module may import which: imports are parsed from the source, including those inside functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import parlai_empathy

PACKAGE = Path(parlai_empathy.__file__).parent

# A sub-package may import those of lower layers, and others of its own layer unless this makes a cycle.
LAYERS: tuple[set[str], ...] = (
    {"errors", "files", "memory", "signature"},
    {"modules", "metrics", "statistics", "task_kit", "language_models"},
    {"tasks"},
    {"agent_kit"},
    {"agents", "scoring", "curation", "rating"},
    {"reports"},
    {"scripts"},
)
# Modules outside the layers, with all that they may import.
APART: dict[str, set[str]] = {
    "": set(),  # the package itself; every module may import it, for its version
    "hook": {"plugin"},
    "plugin": {"prefix", "repairs", "errors"},
    "prefix": {"errors"},
    "repairs": {"metrics.direction", "errors"},
    "__main__": {"hook"},
    "zoo": {"task_kit.builder", "errors"},
}
# Optional or heavy libraries, to be imported only inside functions.
HEAVY = {
    *("transformers", "sentence_transformers", "fasttext", "openai"),  # models
    *("sacrebleu", "rouge_score", "matplotlib"),  # metrics and plots
    *("duckdb", "pyarrow", "pyspark", "boto3", "botocore", "starlette", "uvicorn", "jinja2"),  # engines and services
    "zstandard",  # .zst dumps
    "faiss",  # vector indexes
}


@dataclass(frozen=True)
class Arrow:
    """``source`` imports ``target``; modules of this package are named relative to it (``task_kit.builder``)."""

    source: str
    target: str
    line: int
    in_function: bool

    def __str__(self) -> str:
        return f"{self.source}:{self.line} imports {self.target}"


def violations(package: Path) -> list[str]:
    """Return the forbidden imports, one line each."""
    arrows = [arrow for path in sorted(package.rglob("*.py")) for arrow in arrows_of(path, package)]
    inner = [arrow for arrow in arrows if arrow.target.split(".")[0] == package.name]
    inner = [Arrow(a.source, a.target[len(package.name) + 1 :], a.line, a.in_function) for a in inner]
    wrong = [str(arrow) for arrow in inner if not is_allowed(arrow)]
    heavy = [f"{a}, outside a function" for a in arrows if a.target.split(".")[0] in HEAVY and not a.in_function]
    return wrong + heavy + circles(inner)


def arrows_of(path: Path, package: Path) -> Iterator[Arrow]:
    """Yield the imports of one file, except those for type checkers only."""
    parts = path.relative_to(package).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    source = ".".join(parts[:-1] if is_package else parts)
    folder = [package.name, *parts[:-1]]  # the start of relative imports
    for node, in_function in statements(ast.parse(path.read_text(encoding="utf-8")), False):
        for target in targets(node, folder):
            yield Arrow(source, as_module(target, package), node.lineno, in_function)


def statements(node: ast.AST, in_function: bool) -> Iterator[tuple[ast.stmt | ast.Call, bool]]:
    """Yield every import and call below ``node``, and whether it is inside a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import | ast.ImportFrom | ast.Call):
            yield child, in_function
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from statements(child, in_function or is_function)


def targets(node: ast.stmt | ast.Call, folder: list[str]) -> Iterator[str]:
    """Yield the dotted names that ``node`` imports; for ``from a import b`` that is ``a.b``, whatever ``b`` is."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = folder[: len(folder) - node.level + 1] if node.level else []
        start = ".".join([*above, node.module] if node.module else above)
        yield from (f"{start}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
        yield from (arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant))


def as_module(target: str, package: Path) -> str:
    """Return ``target`` without its last part if that is not a module of this package but a name in one."""
    parts = target.split(".")
    if parts[0] == package.name and len(parts) > 1:
        path = package.joinpath(*parts[1:])
        if not (path.is_dir() or path.with_suffix(".py").is_file()):
            return ".".join(parts[:-1])
    return target


def is_allowed(arrow: Arrow) -> bool:
    """Whether the design allows this import."""
    source, target = arrow.source.split(".")[0], arrow.target.split(".")[0]
    if target in (source, ""):
        return True
    if arrow.source == "plugin" and arrow.in_function:
        return True  # it registers everything, once ParlAI is imported
    if (source, target) == ("scripts", "zoo"):
        return True  # for the recipes of its models
    if source in APART:
        return bool({target, arrow.target} & APART[source])
    return layer(target) <= layer(source) < len(LAYERS)


def layer(name: str) -> int:
    """Return the number of a module's layer; those outside the layers are above all others, so none may import them."""
    return next((number for number, names in enumerate(LAYERS) if name in names), len(LAYERS))


def circles(arrows: list[Arrow]) -> list[str]:
    """Return one line for each pair of neighbours, at any depth, that import each other, directly or indirectly."""
    reach: dict[str, set[str]] = {}
    for arrow in arrows:
        if arrow.source.split(".")[0] not in APART or arrow.target.split(".")[0] == arrow.source.split(".")[0]:
            source, target = fork(arrow.source, arrow.target)
            if source != target:
                reach.setdefault(source, set()).add(target)
    for _ in reach:  # the longest path has as many steps as there are names
        for names in reach.values():
            names.update(*(reach.get(name, set()) for name in tuple(names)))
    pairs = {tuple(sorted((a, b))) for a in reach for b in reach[a] if a != b and a in reach.get(b, set())}
    return [f"{a} and {b} import each other" for a, b in sorted(pairs)]


def fork(source: str, target: str) -> tuple[str, str]:
    """Return the two neighbours, in the deepest common folder, that hold the modules: (a.b, a.c) of a.b.x and a.c.y."""
    a, b = source.split("."), target.split(".")
    shared = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return ".".join(a[: shared + 1]), ".".join(b[: shared + 1])


def test_package_has_no_forbidden_imports() -> None:
    assert violations(PACKAGE) == []


def test_every_subpackage_is_assigned_to_a_layer() -> None:
    names = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in PACKAGE.rglob("*.py")}
    assert names - {"__init__"} <= set(APART).union(*LAYERS)


# --- the checker itself, on made-up trees ----------------------------------------------------------------------------


def write(package: Path, files: dict[str, str]) -> Path:
    for name, code in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
        (path.parent / "__init__.py").touch()
    return package


GOOD = {
    "errors.py": "class E(Exception): pass\n",
    "task_kit/builder.py": "from pkg.errors import E\n",
    "agents/a/a.py": "from pkg import agents\nfrom pkg.task_kit import builder\nfrom . import other\n",
    "agents/a/other.py": "import torch\n",
    "metrics/m.py": "from pkg import __version__\n",
    "reports/r.py": "from pkg.metrics import m\nfrom pkg.agents.a import other\n",
    "scripts/s.py": "from pkg.agents.a.a import x\nfrom pkg.metrics import m\nfrom pkg import reports\n",
    "zoo/z.py": "from pkg import zoo\nfrom pkg.task_kit.builder import Source\n",
    "hook.py": "def f():\n    from pkg import plugin\n",
    "plugin.py": "from pkg import repairs\ndef f():\n    from pkg.scripts import s\n",
    "modules/lazy.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import openai\n"
    "def f():\n    import transformers\n",
}


def test_allowed_imports_pass(tmp_path: Path) -> None:
    assert violations(write(tmp_path / "pkg", GOOD)) == []


WRONG = {
    "back": ("tasks/t.py", "import pkg.agents\n", "tasks.t:1 imports agents"),
    "back in a function": (
        "modules/m.py",
        "def f():\n    from pkg.agents.a.a import x\n",
        "modules.m:2 imports agents.a.a",
    ),
    "back in a method": (
        "metrics/n.py",
        "class C:\n  def f(self):\n    import pkg.scripts.s",
        "metrics.n:3 imports scripts.s",
    ),
    "back by a relative path": ("tasks/b/t.py", "from ...agents.a import a\n", "tasks.b.t:1 imports agents.a.a"),
    "back by one dot in a package": ("tasks/__init__.py", "from ..agents import a\n", "tasks:1 imports agents.a"),
    "back by name": (
        "tasks/t.py",
        "import importlib\nimportlib.import_module('pkg.scripts')\n",
        "tasks.t:2 imports scripts",
    ),
    "reports for an agent": ("agents/b.py", "from pkg.reports import r\n", "agents.b:1 imports reports.r"),
    "scripts for reports": ("reports/s.py", "from pkg import scripts\n", "reports.s:1 imports scripts"),
    "scripts for the zoo": ("zoo/y.py", "from pkg import scripts\n", "zoo.y:1 imports scripts"),
    "teachers for the zoo": ("zoo/y.py", "from pkg.tasks.other import x\n", "zoo.y:1 imports tasks.other"),
    "a script for a script": (
        "scripts/t.py",
        "from pkg.agents import a\nfrom pkg.plugin import f\n",
        "scripts.t:2 imports plugin",
    ),
    "plugin for an agent": ("agents/b.py", "from pkg import plugin\n", "agents.b:1 imports plugin"),
    "scripts for an agent": (
        "agents/b.py",
        "try:\n    import pkg.scripts\nexcept ImportError: pass",
        "agents.b:2 imports scripts",
    ),
    "agents at once for the plugin": ("plugin.py", "from pkg.agents import a\n", "plugin:1 imports agents.a"),
    "something for the errors": (
        "errors.py",
        "from pkg.task_kit import builder\n",
        "errors:1 imports task_kit.builder",
    ),
    "something for the package": ("__init__.py", "from pkg.errors import E\n", ":1 imports errors"),
    "a stranger": ("utils.py", "from pkg.errors import E\n", "utils:1 imports errors"),
    "heavy": (
        "agents/b.py",
        "import transformers.models\n",
        "agents.b:1 imports transformers.models, outside a function",
    ),
    "heavy in a class": (
        "agents/b.py",
        "class C:\n    from openai import x\n",
        "agents.b:2 imports openai.x, outside a function",
    ),
}


@pytest.mark.parametrize(("file", "code", "expected"), WRONG.values(), ids=WRONG.keys())
def test_forbidden_import_is_reported(tmp_path: Path, file: str, code: str, expected: str) -> None:
    found = violations(write(tmp_path / "pkg", {**GOOD, file: code}))
    assert expected in found


def test_imports_within_a_layer_must_not_be_mutual(tmp_path: Path) -> None:
    one_way = write(tmp_path / "pkg", {**GOOD, "scoring/s.py": "import pkg.agents\n"})
    assert violations(one_way) == []
    both_ways = write(one_way, {"agents/b.py": "def f():\n    import pkg.scoring.s\n"})
    assert violations(both_ways) == ["agents and scoring import each other"]


def test_indirect_import_cycle_is_reported(tmp_path: Path) -> None:
    files = {
        "modules/a.py": "import pkg.metrics.b",
        "metrics/b.py": "import pkg.task_kit.c",
        "task_kit/c.py": "import pkg.modules.a",
    }
    found = violations(write(tmp_path / "pkg", files))
    assert found == [
        f"{a} and {b} import each other"
        for a, b in (("metrics", "modules"), ("metrics", "task_kit"), ("modules", "task_kit"))
    ]


def test_neighbours_inside_a_subpackage_must_not_import_each_other(tmp_path: Path) -> None:
    files = {
        "rating/study/a.py": "import pkg.rating.desk.b",
        "rating/desk/b.py": "from . import c",
        "rating/desk/c.py": "import pkg.rating.study.d",
        "zoo/x.py": "def f():\n    import pkg.zoo.y",
        "zoo/y.py": "from . import x",
    }
    assert violations(write(tmp_path / "pkg", files)) == [
        "rating.desk and rating.study import each other",
        "zoo.x and zoo.y import each other",
    ]
