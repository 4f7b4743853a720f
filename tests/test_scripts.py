"""The cost of ``parlai --help``: it imports every command and builds its parser, which must import little."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from processes import run, succeeded

from parlai_empathy import scripts

HELP = """
import sys
from parlai.__main__ import main
sys.argv = ["parlai", "--help"]
try:
    main()
finally:
    print("modules:", *sys.modules)
"""
# Declaring 15 commands takes some 60 of our modules, and registering them with ParlAI some 20, most of them repairs; a
# command's implementation imports up to 80 more.
MOST = 82
# Modules that must not be imported, nor any of their submodules.
TOO_HEAVY = (
    *("agents", "language_models", "modules"),
    *("curation.curate", "curation.posts", "rating.analysis", "rating.chat", "rating.collecting", "rating.crowd"),
    *(
        "rating.desk",
        "rating.ratings_file",
        "rating.site",
        "rating.storage",
        "rating.study",
        "rating.talking",
        "rating.web",
    ),
    *("rating.worlds", "reports.report", "reports.plots", "scoring.agent_judge", "scoring.classifier"),
    *("scoring.model_metrics", "scoring.reply_metrics", "scoring.word_metrics", "tasks.engagement.sets"),
    *("tasks.humod.agents", "tasks.humod.reader"),
)
COMMANDS = sorted({path.stem for path in Path(scripts.__file__).parent.glob("*.py")} - {"__init__"})


@pytest.fixture(scope="module")
def helped(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[str]]:
    """The help text, and the modules that its process imported."""
    output = succeeded(run([sys.executable, "-c", HELP], tmp_path_factory.mktemp("help"))).stdout
    text, _, modules = output.partition("modules:")
    return text, modules.split()


def test_help_lists_every_command(helped: tuple[str, list[str]]) -> None:
    text, modules = helped
    assert COMMANDS
    for command in COMMANDS:
        assert f"parlai_empathy.scripts.{command}" in modules
        assert command in text


def test_help_does_not_import_command_implementations(helped: tuple[str, list[str]]) -> None:
    heavy = tuple(f"parlai_empathy.{name}" for name in TOO_HEAVY)
    found = [name for name in helped[1] if name in heavy or name.startswith(tuple(f"{one}." for one in heavy))]
    assert found == []
    assert [name for name in helped[1] if name.startswith("parlai_empathy.scripts.runs.")] == []


def test_listed_heavy_modules_exist() -> None:
    package = Path(scripts.__file__).parents[1]
    places = [package.joinpath(*name.split(".")) for name in TOO_HEAVY]
    assert [str(place) for place in places if not (place.is_dir() or place.with_suffix(".py").is_file())] == []


def test_help_imports_few_package_modules(helped: tuple[str, list[str]]) -> None:
    ours = [name for name in helped[1] if name.split(".")[0] == "parlai_empathy"]
    assert len(ours) <= MOST, sorted(ours)


def test_help_does_not_import_heavy_libraries(helped: tuple[str, list[str]]) -> None:
    unwanted = {"duckdb", "sqlite3", "starlette", "uvicorn", "xml.etree"} & set(helped[1])
    if (
        "defusedxml" in helped[1]
    ):  # ParlAI imports Pillow, which imports it if it is installed, and it imports xml.etree
        unwanted -= {"xml.etree"}
    assert unwanted == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_runs_module(command: str) -> None:
    assert (Path(scripts.__file__).parent / "runs" / f"{command}.py").is_file()
