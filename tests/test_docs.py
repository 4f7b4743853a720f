"""Checks of README and docs: commands parse, links resolve, tables are complete."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path

import pytest
from docs_pages import PAGES, ROOT, commands, without_environment
from parlai.core import script


def test_pages_contain_commands() -> None:
    assert len(commands()) > 5


@pytest.fixture(scope="module")
def scripts() -> dict[str, type[script.ParlaiScript]]:
    script.setup_script_registry()
    return {name: entry.klass for name, entry in script.SCRIPT_REGISTRY.items()}


@pytest.mark.parametrize("command", [c for c in commands() if without_environment(c)[0] == "parlai"])
def test_parlai_commands_parse(command: str, scripts: dict[str, type[script.ParlaiScript]]) -> None:
    _, name, *arguments = without_environment(command)
    assert scripts[name].setup_args().parse_args(arguments)  # ParlAI rejects unknown options


def test_commands_page_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4321)  # the page is the same on every machine
    path = ROOT / "docs" / "commands.py"
    spec = importlib.util.spec_from_file_location("commands", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = path.with_suffix(".md").read_text(encoding="utf-8")
    assert written == module.page(), "run `make docs`"
    assert "## `parlai empathy_demo`" in written


@pytest.mark.parametrize(
    ("section", "option", "default"),
    [
        ("-m empathy:deepmoji, fasttext, han, predictive_engagement, rerank, text_classifier", "--precision", "auto"),
        ("-m empathy:deepmoji", "--precision", "float32"),
        ("-m empathy:fasttext", "--precision", "float32"),
        ("-m empathy:han", "--precision", "float32"),
        ("-m empathy:predictive_engagement", "--precision", "float32"),
        ("-m empathy:rerank", "--negatives", "7"),
        ("-m empathy:retrieval", "--temperature", "0.1"),
        ("-m empathy:retrieval --encoder hf", "--temperature", "0.05"),
        ("-m empathy:retrieval --encoder hf", "--symmetric-loss", "True"),
    ],
)
def test_commands_page_has_each_agents_own_defaults(section: str, option: str, default: str) -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    _, _, rest = page.partition(f"## Options of `{section}`\n")
    row = re.search(rf"^\| `{option}`.*$", rest.partition("\n## ")[0], re.MULTILINE)
    assert row
    assert row[0].split(" | ")[1] == f"`{default}`"


def test_make_targets_exist() -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = [words[1] for words in map(without_environment, commands()) if words[0] == "make"]
    assert named
    assert set(named) <= set(targets)


def test_readme_installs_the_constrained_parlai_version() -> None:
    version = re.search(r"parlai==(\S+)", (ROOT / "constraints.txt").read_text())
    assert version
    assert f"$ pip install --no-deps parlai=={version[1]}" in (ROOT / "README.md").read_text()


def test_readme_python_versions_match_setup() -> None:
    setup, readme = ((ROOT / name).read_text(encoding="utf-8") for name in ("setup.py", "README.md"))
    found = re.search(r"Python :: 3\.\{minor\}\" for minor in range\((\d+), (\d+)\)", setup)
    assert found
    assert set(re.findall(r"Python 3\.(\d+) to 3\.(\d+)", readme)) == {(found[1], str(int(found[2]) - 1))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_resolve(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://)([^)#]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not leads_somewhere(page.parent / link[0] if link[0] else page, link[1])] == []


def leads_somewhere(target: Path, heading: str) -> bool:
    """Whether a file or folder exists, and has the heading, written as in GitHub's anchors."""
    return target.exists() and (not heading or heading in headings(target.read_text(encoding="utf-8")))


def headings(text: str) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = (re.sub(r"\[(.*?)\]\(.*?\)", r"\1", title) for title in titles)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in plain}


def test_headings_are_converted_to_github_anchors() -> None:
    text = "# A page\n\n## EPITOME: `-m empathy:epitome`, *how much*?\n\n### [Speed](x.md) and_more\n"
    assert headings(text) == {"a-page", "epitome--m-empathyepitome-how-much", "speed-and_more"}


def test_readme_lists_every_teacher_and_agent() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for task in (ROOT / "parlai_empathy" / "tasks").glob("*/agents.py"):
        module = importlib.import_module(f"parlai_empathy.tasks.{task.parent.name}.agents")
        own = [kind for kind in vars(module).values() if getattr(kind, "__module__", "") == module.__name__]
        teachers = [kind for kind in own if kind.__name__.endswith("Teacher")]
        concrete = [kind.__name__.removesuffix("Teacher") for kind in teachers if kind is not base_of(teachers)]
        assert len(concrete) >= 1
        for name in concrete:
            assert f"`empathy:{task.parent.name}{'' if name == 'Default' else ':' + name}`" in readme
    for folder in (ROOT / "parlai_empathy" / "agents").glob("*/__init__.py"):
        assert f"`empathy:{folder.parent.name}`" in readme


def base_of(teachers: list[type]) -> type:
    """Return the class from which all others inherit."""
    return next(kind for kind in teachers if all(issubclass(other, kind) for other in teachers))


def test_readme_result_rows_match_results_page() -> None:
    """Each row of the README's table of results is also in docs/results.md."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    results = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:P@|AVG BLEU).*$", readme, re.MULTILINE)
    assert len(rows) >= 4
    assert [row for row in rows if row not in results] == []
